package tooltest

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Summary counts outcomes.
type Summary struct{ Total, Passed, Failed, Skipped, Stopped int }

// Count counts outcomes by status.
func Count(list []Outcome) Summary {
	s := Summary{Total: len(list)}
	for i := range list {
		switch list[i].Status {
		case Passed:
			s.Passed++
		case Failed:
			s.Failed++
		case Skipped:
			s.Skipped++
		case Stopped:
			s.Stopped++
		}
	}
	return s
}

// Report is what was asked for: the outcomes of the tests, and the definitions whose tests could not run.
type Report struct {
	Outcomes []Outcome
	Broken   tool.Diagnostics // errors of definitions that cannot be used
	Began    time.Time
	Took     time.Duration
	// Name returns the path of a file as readers of the report know it; nil leaves paths as they are.
	Name func(file string) string
}

func (r *Report) name(file string) string {
	if r.Name == nil {
		return file
	}
	return r.Name(file)
}

// broken returns the files that cannot be used, in order, with their errors.
func (r *Report) broken() (files []string, errs map[string]tool.Diagnostics) {
	errs = map[string]tool.Diagnostics{}
	for _, d := range r.Broken {
		if d.Severity != tool.Error {
			continue
		}
		if errs[d.Pos.File] == nil {
			files = append(files, d.Pos.File)
		}
		errs[d.Pos.File] = append(errs[d.Pos.File], d)
	}
	return files, errs
}

// Schema is the name of the document that WriteJSON writes. Fields may be added to it,
// never removed.
const Schema = "flowrun/tests.v1"

type document struct {
	Schema     string       `json:"schema"`
	Total      int          `json:"total"`
	Passed     int          `json:"passed"`
	Failed     int          `json:"failed"`
	Skipped    int          `json:"skipped"`
	Stopped    int          `json:"stopped"`
	Errors     int          `json:"errors"`
	DurationMS int64        `json:"duration_ms"`
	Tests      []testRecord `json:"tests"`
	Broken     []broken     `json:"broken"`
}

// broken is a definition that cannot be used.
type broken struct {
	File    string   `json:"file"`
	Reasons []string `json:"reasons"`
}

type testRecord struct {
	Tool       string           `json:"tool"`
	Name       string           `json:"name"`
	File       string           `json:"file"`
	Line       int              `json:"line"`
	Status     Status           `json:"status"`
	Reason     string           `json:"reason,omitempty"`
	DurationMS int64            `json:"duration_ms"`
	ExitCode   int              `json:"exit_code"`
	Mismatches []mismatchRecord `json:"mismatches"`
	Warnings   []string         `json:"warnings"`
	FailedStep string           `json:"failed_step,omitempty"`
	StderrTail []string         `json:"stderr_tail,omitempty"`
}

type mismatchRecord struct {
	Key     string   `json:"key,omitempty"`
	Message string   `json:"message"`
	Diff    []string `json:"diff,omitempty"`
}

// WriteJSON writes a report as one flowrun/tests.v1 document.
func (r *Report) WriteJSON(w io.Writer) error {
	s := Count(r.Outcomes)
	files, errs := r.broken()
	doc := document{Schema: Schema, Total: s.Total, Passed: s.Passed, Failed: s.Failed, Skipped: s.Skipped, Stopped: s.Stopped, Errors: len(files),
		DurationMS: r.Took.Milliseconds(), Tests: []testRecord{}, Broken: []broken{}}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		r := testRecord{Tool: o.Tool, Name: o.Test.Name, File: r.name(o.Test.Pos.File), Line: o.Test.Pos.Line, Status: o.Status, Reason: o.Reason,
			DurationMS: o.Duration.Milliseconds(), ExitCode: o.ExitCode, Mismatches: []mismatchRecord{}, Warnings: append([]string{}, o.Warnings...),
			FailedStep: o.FailedStep, StderrTail: o.Tail}
		for _, m := range o.Mismatches {
			r.Mismatches = append(r.Mismatches, mismatchRecord(m))
		}
		doc.Tests = append(doc.Tests, r)
	}
	for _, file := range files {
		b := broken{File: r.name(file)}
		for _, d := range errs[file] {
			b.Reasons = append(b.Reasons, r.reason(d))
		}
		doc.Broken = append(doc.Broken, b)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// The elements of JUnit's XML, as build servers read it.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Started  string      `xml:"timestamp,attr"`
		Host     string      `xml:"hostname,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Skipped *junitMessage `xml:"skipped"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes a report as JUnit XML: one suite for each tool, and one with an error for each definition that cannot
// be used, which counts as a test. Stopped tests count as skipped.
func (r *Report) WriteJUnit(w io.Writer) error {
	s, list := Count(r.Outcomes), r.Outcomes
	files, errs := r.broken()
	doc := junitSuites{Name: "flowrun", Tests: s.Total + len(files), Failures: s.Failed, Errors: len(files), Time: seconds(r.Took)}
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].Tool == list[from].Tool && list[to].Test.Pos.File == list[from].Test.Pos.File {
			to++
		}
		doc.Suites = append(doc.Suites, suite(list[from:to]))
		from = to
	}
	for _, file := range files {
		doc.Suites = append(doc.Suites, r.brokenSuite(file, errs[file]))
	}
	host, _ := os.Hostname() // a report without it is one, too
	for i := range doc.Suites {
		doc.Suites[i].Started, doc.Suites[i].Host = r.Began.UTC().Format("2006-01-02T15:04:05"), cmp.Or(host, "localhost")
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// suite returns the suite of one tool.
func suite(list []Outcome) junitSuite {
	s := Count(list)
	js := junitSuite{Name: list[0].Tool, Tests: s.Total, Failures: s.Failed, Skipped: s.Skipped + s.Stopped}
	var took time.Duration
	for i := range list {
		o := &list[i]
		took += o.Duration
		c := junitCase{Name: o.Test.Name, Class: o.Tool, Time: seconds(o.Duration)}
		switch o.Status {
		case Failed:
			c.Failure = &junitMessage{Message: o.Mismatches[0].Message, Type: o.Mismatches[0].Key, Text: strings.Join(o.Details(), "\n")}
		case Skipped, Stopped:
			c.Skipped = &junitMessage{Message: o.Reason}
		}
		js.Cases = append(js.Cases, c)
	}
	js.Time = seconds(took)
	return js
}

// brokenSuite returns the suite of a definition that cannot be used. It is called as the tool would be.
func (r *Report) brokenSuite(file string, errs tool.Diagnostics) junitSuite {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	c := junitCase{Name: "definition", Class: name, Time: seconds(0), Error: &junitMessage{Message: errs[0].Message, Type: errs[0].Code}}
	var lines []string
	for _, d := range errs {
		lines = append(lines, r.reason(d))
	}
	c.Error.Text = strings.Join(lines, "\n")
	return junitSuite{Name: name, Tests: 1, Errors: 1, Time: seconds(0), Cases: []junitCase{c}}
}

// reason returns an error of a definition in one line, with its place.
func (r *Report) reason(d tool.Diagnostic) string {
	text := r.name(d.Pos.File)
	if d.Pos.Line > 0 {
		text += fmt.Sprintf(":%d:%d", d.Pos.Line, d.Pos.Col)
	}
	text += ": " + d.Message
	if d.Hint != "" {
		text += "; " + d.Hint
	}
	return text
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// Details describes a failed test: each mismatch with its lines, then the last lines that
// the failed step wrote to standard error.
func (o *Outcome) Details() []string {
	var list []string
	for _, m := range o.Mismatches {
		line := m.Message
		if m.Key != "" {
			line = m.Key + ": " + line
		}
		list = append(list, strings.Split(line, "\n")...)
		for _, d := range m.Diff {
			list = append(list, "  "+d)
		}
	}
	if len(o.Tail) > 0 {
		list = append(list, fmt.Sprintf("standard error of step %s:", o.FailedStep))
		for _, l := range o.Tail {
			list = append(list, "  "+l)
		}
	}
	return list
}
