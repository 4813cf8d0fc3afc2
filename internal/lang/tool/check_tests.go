package tool

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// finalStates are the final states of a step.
var finalStates = []string{"succeeded", "reused", "failed", "skipped", "cancelled", "timed-out", "interrupted"}

// checkTest reports a test without a name, and files of a test that are outside the definition's folder.
func checkTest(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	t := into.(*Test)
	switch name := keytable.ValueOf(content, "name"); {
	case name == nil:
		one := d.Diagnostic(n, Error, "no-name", "the test has no name", "add 'name:'; results and 'tool test --test NAME' use it")
		if !d.Full() {
			one.Fix = d.NameEdit(n, "test")
		}
		d.Report(one)
	case t.Name == "" && keytable.Deref(name).ShortTag() == "!!str":
		d.Fail(keytable.Deref(name), "no-name", "the name of the test is empty", "write a name; results and 'tool test --test NAME' use it")
	}
	for _, f := range t.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.S)) {
			reportAt(d, f.Pos, Error, "bad-path", "files", diagnostic.Quote(f.S)+" is outside the folder of the definition",
				"move the file into that folder or below it, and write its path relative to that folder")
		}
	}
}

// checkTestNames reports tests with the same name.
func checkTestNames(d *keytable.Decoder, tests []Test) {
	first := map[string]Pos{}
	for i, t := range tests {
		if t.Name == "" {
			continue
		}
		before, taken := first[t.Name]
		if !taken {
			first[t.Name] = t.Pos
			continue
		}
		long := len([]rune(t.Name))
		d.Report(Diagnostic{Code: "duplicate-test", Severity: Error, Pos: t.Pos, Len: long, Path: fmt.Sprintf("tests[%d].name", i),
			Message: fmt.Sprintf("two tests are named %s", diagnostic.Quote(t.Name)), Hint: "rename one of the tests",
			Related: []Place{{Pos: before, Len: long, Message: "first used here"}}})
	}
}

// checkExpected reports an invalid pattern, and states that are not final states of a step.
func checkExpected(d *keytable.Decoder, into any, _ *yaml.Node, _ []*yaml.Node) {
	e := into.(*Expected)
	if e.OutputMatches != nil {
		if _, err := regexp.Compile(e.OutputMatches.S); err != nil {
			reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
			reportAt(d, e.OutputMatches.Pos, Error, "bad-pattern", "output-matches", "invalid pattern in output-matches: "+diagnostic.Printable(reason),
				"use RE2 syntax, which has no look-around and no back-references")
		}
	}
	for _, s := range e.Steps {
		if word := s.Value.Text; word != nil && !slices.Contains(finalStates, word.S) {
			reportAt(d, word.Pos, Error, "bad-choice", "steps", diagnostic.Quote(word.S)+" is not a final state of a step", hintOrList(diagnostic.DidYouMean(word.S, finalStates), "use one of ", finalStates))
		}
	}
}
