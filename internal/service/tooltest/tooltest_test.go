package tooltest_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/tooltest"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/schematest"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
)

// casesOf returns the tests of a definition.
func casesOf(t *testing.T, lib *library.Library, file string) []tooltest.Case {
	t.Helper()
	p, err := engine.Compile(lib, file)
	if err != nil {
		t.Fatal(err)
	}
	return casesIn(p)
}

func casesIn(p *engine.Plan) (list []tooltest.Case) {
	for _, test := range p.Definition.Tests {
		list = append(list, tooltest.Case{Tool: p.Name(), Plan: p, Test: test})
	}
	return list
}

// defined returns the tests of a definition written for this test.
func defined(t *testing.T, text string) (*library.Library, []tooltest.Case) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	file := filepath.Join(t.TempDir(), "probe.yaml")
	if err := os.WriteFile(file, []byte("name: probe\ndescription: a tool with tests\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	lib := library.New(library.Config{Home: t.TempDir()})
	return lib, casesOf(t, lib, file)
}

// TestExamples runs the tests in the examples. Their steps do not wait for seconds before another attempt.
func TestExamples(t *testing.T) {
	needtest.Programs(t, "bash", "curl", "jq", "git", "tar", "openssl", "sqlite3")
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples: ", err)
	}
	lib := library.New(library.Config{Home: t.TempDir()})
	var cases []tooltest.Case
	delay := regexp.MustCompile(`delay: \d+s`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		def, found := lib.Read(f, tool.ScopeLocal, delay.ReplaceAll(text, []byte("delay: 1ms")))
		if err := tool.Diagnostics(found).Err(); err != nil {
			t.Fatal(err)
		}
		p, err := engine.CompileDefinition(lib, def)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, casesIn(p)...)
	}
	outcomes, err := tooltest.Run(context.Background(), cases, tooltest.Options{Library: lib, Jobs: 4})
	if err != nil {
		t.Fatal(err)
	}
	for i := range outcomes {
		if o := &outcomes[i]; o.Status != tooltest.Passed || len(o.Warnings) > 0 {
			t.Errorf("%s: %s is %s: %v %v", o.Tool, o.Test.Name, o.Status, o.Details(), o.Warnings)
		}
	}
}

// TestOrder checks that concurrent tests, each in its own folder, are reported in their
// order, and leave nothing behind.
func TestOrder(t *testing.T) {
	text := "parameters: {N: {type: number, description: n}}\nbash: sleep 0.0{N}; test -z \"$(ls)\"; echo {N} >same; cat same\ntests:\n"
	for i := range 9 {
		text += fmt.Sprintf("  - name: t%d\n    parameters: {N: %d}\n    expected: {output-equals: %d}\n", i, 9-i, 9-i)
	}
	lib, cases := defined(t, text)
	var told, want []string
	outcomes, err := tooltest.Run(context.Background(), cases, tooltest.Options{Library: lib, Jobs: 8, Done: func(o tooltest.Outcome) { told = append(told, o.Test.Name) }})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		want = append(want, fmt.Sprintf("t%d", i))
		if o.Status != tooltest.Passed {
			t.Errorf("%s is %s: %v", o.Test.Name, o.Status, o.Details())
		}
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestCancelled checks that a cancelled test is stopped, its cleanup runs, and others do
// not start.
func TestCancelled(t *testing.T) {
	begun, mark := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "cleaned")
	lib, cases := defined(t, "bash: touch "+begun+"; sleep 300\ntests:\n  - name: long\n    cleanup: touch "+mark+"\n  - name: later\n")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		waittest.Holds(waittest.Limit, func() bool { _, err := os.Stat(begun); return err == nil })
		cancel()
	}()
	outcomes, err := tooltest.Run(ctx, cases, tooltest.Options{Library: lib})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Status != tooltest.Stopped {
			t.Errorf("%s is %s: %v", o.Test.Name, o.Status, o.Details())
		}
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("cleanup did not run: ", err)
	}
}

// TestTimeout checks that a tool's own timeout is an ordinary outcome.
func TestTimeout(t *testing.T) {
	lib, cases := defined(t, "bash: sleep 300\ntimeout: 100\ntests:\n  - name: ends\n    expected: {exit-code: 124, steps: {probe: cancelled}}\n")
	outcomes, err := tooltest.Run(context.Background(), cases, tooltest.Options{Library: lib})
	if err != nil {
		t.Fatal(err)
	}
	if o := &outcomes[0]; o.Status != tooltest.Passed {
		t.Errorf("%s: %v", o.Status, o.Details())
	}
}

// TestMissingFile: a test in a new folder that failed because of a missing file says how it gets the file.
func TestMissingFile(t *testing.T) {
	needtest.Programs(t, "bash")
	lib, cases := defined(t, "bash: cat ./src/a.txt\ntests:\n  - {name: fails, expected: {exit-code: 0}}\n  - {name: expects it, expected: {exit-code: 1}}\n")
	for _, inPlace := range []bool{false, true} {
		list, err := tooltest.Run(t.Context(), cases, tooltest.Options{Library: lib, InPlace: inPlace})
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		if got := len(list[0].Warnings) > 0; list[0].Status != tooltest.Failed || got == inPlace || len(list[1].Warnings) > 0 {
			t.Errorf("in place %t: %v %v", inPlace, list[0].Warnings, list[1].Warnings)
		}
	}
}

// TestShortSecret checks that a secret too short for masking ends a test as it ends flowrun
// run.
func TestShortSecret(t *testing.T) {
	lib, cases := defined(t, "environment: {secrets: [PIN]}\nparameters: {PIN: {type: string, description: secret}}\nbash: echo\n"+
		"tests:\n  - name: refused\n    parameters: {PIN: ab}\n    expected: {exit-code: 6, stderr-contains: characters}\n")
	outcomes, err := tooltest.Run(context.Background(), cases, tooltest.Options{Library: lib})
	if err != nil {
		t.Fatal(err)
	}
	if o := &outcomes[0]; o.Status != tooltest.Passed {
		t.Errorf("%s: %v", o.Status, o.Details())
	}
}

// TestReports checks that reports can be parsed whatever a tool prints.
func TestReports(t *testing.T) {
	lib, cases := defined(t, `bash: printf '<b>&\033[1m\000\377 ]]>\n'; printf '\001<err>\n' >&2; exit 3
tests:
  - name: "<odd> & \"quoted\""
    expected: {output-equals: "]]>"}
  - name: elsewhere
    platforms: [windows]
`)
	outcomes, err := tooltest.Run(context.Background(), cases, tooltest.Options{Library: lib})
	if err != nil {
		t.Fatal(err)
	}
	var junit, doc bytes.Buffer
	report := tooltest.Report{Outcomes: outcomes, Took: time.Second, Broken: tool.Diagnostics{
		{Code: "unknown-key", Severity: tool.Error, Pos: tool.Pos{File: "x/inv.yaml", Line: 3, Col: 1}, Message: "unknown key", Hint: "bash"},
		{Code: "no-description", Severity: tool.Warning, Pos: tool.Pos{File: "x/other.yaml", Line: 1, Col: 1}, Message: "m"}}}
	if err := report.WriteJUnit(&junit); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Tests  int `xml:"tests,attr"`
		Errors int `xml:"errors,attr"`
		Suites []struct {
			Name    string `xml:"name,attr"`
			Started string `xml:"timestamp,attr"`
			Host    string `xml:"hostname,attr"`
			Skipped int    `xml:"skipped,attr"`
			Cases   []struct {
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
				Skipped *string `xml:"skipped"`
				Error   *string `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(junit.Bytes(), &read); err != nil {
		t.Fatalf("%v\n%s", err, junit.String())
	}
	if read.Tests != 3 || read.Errors != 1 || len(read.Suites) != 2 || read.Suites[1].Name != "inv" || read.Suites[0].Started == "" || read.Suites[0].Host == "" ||
		read.Suites[1].Cases[0].Error == nil || *read.Suites[1].Cases[0].Error != "x/inv.yaml:3:1: unknown key; bash" || read.Suites[0].Skipped != 1 || read.Suites[0].Cases[0].Name != `<odd> & "quoted"` ||
		read.Suites[0].Cases[0].Failure == nil || read.Suites[0].Cases[1].Skipped == nil {
		t.Errorf("not what was written:\n%s", junit.String())
	}
	if err := report.WriteJSON(&doc); err != nil {
		t.Fatal(err)
	}
	schematest.Validate(t, "tests", doc.Bytes())
	if !strings.Contains(doc.String(), `"reasons": [`) || !strings.Contains(doc.String(), `"errors": 1`) {
		t.Errorf("the definition that cannot be used is missing:\n%s", doc.String())
	}
}
