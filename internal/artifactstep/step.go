// Package artifactstep runs steps whose files are kept: it runs the step, and then copies the files that the step has
// listed as artifacts into the state folder. It comes around the cache, so that a reused result has its artifacts too.
package artifactstep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/artifact"
	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/steps"
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

// Around returns the command of the step inside, nil for none.
func (s Step) Around() *steps.Command { return plan.CommandOf(s.Work) }

// Run implements dag.Runner.
func (s Step) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	res, err := s.Work.Run(ctx, c)
	a := c.Args().(*call.Frame)
	if err != nil || res.Status == dag.Waiting || a.Artifacts == nil {
		return res, err
	}
	ok := ctx.Err() == nil && (res.Status == dag.Succeeded || res.Status == dag.Reused || res.Status == dag.Pending && res.ExitCode == 0)
	if ctx.Err() != nil {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(context.WithoutCancel(ctx), stopped)
		defer done()
	}
	kept, err := s.keep(ctx, c, a, ok)
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

// keep keeps the artifacts for the outcome of the step.
func (s Step) keep(ctx context.Context, c *dag.Call, a *call.Frame, ok bool) ([]dag.Artifact, error) {
	var specs []artifact.Spec
	for _, def := range s.Artifacts {
		if ok && !def.OnSuccess || !ok && !def.OnFailure {
			continue
		}
		pattern, err := call.Pattern(def.Path, a.Scope(c.View))
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
	from := artifact.Source{Step: c.Path, Dir: dir}
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
