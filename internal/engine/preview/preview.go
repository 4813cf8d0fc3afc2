package preview

import (
	"context"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Preview describes what a run would do, as far as that is known before it starts.
type Preview struct {
	Schema string               `json:"schema"` // flowrun/plan.v1
	Tool   string               `json:"tool"`
	Params map[string]any       `json:"params"`          // secrets are masked
	Steps  []PreviewStep        `json:"steps"`           // in plan order, nested ones after the step that contains them
	Tools  []PreviewTool        `json:"tools"`           // the tool itself and those it uses, by step
	Needs  []history.LockDemand `json:"needs,omitempty"` // the locks that the run takes at its start
	// MissingSecrets are the secrets of the tool that cannot be fetched, each with the reason.
	MissingSecrets []string `json:"missing_secrets,omitempty"`
	// Notices are what people should know of the run before it starts; see LimitParallel.
	Notices []dag.Notice `json:"notices,omitempty"`
}

// LimitParallel adds a notice for each loop of which fewer items run at once than its max-parallel says, because only most
// steps run at once. For a loop whose items are not known yet it assumes that there are enough.
func (p *Preview) LimitParallel(most int) {
	for _, s := range p.Steps {
		if n, limited := notice.OfLimit(dag.ID(s.ID), s.MaxParallel, s.items, most); limited {
			p.Notices = append(p.Notices, n)
		}
	}
}

// Permissions returns the permissions that the tools ask for, each once, with real paths.
func (p *Preview) Permissions() []string {
	var list []string
	for _, t := range p.Tools {
		for _, n := range t.Permissions {
			if !slices.Contains(list, n.Resolved) {
				list = append(list, n.Resolved)
			}
		}
	}
	return list
}

// PreviewTool is a tool in a Preview: what it asks for, and what it does beside its steps.
type PreviewTool struct {
	Step          string                  `json:"step,omitempty"` // path of the step that uses it; "" for the tool itself
	Name          string                  `json:"name"`
	File          string                  `json:"file,omitempty"`
	Scope         tool.Scope              `json:"scope,omitempty"`
	Tags          []string                `json:"tags,omitempty"`
	Privilege     string                  `json:"execution_privilege,omitempty"`
	Permissions   []permission.Permission `json:"permissions,omitempty"`
	Justification string                  `json:"justification,omitempty"`
	Secrets       []string                `json:"secrets,omitempty"`        // commands that provide secrets
	Sources       []string                `json:"secret_sources,omitempty"` // sources of all secrets: variables, files, commands
	Image         string                  `json:"image,omitempty"`          // of the container that its commands run in
	TempDirectory string                  `json:"temp_directory,omitempty"` // where the temporary directory of the run is made
	Cleanup       []string                `json:"cleanup,omitempty"`        // commands that run after everything else
	Notify        []string                `json:"notify,omitempty"`         // commands and addresses that are notified of the run's end
	RetryRun      string                  `json:"retry_run,omitempty"`      // how often, when and after what a run that failed is retried automatically
	Enforced      []string                `json:"enforced,omitempty"`       // what this machine enforces for its commands, if that is known
	Unenforced    []string                `json:"unenforced,omitempty"`     // what it does not enforce, and why
	Surroundings
}

// PreviewStep is one step of a Preview. Steps of the same wave can run at the same time.
type PreviewStep struct {
	ID          string   `json:"id"`
	Wave        int      `json:"wave"`            // counts from 1, within its tool
	After       []string `json:"after,omitempty"` // the steps that it waits for directly, without those that another of them waits for
	Kind        string   `json:"kind"`
	Command     string   `json:"command"`                // resolved; {step.output} if not known yet
	Interpreter string   `json:"interpreter,omitempty"`  // program that runs the command as a script, with its options
	Loop        string   `json:"loop,omitempty"`         // number of items, or the text that gives the items
	Items       []string `json:"items,omitempty"`        // the items of the loop, if they are known
	MaxParallel int      `json:"max_parallel,omitempty"` // how many items of the loop run at once, if it says so
	Repeat      string   `json:"repeat,omitempty"`       // in words, with the condition as written
	Holds       []string `json:"holds,omitempty"`        // what each attempt holds that runs share
	Machine     string   `json:"machine,omitempty"`      // where its script runs, if not here: ssh USER@HOST port PORT
	Fallback    string   `json:"fallback,omitempty"`     // command that runs after the last failed attempt
	// FallbackInterpreter is the Interpreter of Fallback.
	FallbackInterpreter string `json:"fallback_interpreter,omitempty"`

	Handler   string       `json:"handler,omitempty"` // when it runs: on-failure, or on-failure of STEP
	Condition string       `json:"condition,omitempty"`
	Verdict   expr.Verdict `json:"verdict"` // of the condition
	Why       string       `json:"why,omitempty"`
	Problem   string       `json:"problem,omitempty"` // reason why the step would fail before it starts
	Surroundings

	items int // number of items of the loop; very many if that is not known
}

// Of computes what a call with these parameters would run. If secrets of the tool cannot be fetched,
// it returns the Preview together with a *call.EnvironmentError.
func Of(ctx context.Context, params *call.Params) (*Preview, error) {
	v, _, err := previewWithMask(ctx, params, nil)
	return v, err
}

// OfRun is Of for a run that enforces permissions like this. It also says what this machine enforces.
func OfRun(ctx context.Context, params *call.Params, e call.Enforcement) (*Preview, error) {
	v, _, err := previewWithMask(ctx, params, &e)
	return v, err
}

// previewWithMask is Of, or with enforced OfRun, that also returns the mask with the secrets of the call, even if there is
// an error.
func previewWithMask(ctx context.Context, params *call.Params, ofRun *call.Enforcement) (*Preview, *steps.Mask, error) {
	a := params.Preview()
	defer a.Session().Discard()
	if ofRun != nil {
		a.Enforce(*ofRun)
	}
	mask := a.Session().Mask()
	var done func()
	a.RunEnv, done = a.RunEnv.WithScripts(jsrun.Config{})
	defer done()
	var missing []string
	a.AllowMissing(&missing)
	if err := a.OpenEnvironment(ctx); err != nil {
		return nil, mask, err
	}
	if err := a.ReadState(ctx); err != nil {
		return nil, mask, err
	}
	v := &previewer{ctx: ctx, ofRun: ofRun != nil, out: &Preview{Schema: "flowrun/plan.v1", Tool: params.Plan.Name(), Params: a.Shown()}}
	v.tool(params.Plan, knownOf(a), "")
	if ctx.Err() != nil {
		return nil, mask, context.Cause(ctx)
	}
	if len(missing) > 0 {
		v.out.MissingSecrets = missing
		return v.out, mask, &call.EnvironmentError{Tool: params.Plan.Name(), Problems: cannotFetch(missing)}
	}
	return v.out, mask, nil
}

func cannotFetch(missing []string) []string {
	var problems []string
	for _, m := range missing {
		problems = append(problems, "cannot fetch the secret "+m)
	}
	return problems
}
