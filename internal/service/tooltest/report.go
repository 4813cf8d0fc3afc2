package tooltest

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
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
	DurationMS int64        `json:"duration_ms"`
	Tests      []testRecord `json:"tests"`
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

// WriteJSON writes outcomes as one flowrun/tests.v1 document; took is the total duration.
func WriteJSON(w io.Writer, list []Outcome, took time.Duration) error {
	s := Count(list)
	doc := document{Schema: Schema, Total: s.Total, Passed: s.Passed, Failed: s.Failed, Skipped: s.Skipped, Stopped: s.Stopped,
		DurationMS: took.Milliseconds(), Tests: []testRecord{}}
	for i := range list {
		o := &list[i]
		r := testRecord{Tool: o.Tool, Name: o.Test.Name, File: o.Test.Pos.File, Line: o.Test.Pos.Line, Status: o.Status, Reason: o.Reason,
			DurationMS: o.Duration.Milliseconds(), ExitCode: o.ExitCode, Mismatches: []mismatchRecord{}, Warnings: append([]string{}, o.Warnings...),
			FailedStep: o.FailedStep, StderrTail: o.Tail}
		for _, m := range o.Mismatches {
			r.Mismatches = append(r.Mismatches, mismatchRecord(m))
		}
		doc.Tests = append(doc.Tests, r)
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
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Skipped *junitMessage `xml:"skipped"`
		Failure *junitMessage `xml:"failure"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes outcomes as JUnit XML, one suite for each tool; took is the total
// duration. Stopped tests count as skipped.
func WriteJUnit(w io.Writer, list []Outcome, took time.Duration) error {
	s := Count(list)
	doc := junitSuites{Name: "flowrun", Tests: s.Total, Failures: s.Failed, Time: seconds(took)}
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].Tool == list[from].Tool && list[to].Test.Pos.File == list[from].Test.Pos.File {
			to++
		}
		doc.Suites = append(doc.Suites, suite(list[from:to]))
		from = to
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
