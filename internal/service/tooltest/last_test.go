package tooltest_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/tooltest"
	"github.com/flowrun/flowrun/library"
)

// TestRemember checks that each test keeps the result of the last time that it ran.
func TestRemember(t *testing.T) {
	state, file := t.TempDir(), filepath.Join(t.TempDir(), "a.yaml")
	lib := library.New(library.Config{WorkingDirectory: t.TempDir(), Home: t.TempDir()})
	def, _ := lib.Read(file, tool.ScopeLocal, []byte("name: a\ndescription: d\nbash: 'true'\n"))
	plan, err := engine.CompileDefinition(lib, def)
	if err != nil {
		t.Fatal(err)
	}
	if got := tooltest.LastResults(state, file); len(got) != 0 {
		t.Errorf("before any test: %v", got)
	}
	outcome := func(name string, s tooltest.Status) tooltest.Outcome {
		return tooltest.Outcome{Case: tooltest.Case{Tool: "a", Plan: plan, Test: tool.Test{Name: name}}, Status: s, Duration: 7 * time.Millisecond}
	}
	first, second := time.Unix(1000, 0).UTC(), time.Unix(2000, 0).UTC()
	for _, err := range []error{
		tooltest.Remember(state, []tooltest.Outcome{outcome("one", tooltest.Passed), outcome("two", tooltest.Failed)}, first),
		tooltest.Remember(state, []tooltest.Outcome{outcome("one", tooltest.Failed), outcome("two", tooltest.Skipped), outcome("three", tooltest.Stopped)}, second),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	digest := tool.DigestOf(def.Source)
	want := map[string]tooltest.Last{"one": {tooltest.Failed, second, 7, digest}, "two": {tooltest.Failed, first, 7, digest}}
	got := tooltest.LastResults(state, file)
	if len(got) != len(want) || got["one"] != want["one"] || got["two"] != want["two"] {
		t.Errorf("got %v, want %v", got, want)
	}
}
