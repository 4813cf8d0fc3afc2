package runlog

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/library"
)

// TestWithoutLogs: the output of a step without log files is that of its result, from the file that the
// result names if it is there.
func TestWithoutLogs(t *testing.T) {
	dir := t.TempDir()
	definition := filepath.Join(dir, "two.yaml")
	if err := os.WriteFile(definition, []byte("name: two\ndescription: Two steps\nsteps:\n  - {name: a, bash: echo a}\n  - {name: b, bash: echo b}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := engine.Compile(library.New(library.Config{}), definition)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "whole")
	if err := os.WriteFile(file, []byte("the whole output\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	output := func(file string) *dag.Result {
		return &dag.Result{Attempts: 1, Stdout: &dag.Output{Inline: "the beginning\n", Size: 17, File: file}}
	}
	var got bytes.Buffer
	err = New(filepath.Join(dir, "none"), plan, "").Copy([]dag.Event{
		{Kind: dag.StepFinished, Node: "a", Result: output(file)},
		{Kind: dag.StepFinished, Node: "b", Result: output(filepath.Join(dir, "gone"))},
	}, func(rundir.Stream, dag.ID, int) io.Writer { return &got })
	if want := "the whole output\nthe beginning\n"; got.String() != want || err != nil {
		t.Errorf("%q, %v; want %q", got.String(), err, want)
	}
}
