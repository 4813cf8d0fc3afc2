package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/flowruntest"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/history/sqlite"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

func TestContract(t *testing.T) {
	flowruntest.TestStore(t, func(t *testing.T) history.Store { return open(t, t.TempDir()) })
}

func open(t *testing.T, dir string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestSurvives checks that a run that failed can be resumed when the program has closed its
// history and opened it again, and that a file that is not a history is an error.
func TestSurvives(t *testing.T) {
	ctx, dir, lib := context.Background(), t.TempDir(), library.New(library.Config{})
	ready := filepath.Join(dir, "ready")
	file := filepath.Join(dir, "load.yaml")
	text := "name: load\ndescription: Loads\nsteps:\n  - name: fetch\n    bash: echo rows\n  - name: load\n    bash: cat " + ready + "; echo {fetch.output}\n    strict: true\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := flowrun.Compile(lib, file)
	if err != nil {
		t.Fatal(err)
	}
	store := open(t, dir)
	res, err := flowrun.New(flowrun.Config{Store: store, StateDir: dir}).Run(ctx, plan, nil, flowrun.WithID("r1"))
	if err != nil || res.Status != dag.Failed {
		t.Fatal(res, err)
	}
	if err := errors.Join(store.Close(), store.Close()); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(ready, []byte("ready\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store = open(t, dir)
	past, err := flowrun.LoadRun(ctx, store, lib, "r1")
	if err != nil {
		t.Fatal(err)
	}
	next, err := past.Resume(lib, flowrun.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err = flowrun.New(flowrun.Config{Store: store, StateDir: dir}).Continue(ctx, next)
	if err != nil || res.Status != dag.Succeeded || res.Output != "ready\nrows\n" {
		t.Errorf("%+v, %v", res, err)
	}
	if info, err := store.Info(ctx, "r1"); err != nil || info.Status != dag.Succeeded || info.Epoch != 2 {
		t.Errorf("%+v, %v", info, err)
	}

	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "history.db"), []byte("this is not a database, but long enough to be read as the header of one......................................"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(ctx, other); err == nil {
		t.Error("a file that is not a database was opened")
	}
}

// A program keeps its runs in a folder, and lists them when it starts again.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	plan, err := flowrun.CompileDefinition(library.New(library.Config{}), &tool.Definition{Name: "greet", Steps: []*tool.Step{
		flowrun.GoStep("hello", func(context.Context, *flowrun.StepInput) (any, error) { return "hello", nil }),
	}})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 { // the program runs twice
		store, err := sqlite.Open(ctx, dir)
		if err != nil {
			log.Fatal(err)
		}
		engine := flowrun.New(flowrun.Config{Store: store, StateDir: dir})
		if _, err := engine.Run(ctx, plan, nil); err != nil {
			log.Fatal(err)
		}
		runs, err := store.Runs(ctx, history.Query{Tool: "greet"})
		if err != nil {
			log.Fatal(err)
		}
		for _, r := range runs {
			fmt.Println(r.Tool, r.Status)
		}
		store.Close()
	}
	// Output:
	// greet succeeded
	// greet succeeded
	// greet succeeded
}
