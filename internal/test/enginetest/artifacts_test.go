//go:build unix

package enginetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/library"
)

// TestArtifactTable tries every row of the table in docs/reference/artifacts.md with every value of when.
func TestArtifactTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/reference/artifacts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| step | files |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")[2:]
	if len(rows) < 15 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "| "), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		for i, when := range []string{"success", "failure", "always"} {
			t.Run(strings.Join(append(cells[:3:3], when), " "), func(t *testing.T) {
				t.Parallel()
				if got := keeps(t, cells[0], cells[1] == "some", cells[2], when); got != cells[3+i] {
					t.Errorf("%s, the page says %s", got, cells[3+i])
				}
			})
		}
	}
}

// keeps runs a step to an outcome, and says what happened to its artifact.
func keeps(t *testing.T, outcome string, some bool, required, when string) string {
	dir := t.TempDir()
	script, more := "true", ""
	if some {
		script = "echo made > out.txt"
	}
	switch outcome {
	case "failed":
		script += "; exit 3"
	case "timed-out":
		script, more = script+"; sleep 60", "timeout: 3s" // in which it starts
	case "cancelled":
		script += "; touch started; sleep 60"
	case "skipped":
		more = "run-condition: \"'a' == 'b'\""
	case "reused":
		more = "cache: {}"
	}
	definition := fmt.Sprintf("name: t\ndescription: d\nsteps:\n  - name: make\n    sh: %s\n    %s\n    artifacts: [{path: out.txt, name: out, when: %s, required: %s}]\n", script, more, when, required)
	file := filepath.Join(dir, "t.yaml")
	if err := os.WriteFile(file, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir}), file)
	if err != nil {
		t.Fatal(err)
	}
	eng := engine.New(engine.Config{StateDir: filepath.Join(dir, "state"), Grace: time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if outcome == "cancelled" {
		go func() {
			waitFor(t, filepath.Join(dir, "started"))
			cancel()
		}()
	}
	run := func() *runresult.Result {
		r, err := eng.Run(ctx, p, nil, engine.WithRunEnv(engine.RunEnv{Workspace: dir}))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run()
	if outcome == "reused" {
		os.Remove(filepath.Join(dir, "out.txt"))
		r = run()
	}
	s := r.Step("make")
	kept := len(s.Artifacts) == 1
	if kept {
		if text, err := os.ReadFile(s.Artifacts[0].Path); string(text) != "made\n" {
			t.Errorf("%q %v", text, err)
		}
	}
	switch {
	case s.Reason == "artifacts" && s.Status == dag.Failed && !kept:
		return "step fails"
	case s.Status.String() != outcome:
		t.Errorf("the step is %s (%s)", s.Status, s.Message)
	}
	if kept {
		return "kept"
	}
	return "not kept"
}
