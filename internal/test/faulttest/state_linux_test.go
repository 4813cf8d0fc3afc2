package faulttest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// counting counts its own successes: N is their number, and LIST has what N was in each. It fails
// while there is a file broken.
const counting = `name: count
description: Counts its successes.
on-interrupt: retry
state:
  N: {type: integer}
  LIST: {type: array, merge: append}
steps:
  - name: one
    sh: echo "N=$(( {state.N} + 1 ))" >>"$FLOWRUN_STATE"; echo "LIST=[{state.N}]" >>"$FLOWRUN_STATE"
  - name: two
    sh: test ! -e broken
`

// stateBed runs the counting tool.
type stateBed struct {
	*testing.T
	program, dir string
	kills        int
}

func newStateBed(t *testing.T, program string) *stateBed {
	b := &stateBed{T: t, program: program, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(b.dir, "job.yaml"), []byte(counting), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *stateBed) command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.program, args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+filepath.Join(b.dir, "state"), "FLOWRUN_FAILPOINT=")
	return cmd
}

// read runs a command that prints JSON.
func (b *stateBed) read(into any, args ...string) {
	b.Helper()
	cmd := b.command(args...)
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		b.Fatalf("%v: %v: %s", args, err, out)
	}
}

type countedRun struct{ ID, Status, Reason string }

// judge checks that the state is that of the runs that have succeeded, and returns all runs, newest first.
func (b *stateBed) judge() []countedRun {
	b.Helper()
	var runs struct{ Runs []countedRun }
	b.read(&runs, "runs", "--limit", "0", "-o", "json")
	var state struct {
		Values []struct {
			Key   string
			Value any
		}
	}
	b.read(&state, "state", "get", "./job.yaml", "-o", "json")
	n := 0
	for _, r := range runs.Runs {
		if r.Status == "succeeded" {
			n++
		}
	}
	want := make([]int, n)
	for i := range want {
		want[i] = i
	}
	if got := fmt.Sprint(state.Values[0].Value, state.Values[1].Value); got != fmt.Sprint(n, want) {
		b.Fatalf("%d runs have succeeded, and N and LIST are %s", n, got)
	}
	return runs.Runs
}

// live runs or resumes the tool, and kills it after a time or at a failpoint.
func (b *stateBed) live(point string, after time.Duration, args ...string) {
	b.Helper()
	cmd := b.command(args...)
	cmd.Env = append(cmd.Env, "FLOWRUN_FAILPOINT="+point)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if after > 0 {
		defer time.AfterFunc(after, func() { cmd.Process.Kill() }).Stop()
	}
	cmd.Wait()
	if !cmd.ProcessState.Exited() {
		b.kills++
	}
}

// next chooses what to do: a new run, or one that can be resumed. A run that others have overtaken is resumed too.
func next(r *rand.Rand, runs []countedRun) []string {
	open := slices.DeleteFunc(slices.Clone(runs), func(c countedRun) bool { return c.Status != "interrupted" })
	if len(open) == 0 || r.IntN(3) == 0 {
		return []string{"run", "./job.yaml"}
	}
	return []string{"resume", open[r.IntN(min(3, len(open)))].ID}
}

// A value of a run that did not succeed is never kept, and that of one that did is never lost, whenever flowrun is
// killed.
func TestState(t *testing.T) {
	t.Parallel()
	shipped := build(t)
	t.Run("killed at random", func(t *testing.T) {
		b := newStateBed(t, shipped)
		began := time.Now()
		b.live("", 0, "run", "./job.yaml")
		took := time.Since(began)
		seed := sizetest.Seed(t)
		r := rand.New(rand.NewPCG(seed, 0))
		runs := b.judge()
		for b.kills < sizetest.Of(3, 15, 500) {
			broken := filepath.Join(b.dir, "broken")
			os.Remove(broken)
			if r.IntN(4) == 0 {
				os.WriteFile(broken, nil, 0o600)
			}
			b.live("", 1+rand.N(took*3/2), next(r, runs)...)
			runs = b.judge()
		}
		b.report(runs)
	})
	t.Run("killed at every point", func(t *testing.T) {
		b := newStateBed(t, pointed(t))
		var runs []countedRun
		for _, point := range append(points, "finish-during") {
			for n := 1; n <= sizetest.Of(1, 2, 6); n++ {
				before := b.kills
				b.live(fmt.Sprintf("%s:%d", point, n), 0, "run", "./job.yaml")
				if runs = b.judge(); len(runs) > 0 && runs[0].Status == "interrupted" {
					b.live(fmt.Sprintf("%s:%d", point, n), 0, "resume", runs[0].ID)
					runs = b.judge()
				}
				if b.kills == before {
					break
				}
			}
		}
		b.report(runs)
	})
}

// report checks that every run which is left ends, and logs what has happened.
func (b *stateBed) report(runs []countedRun) {
	b.Helper()
	os.Remove(filepath.Join(b.dir, "broken"))
	for _, r := range runs {
		if r.Status == "interrupted" {
			b.live("", 0, "resume", r.ID)
		}
	}
	ends := map[string]int{}
	for _, r := range b.judge() {
		ends[strings.TrimSpace(r.Status+" "+r.Reason)]++
		if r.Status == "interrupted" {
			b.Errorf("run %s does not end", r.ID)
		}
	}
	if ends["succeeded"] == 0 {
		b.Error("no run has succeeded")
	}
	b.Log(b.kills, "kills:", ends)
}
