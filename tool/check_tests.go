package tool

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/diagnostic"
	"github.com/flowrun/flowrun/internal/keytable"
)

// finalStates are the final states of a step.
var finalStates = []string{"succeeded", "reused", "failed", "skipped", "cancelled", "timed-out", "interrupted"}

// checkTest reports files of a test that are outside the definition's folder.
func checkTest(d *keytable.Decoder, into any, _ *yaml.Node, _ []*yaml.Node) {
	for _, f := range into.(*Test).Files {
		if !filepath.IsLocal(filepath.FromSlash(f.S)) {
			reportAt(d, f.Pos, Error, "bad-path", "files", diagnostic.Quote(f.S)+" is outside the folder of the definition",
				"move the file into that folder or below it, and write its path relative to that folder")
		}
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
