package preview

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/resultcache"
)

// CacheVerdict says whether a cached result of a step would be reused.
type CacheVerdict string

// The verdicts.
const (
	CacheReused  CacheVerdict = "reused"  // the cached result would be used
	CacheRuns    CacheVerdict = "runs"    // the step would run
	CacheUnknown CacheVerdict = "unknown" // nothing known so far has changed, but not everything can be known before the run
)

// CacheReason is one reason why a step would run.
type CacheReason struct {
	Kind    string `json:"kind"`           // input, command, variable, ...; none: no result is stored; ttl: it is too old; output-file: a file is in the way, or missing
	Name    string `json:"name,omitempty"` // of the input or variable
	Change  string `json:"change,omitempty"`
	Message string `json:"message"` // in words
}

// CacheExplanation says whether a cached result of a step would be reused now, and if not, why. It holds no secrets.
// Its JSON form is flowrun/explain-cache.v1.
type CacheExplanation struct {
	Schema  string        `json:"schema"`
	Tool    string        `json:"tool"`
	Step    string        `json:"step"`
	Verdict CacheVerdict  `json:"verdict"`
	Reasons []CacheReason `json:"reasons"`       // the most informative first
	Unknown []string      `json:"unknown"`       // in words, what only a run can know
	Kept    time.Time     `json:"kept,omitzero"` // when the compared result was stored
}

// ExplainCacheSchema is the name of the JSON form of a CacheExplanation.
const ExplainCacheSchema = "flowrun/explain-cache.v1"

// NotCachedError reports that a step has no cache to explain.
type NotCachedError struct{ Tool, Step, Hint string }

func (e *NotCachedError) Error() string {
	return fmt.Sprintf("step %s of tool %s has no cache; %s", e.Step, e.Tool, e.Hint)
}

// ExplainCache compares what a step depends on now with its cached result in the cache in dir.
func ExplainCache(ctx context.Context, params *call.Params, path, dir string) (*CacheExplanation, error) {
	p := params.Plan
	frame := params.Preview()
	defer frame.Session().Discard()
	s, a, err := resolveStep(ctx, frame, dag.ID(path))
	if err != nil {
		return nil, err
	}
	switch {
	case s == nil:
		if hint := itemHint(p, dag.ID(path)); hint != "" {
			return nil, &NotCachedError{p.Name(), path, hint}
		}
		return nil, p.NoStep(path)
	case s.Nested != nil:
		return nil, &NotCachedError{p.Name(), path, "it uses a tool: name a step of that tool, such as " + path + "/STEP"}
	case s.Cache == nil:
		return nil, &NotCachedError{p.Name(), path, "add cache: {inputs: [...], outputs: [...]} to it"}
	}
	x := &CacheExplanation{Schema: ExplainCacheSchema, Tool: p.Name(), Step: path, Reasons: []CacheReason{}, Unknown: []string{}}
	if dir == "" {
		return nil, errors.New("cannot explain the cache: the engine has no cache; set Config.CacheDir")
	}
	store, err := cache.OpenReadOnly(dir)
	if err != nil {
		return nil, err
	}
	on, err := resultcache.Depends(ctx, s, store, a, dag.View{})
	if err != nil {
		return nil, a.WithoutSecrets(err)
	}
	kept, key := resultcache.Identity(store, a, dag.ID(path)), store.Key(on.Components)
	if err := x.compare(s, kept, key, on.Components); err != nil || x.Verdict != CacheReused {
		return x, err
	}
	return x, a.WithoutSecrets(x.findObstacle(ctx, kept, key, on.Dir))
}

// resolveStep finds a step, and the frame it would run with, as far as that is known before the run.
func resolveStep(ctx context.Context, a *call.Frame, path dag.ID) (*plan.Step, *call.Frame, error) {
	if err := errors.Join(a.OpenEnvironment(ctx), a.FindDir(), a.ReadState(ctx)); err != nil {
		return nil, nil, a.WithoutSecrets(err)
	}
	return resolveStepIn(ctx, a.Plan, a, path)
}

// resolveStepIn is resolveStep for a frame that is already prepared: it follows the path into an item, a group, or the
// tool that a step uses.
func resolveStepIn(ctx context.Context, p *plan.Plan, a *call.Frame, path dag.ID) (*plan.Step, *call.Frame, error) {
	name, key, rest := path.Split()
	s := p.ByName[name]
	if s == nil || rest != "" && s.Nested == nil {
		return nil, a, nil
	}
	if s.Loop != nil {
		var err error
		if a, err = graph.Item(s.Loop, a, key); a == nil || err != nil {
			return nil, a, err
		}
	}
	switch {
	case rest == "":
		return s, a, nil
	case s.Nested.Group:
		return resolveStepIn(ctx, s.Nested, a, rest)
	}
	raw, unknown := knownWith(s, call.Scope{Frame: a})
	bound, err := call.BindGiven(ctx, s.Nested, a.RunEnv, raw)
	if err != nil {
		return nil, nil, a.WithoutSecrets(fmt.Errorf("cannot compute the parameters of step %s: %w", name, err))
	}
	return resolveStep(ctx, bound.PreviewInside(a, unknown), rest)
}

// itemHint returns a hint for a path that names a loop instead of one of its items; "" for other paths, or if there is
// no such step.
func itemHint(p *plan.Plan, path dag.ID) string {
	if _, s := p.Find(path); s == nil {
		return ""
	}
	for _, loop := range append(path.Ancestors(), path) {
		_, s := p.Find(loop)
		if item := string(loop) + "["; s != nil && s.Loop != nil && !strings.HasPrefix(string(path), item) && !strings.HasSuffix(string(loop), "]") {
			return fmt.Sprintf("%s is a loop: name an item, such as %sKEY]%s", loop, item, path[len(loop):])
		}
	}
	return ""
}

// compare compares the current components with those of the cached results.
func (x *CacheExplanation) compare(s *plan.Step, kept *cache.Step, key string, now []cache.Component) error {
	for _, c := range now {
		if c.Hash == "" {
			x.Unknown = append(x.Unknown, unknownWord(c))
		}
	}
	entry, err := kept.Find(key)
	if errors.Is(err, cache.ErrNone) {
		entry, err = kept.Latest()
	}
	switch {
	case errors.Is(err, cache.ErrNone), errors.Is(err, cache.ErrDamaged):
		x.reason(CacheReason{Kind: "none", Message: "no result is stored yet"})
		return nil
	case err != nil:
		return err
	}
	x.Kept = entry.Created
	for _, d := range cache.Diff(entry.Components, now) {
		x.reason(CacheReason{Kind: string(d.Kind), Name: d.Name, Change: string(d.Change), Message: d.String()})
	}
	if ttl := s.Cache.TTL; ttl > 0 && time.Since(entry.Created) > ttl {
		x.reason(CacheReason{Kind: "ttl", Message: fmt.Sprintf("the stored result is older than ttl (%s)", ttl)})
	}
	switch {
	case len(x.Reasons) > 0:
	case len(x.Unknown) > 0:
		x.Verdict = CacheUnknown
	default:
		x.Verdict = CacheReused
	}
	return nil
}

// findObstacle looks for files among the outputs for which the result does not account.
func (x *CacheExplanation) findObstacle(ctx context.Context, kept *cache.Step, key, dir string) error {
	entry, err := kept.Find(key)
	if err != nil {
		return err
	}
	o, err := kept.Obstacle(ctx, entry, dir, nil)
	if o != nil {
		x.reason(CacheReason{Kind: "output-file", Name: o.Path, Message: o.String()})
	}
	return err
}

func (x *CacheExplanation) reason(r CacheReason) {
	x.Verdict = CacheRuns
	x.Reasons = append(x.Reasons, r)
}

// unknownWord describes a component whose value is not known.
func unknownWord(c cache.Component) string {
	switch c.Kind {
	case cache.Command:
		return "the command"
	case cache.Stdin:
		return "the standard input"
	case cache.Variable:
		return "environment variable " + c.Name
	case cache.Key:
		return "the key"
	case cache.Input:
		return "some of the inputs"
	case cache.Output:
		return "some of the outputs"
	}
	return c.Name
}
