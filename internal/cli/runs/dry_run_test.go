package runs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/script"
)

// TestShowPreview: steps are printed by wave, and what is nested under the step that contains it.
func TestShowPreview(t *testing.T) {
	var b strings.Builder
	showPreview(&b, []preview.PreviewStep{
		{ID: "end", Wave: 2, Kind: "bash", Command: "true", Problem: "no\x1b[31m such program"},
		{ID: "use", Wave: 1, Kind: "tool", Command: "use"},
		{ID: "use/b", Wave: 2, Kind: "bash", Command: "b"},
		{ID: "use/a", Wave: 1, Kind: "bash", Command: "a"},
		{ID: "also", Wave: 1, Kind: "js", Command: "1"},
	})
	want := `wave 1
  use (tool)
    | use
    wave 1
      a (bash)
        | a
    wave 2
      b (bash)
        | b
  also (js)
    | 1
wave 2
  end (bash)
    | true
    ! no<U+001B>[31m such program
`
	if b.String() != want {
		t.Error(b.String())
	}
}

// TestShowFacts: each form of a fact has its line, and of very many facts of one kind only the first are printed.
func TestShowFacts(t *testing.T) {
	for want, f := range map[string]preview.Fact{
		"it runs in \"a b\" at once\n": {Text: "a b", DryRun: preview.Wording{Before: "runs in", After: " at once", Form: preview.Quoted}},
		"it uses a b\n":                {Text: "a b", DryRun: preview.Wording{Before: "uses"}},
		"it sets A = b\n":              {Name: "A", Text: "b", DryRun: preview.Wording{Before: "sets"}},
		"it | one\nit | two\n":         {Text: "one\ntwo\n", DryRun: preview.Wording{Form: preview.Script}},
		"it then\nit | one\n":          {Text: "one", DryRun: preview.Wording{Before: "then", Form: preview.Script}},
	} {
		var b strings.Builder
		if showFacts(&b, "it ", []preview.Fact{f}); b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
	for n, want := range map[int]int{maxItems: maxItems + 1, maxItems + 1: maxItems + 2, maxItems + 9: maxItems + 2} {
		list := []preview.Fact{}
		for i := range n {
			list = append(list, preview.Fact{Text: fmt.Sprint(i), Many: "items"})
		}
		list = append(list, preview.Fact{Text: "last"})
		var b strings.Builder
		showFacts(&b, "  ", list)
		if got := strings.Count(b.String(), "\n"); got != want || !strings.HasSuffix(b.String(), "  last\n") || strings.Contains(b.String(), "...") != (n > maxItems) {
			t.Errorf("%d items: %d lines:\n%s", n, got, b.String())
		}
	}
}

// TestShowEnforcement: what is enforced for which of the tools.
func TestShowEnforcement(t *testing.T) {
	var b strings.Builder
	showEnforcement(&b, []preview.PreviewTool{{Enforced: []string{"files", "network"}}, {Step: "use", Unenforced: []string{"memory", "cpu"}}, {Step: "none"}})
	if b.String() != "  enforced: files, network\n  not enforced for use: memory; cpu\n" {
		t.Error(b.String())
	}
}

// TestMockedText holds how answers of mocks are shown.
func TestMockedText(t *testing.T) {
	for want, r := range map[string]script.MockedResult{
		`returns {"a":1}`: {Value: map[string]any{"a": 1}},
		"returns null":    {},
		"fails: no luck":  {Error: "no luck", Value: 1},
	} {
		if got := mockedText(r); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestExplainCache holds the text and the exit code for every verdict.
func TestExplainCache(t *testing.T) {
	reasons := []preview.CacheReason{{Message: "a changed"}, {Message: "b changed"}, {Message: "c changed"}}
	kept := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	for _, c := range []struct {
		x       preview.CacheExplanation
		verbose bool
		want    string
		err     error
	}{
		{preview.CacheExplanation{Verdict: preview.CacheReused, Kept: kept}, false, "s would be reused: its result was stored at 2026-01-02 03:04:05\n", nil},
		{preview.CacheExplanation{Verdict: preview.CacheUnknown, Unknown: []string{"{a.output}", "{b.output}"}}, false,
			"s: nothing that can be checked before a run has changed\nnot checked, because it depends on other steps: {a.output}, {b.output}\n", ui.CodeError(outcome.ExitFailed)},
		{preview.CacheExplanation{Reasons: reasons[:1]}, false, "s would run: a changed\n", ui.CodeError(outcome.ExitFailed)},
		{preview.CacheExplanation{Reasons: reasons}, false, "s would run: a changed (2 more: -v)\n", ui.CodeError(outcome.ExitFailed)},
		{preview.CacheExplanation{Reasons: reasons}, true, "s would run: a changed\n  b changed\n  c changed\n", ui.CodeError(outcome.ExitFailed)},
	} {
		c.x.Step = "s"
		var err error
		if got, _ := printed(func(env *ui.Env) { err = explain(env, &c.x, "text", c.verbose) }); got != c.want || err != c.err {
			t.Errorf("%q, %v, want %q", got, err, c.want)
		}
	}
}
