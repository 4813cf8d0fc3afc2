package resultcache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/sharedfiles"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// ReasonCache is the reason of a reused step whose result came from the cache.
const ReasonCache = "cache"

// Step runs a step with a cache: its result is stored, and reused if nothing it depends on has changed. Errors of the
// cache cost time but never fail the step.
type Step struct{ *plan.Step }

// Inside returns the Runner that this one is around.
func (c Step) Inside() dag.Runner { return c.Runner }

// Run implements dag.Runner.
func (c Step) Run(ctx context.Context, attempt *dag.Call) (dag.Result, error) {
	a := call.FrameOf(attempt.Args())
	if a.Cache == nil {
		return c.Runner.Run(ctx, attempt)
	}
	k := &keeper{Step: c.Step, args: a, call: attempt}
	var err error
	if k.store, err = a.Cache.Open(); err != nil {
		k.warn("not cached", err)
		return c.Runner.Run(ctx, attempt)
	}
	var broken *renderError
	k.dependence, err = Depends(ctx, c.Step, k.store, a, attempt.View)
	switch {
	case errors.As(err, &broken): // the step reports the error
		return c.Runner.Run(ctx, attempt)
	case err != nil:
		return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Permanent: true,
			Message: a.Session().Mask().String(err.Error())}, nil
	}
	k.step = Identity(k.store, a, attempt.Path)
	k.step.Sweep(k.dependence.Dir)
	k.work = a.Files.Begin(string(attempt.Path.WithoutAttempts()), k.dependence.Dir, k.dependence.allOutputs())
	defer k.work.End()
	if !a.Cache.NoReuse {
		if res, ok := k.reuse(ctx); ok {
			k.warnNoInputs()
			return res, nil
		}
	}
	before, notCached := cache.TakeSnapshot(ctx, k.dependence.Dir, k.dependence.allOutputs())
	res, err := c.Runner.Run(ctx, attempt)
	if err == nil && res.Status == dag.Succeeded {
		k.keep(ctx, &res, before, notCached)
	}
	return res, err
}

// keeper stores and finds the result of one attempt of a step.
type keeper struct {
	*plan.Step
	args       *call.Frame
	call       *dag.Call
	store      *cache.Store
	step       *cache.Step
	dependence *dependence
	work       *sharedfiles.Work
}

// warn warns that the cache could not be used.
func (k *keeper) warn(what string, err error) {
	k.args.Session().Notify(notice.Notice{Code: notice.NotCached, Step: k.call.Path,
		Message: k.args.Session().Mask().String(fmt.Sprintf("the result of step %s was %s: %v", k.call.Path, what, err))})
}

// warnNoInputs warns if no file matches the inputs of the step: no change of a file makes it run again then.
func (k *keeper) warnNoInputs() {
	var patterns []string
	for _, c := range k.dependence.Components {
		switch c.Kind {
		case cache.Input:
			return
		case cache.NoMatch:
			patterns = append(patterns, c.Name)
		}
	}
	if len(patterns) > 0 {
		k.args.Session().Notify(notice.Notice{Code: notice.NoInputs, Step: k.call.Path,
			Message: k.args.Session().Mask().String(fmt.Sprintf("step %s was reused, but no file matches its inputs (%s); check the patterns in cache.inputs", k.call.Path, strings.Join(patterns, ", ")))})
	}
}

// reuse returns the cached result, if there is a valid one.
func (k *keeper) reuse(ctx context.Context) (dag.Result, bool) {
	entry, err := k.step.Find(k.store.Key(k.dependence.Components))
	if err != nil || k.expired(entry) {
		return dag.Result{}, false
	}
	stdout, stderr, err := entry.Printed(ctx)
	if err == nil {
		var obstacle *cache.Obstacle
		if obstacle, err = k.step.Obstacle(ctx, entry, k.dependence.Dir, &k.args.Cache.Writers); obstacle != nil {
			return dag.Result{}, false
		}
	}
	if err == nil {
		k.work.Writes(entry.Files())
		err = entry.Restore(ctx, k.dependence.Dir)
	}
	var res dag.Result
	if err == nil {
		res, err = k.result(entry, stdout, stderr)
	}
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, cache.ErrDamaged) { // a damaged result is replaced without a warning
			k.warn("not reused", err)
		}
		k.work.Writes(nil)
		return dag.Result{}, false
	}
	entry.Touch()
	k.step.Wrote(entry, &k.args.Cache.Writers)
	res.Status, res.Reason, res.ExitCode = dag.Reused, ReasonCache, entry.ExitCode
	return res, true
}

func (k *keeper) expired(e *cache.Entry) bool {
	return k.Cache.TTL > 0 && time.Since(e.Created) > k.Cache.TTL
}

// result rebuilds the step's result in this run from what it printed.
func (k *keeper) result(e *cache.Entry, stdout, stderr string) (res dag.Result, err error) {
	outputs, err := k.outputs(e)
	if err != nil {
		return res, err
	}
	if k.Command != nil {
		res, err = k.Command.Reuse(k.call, stdout, stderr)
		res.Outputs = outputs
		return res, err
	}
	res.Outputs = outputs
	if stdout == "" {
		return res, nil
	}
	text, err := ownership.ReadFile(stdout)
	if err != nil {
		return res, err
	}
	if err := k.holdsNoSecret(stdout); err != nil {
		return res, err
	}
	if e.Value {
		if err := value.DecodeJSON(string(text), &res.Value); err != nil {
			return res, err
		}
		res.Structured = true
	}
	res.Stdout, err = k.args.Session().Text(k.call.Path, k.call.Attempt, string(text))
	return res, err
}

// outputs returns the declared outputs of a stored result, nil for none.
func (k *keeper) outputs(e *cache.Entry) (*dag.Outputs, error) {
	if e.Declared == nil {
		return nil, nil
	}
	stored := dag.Outputs{Values: e.Declared}
	values, err := stored.All()
	if err != nil {
		return nil, err
	}
	outputs, err := k.args.Session().Outputs(values)
	if err == nil && outputs.Masked {
		err = errSecret
	}
	return outputs, err
}

// declared returns the declared outputs of a result as they are stored, nil for none.
func declared(r *dag.Result) json.RawMessage {
	if r.Outputs == nil {
		return nil
	}
	return r.Outputs.Values
}

func (k *keeper) holdsNoSecret(file string) error {
	f, err := proc.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return k.rejectSecrets(f)
}

// Reasons why a result is not stored.
var (
	errSecret    = errors.New("it contains a secret")
	errState     = errors.New("it sets values of the tool's state")
	errTruncated = errors.New("its output is longer than the step's buffer-limit; raise the limit")
)

// rejectSecrets returns errSecret if the text contains a secret.
func (k *keeper) rejectSecrets(r io.Reader) error {
	secret, err := k.args.Session().Mask().Holds(r)
	if err == nil && secret {
		err = errSecret
	}
	return err
}

// keep stores a result, or warns why it could not.
func (k *keeper) keep(ctx context.Context, res *dag.Result, before *cache.Snapshot, err error) {
	if err == nil {
		err = k.save(ctx, res, before)
	}
	if contested := new(sharedfiles.ContestedError); errors.As(err, &contested) && !k.args.Files.First(string(k.call.Path.WithoutKeys())) {
		return
	}
	if err != nil && ctx.Err() == nil {
		k.warn("not cached", err)
	}
}

func (k *keeper) save(ctx context.Context, res *dag.Result, before *cache.Snapshot) error {
	if res.Outputs != nil && res.Outputs.Masked {
		return errSecret
	}
	if len(res.State()) > 0 {
		return errState
	}
	for _, o := range []*dag.Output{res.Stdout, res.Stderr} {
		switch {
		case o == nil:
		case o.Masked:
			return errSecret
		case o.Truncated:
			return errTruncated
		}
	}
	after, err := Depends(ctx, k.Step, k.store, k.args, k.call.View)
	if err != nil {
		return err
	}
	if moved := cache.Diff(k.dependence.Components, after.Components); len(moved) > 0 {
		return fmt.Errorf("inputs changed while the step ran (%s); list the files that the step creates under outputs", moved[0])
	}
	return k.step.Keep(ctx, cache.Draft{Components: k.dependence.Components, ExitCode: res.ExitCode, Value: res.Value != nil, Declared: declared(res),
		Stdout: printed(res.Stdout), Stderr: printed(res.Stderr), Dir: k.dependence.Dir, Outputs: k.dependence.outputs, Optional: k.dependence.optional, Refuse: k.rejectSecrets,
		Before: before, Owner: k.work.Owner, Writers: &k.args.Cache.Writers})
}

func printed(o *dag.Output) cache.Printed {
	switch {
	case o == nil:
		return cache.Printed{}
	case o.Whole():
		return cache.Printed{Text: o.Inline}
	}
	return cache.Printed{File: o.File, Size: o.Size}
}
