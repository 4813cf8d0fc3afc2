// Package artifactstep runs steps whose files are kept: it runs the step, and then copies the files that the step has
// listed as artifacts into the state folder. It comes around the cache, so that a reused result has its artifacts too.
package artifactstep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/sharedfiles"
)

// Reason is the reason of a step that failed because an artifact could not be kept.
const Reason = "artifacts"

// stopped limits how long keeping the files of a stopped step takes.
const stopped = time.Minute

// Step runs a step and keeps its artifacts. Work is what runs: the step's runner, or its fallback.
type Step struct {
	*plan.Step
	Work dag.Runner
}

// Inside returns the Runner that this one is around.
func (s Step) Inside() dag.Runner { return s.Work }

// Run implements dag.Runner.
func (s Step) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	a := call.FrameOf(c.Args())
	if a.Artifacts == nil {
		return s.Work.Run(ctx, c)
	}
	files := s.watch(ctx, c, a)
	defer files.work.End()
	res, err := s.Work.Run(ctx, c)
	if err != nil || res.Status == dag.Waiting {
		return res, err
	}
	ok := ctx.Err() == nil && (res.Status == dag.Succeeded || res.Status == dag.Reused || res.Status == dag.Pending && res.ExitCode == 0)
	if ctx.Err() != nil {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(context.WithoutCancel(ctx), stopped)
		defer done()
	}
	kept, err := s.keep(ctx, c, a, files, ok)
	if res.SetArtifacts(kept); err == nil {
		return res, nil
	}
	message := a.Session().Mask().String(err.Error())
	if !ok {
		res.Message = strings.TrimPrefix(res.Message+"; "+message, "; ")
		return res, nil
	}
	res.Status, res.ExitCode, res.Reason, res.Message = dag.Failed, 1, Reason, message
	return res, nil
}

// files knows which files the step writes, and which other steps may.
type files struct {
	work   *sharedfiles.Work
	before *cache.Snapshot
}

// watch begins to watch the files of the artifacts. An error of a pattern or of the directory is that of the step, later.
func (s Step) watch(ctx context.Context, c *dag.Call, a *call.Frame) files {
	var patterns []string
	for _, def := range s.Artifacts {
		if pattern, err := a.Pattern(def.Path, a.Scope(c.View)); err == nil {
			patterns = append(patterns, pattern)
		}
	}
	dir, _ := s.dir(c, a)
	f := files{work: a.Files.Begin(string(c.Path.WithoutAttempts()), dir, patterns)}
	f.before, _ = cache.TakeSnapshot(ctx, dir, patterns)
	return f
}

// keeps reports whether a file is the step's own: nobody else wrote it at the same time. A file that was there before may
// be kept by several steps.
func (f files) keeps(root *os.Root, path string) (bool, error) {
	if !f.before.Wrote(root, path) {
		return true, nil
	}
	owner, err := f.work.Owner(path)
	return owner != cache.OtherFile, err
}

// keep keeps the artifacts for the outcome of the step.
func (s Step) keep(ctx context.Context, c *dag.Call, a *call.Frame, files files, ok bool) ([]dag.Artifact, error) {
	var specs []artifact.Spec
	for _, def := range s.Artifacts {
		if ok && !def.OnSuccess || !ok && !def.OnFailure {
			continue
		}
		pattern, err := a.Pattern(def.Path, a.Scope(c.View))
		if err != nil {
			return nil, fmt.Errorf("cannot keep the artifact %s: %w", def.Name, err)
		}
		specs = append(specs, artifact.Spec{Name: def.Name, Pattern: pattern, Optional: def.Optional || !ok, Retention: def.Retention})
	}
	dir, err := s.dir(c, a)
	if err != nil {
		return nil, fmt.Errorf("cannot keep artifacts: %w", err)
	}
	session := a.Session()
	from := artifact.Source{Step: c.Path, Dir: dir, Keeps: files.keeps}
	if from.Reduced = a.Confine.ChangesUser(); from.Reduced || a.Confine.Enforced {
		from.Rights = func(f func() error) error { return session.WithRights(a.Confine, "read", f) }
	}
	if !session.Mask().Empty() {
		from.Secret = session.Mask().Holds
	}
	kept, missing, err := a.Artifacts.Keep(ctx, from, specs)
	if err == nil && len(missing) > 0 {
		err = missingError(missing)
	}
	return kept, err
}

// dir returns the directory in which the step ran.
func (s Step) dir(c *dag.Call, a *call.Frame) (string, error) {
	if cmd := plan.CommandOf(s.Work); cmd != nil {
		return cmd.WorkingDirectory(a, c.View)
	}
	return a.Dir(), nil
}

func missingError(list []artifact.Spec) error {
	var names []string
	for _, m := range list {
		names = append(names, fmt.Sprintf("%s (%s)", m.Name, m.Pattern))
	}
	return errors.New("the step did not create its artifacts: no file matches " + strings.Join(names, ", ") + "; if they may be missing: required: false")
}
