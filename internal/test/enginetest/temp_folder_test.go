package enginetest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
)

// tempRun is a run whose steps leave files in its temporary directory and in that of a tool that it uses, and which does
// not succeed at first.
type tempRun struct {
	*keptRuns
	step  string // the one that does not succeed at first
	brief bool
}

// write writes the definitions. parent is where the directories are made.
func (r *tempRun) write(parent string) *engine.Plan {
	const build, ship = "- {name: build, bash: 'echo built > $FLOWRUN_TEMP/a'}\n", "- {name: ship, bash: 'cat $FLOWRUN_TEMP/a'}\n"
	paths := "file-paths: {temp-directory: '{TEMP}/" + parent + "'}\n"
	if r.brief {
		paths += "resources: {cleanup: [{delete-temp-files: true}]}\n"
	}
	r.file("used.yaml", "name: used\ndescription: Is used\n"+paths+"steps:\n"+build+"- {name: it, "+r.step+"}\n"+ship)
	return r.compile(paths + "steps:\n" + build + "- {name: used, use-tool: ./used.yaml}\n" + ship)
}

func (r *tempRun) left() []string {
	r.Helper()
	return files(r.T, filepath.Join(r.dir, "own"))
}

// resumes resumes the run to its end.
func (r *tempRun) resumes(o engine.ResumeOptions, asks bool) {
	r.Helper()
	r.file("ready", "")
	g, err := r.latest().Resume(r.lib, o)
	if err != nil || len(g.Cleaned) > 0 {
		r.Fatal(err, g.Cleaned)
	}
	res := r.goOn(g)
	if asks {
		r.answer("used/it", true)
		res = r.resume(o)
	}
	if res.Status != dag.Succeeded || res.Output != "built\n" {
		r.Errorf("%s %q: %+v", res.Status, res.Message, res.Steps)
	}
}

// TestTempUntilSuccess checks how long temporary directories stay: until nobody can resume the run.
func TestTempUntilSuccess(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{
		"failed":    "bash: test -f ready",
		"rejected":  "approve: 'Ship?'",
		"cancelled": "bash: test -f ready || sleep 300",
	} {
		for _, then := range []string{"resumed", "resumed with another definition", "removed", "brief", "without a history", "without a state directory"} {
			t.Run(name+", "+then, func(t *testing.T) {
				t.Parallel()
				r := &tempRun{newKeptRuns(t), step, then == "brief"}
				if then == "without a history" {
					r.config.Store = nil
				}
				if then == "without a state directory" {
					r.config.StateDir = ""
				}
				if name == "rejected" && r.config.Store == nil {
					t.Skip("nobody can be asked")
				}
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				options := []engine.RunOption{engine.WithRunEnv(r.world)}
				if name == "cancelled" {
					options = append(options, cancelAt("used/it", cancel))
				}
				res, err := engine.New(r.config).Run(ctx, r.write("own"), nil, options...)
				if err != nil {
					t.Fatal(err)
				}
				if name == "rejected" {
					r.answer("used/it", false)
					res = r.resume(engine.ResumeOptions{})
				}
				if res.Status == dag.Succeeded {
					t.Fatal(res.Status)
				}
				switch then {
				case "resumed":
					r.stays()
					r.resumes(engine.ResumeOptions{}, name == "rejected")
				case "resumed with another definition":
					r.stays()
					r.write("other")
					r.resumes(engine.ResumeOptions{Latest: true}, name == "rejected")
					if _, err := os.Stat(filepath.Join(r.dir, "other")); err == nil {
						t.Error("there are other directories")
					}
				case "removed":
					r.stays()
					if err := rundir.Remove(r.config.StateDir, res.ID); err != nil {
						t.Error(err)
					}
				}
				if left := r.left(); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
				if _, err := os.Stat(filepath.Join(r.dir, "state", "runs", res.ID, "temp")); err == nil && then != "brief" {
					t.Error("the list of directories is left")
				}
			})
		}
	}
}

// stays checks that the files in both directories are there.
func (r *tempRun) stays() {
	r.Helper()
	if left := r.left(); len(left) != 4 {
		r.Errorf("left: %v", left)
	}
}
