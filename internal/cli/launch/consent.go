package launch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/internal/observe/audit"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/tooltest"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// ConsentFlags are the flags about approval, shared by all commands that call tools.
type ConsentFlags struct {
	ui.InteractionFlags
	approve, deny   []string
	allowUnenforced bool

	Settings   *config.Config
	ID         string                  // id of the run if it was chosen before the run started
	EntryPoint policy.EntryPoint       // "" means policy.Run
	Library    func() *library.Library // finds tools for calls of models
}

// Declare adds the flags to a command.
func (f *ConsentFlags) Declare(c *cobra.Command) {
	fl := c.Flags()
	fl.StringArrayVar(&f.approve, "auto-approve", nil, "approve tools that match this `pattern`: tool:NAME, tool:TAG, tool:read, tool:write, tool:run or *")
	fl.StringArrayVar(&f.deny, "auto-deny", nil, "refuse tools that match this `pattern`, even if another tool uses them")
	fl.BoolVar(&f.TrustProject, "trust-project", false, "trust the settings and tools of the project for this command only (see flowrun trust)")
	fl.BoolVar(&f.allowUnenforced, "allow-unenforced", false, "run tools although this machine cannot enforce their permissions or limits; the run records what is not enforced")
	words := cobra.FixedCompletions([]string{"tool:read", "tool:write", "tool:run", "tool:", "*"}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)
	c.RegisterFlagCompletionFunc("auto-approve", words)
	c.RegisterFlagCompletionFunc("auto-deny", words)
}

// Check validates the patterns.
func (f *ConsentFlags) Check(c *cobra.Command) error {
	for _, flag := range []struct {
		name string
		list []string
	}{{"auto-approve", f.approve}, {"auto-deny", f.deny}} {
		for _, s := range flag.list {
			if _, err := policy.ParsePattern(s, ""); err != nil {
				return ui.Usagef(c, "--%s: %v", flag.name, err)
			}
		}
	}
	return nil
}

// Rules returns the patterns of flags and settings. They must be valid: Check and ui.LoadSettings
// have validated them.
func (f *ConsentFlags) Rules() (r policy.Rules) {
	add := func(to *[]policy.Pattern, text, origin string, where policy.Place) {
		if p, err := policy.ParsePattern(text, origin); err == nil {
			*to = append(*to, p.In(where))
		}
	}
	for _, s := range f.approve {
		add(&r.Allow, s, "--auto-approve", policy.Anywhere)
	}
	for _, s := range f.deny {
		add(&r.Deny, s, "--auto-deny", policy.Anywhere)
	}
	for _, v := range f.Settings.Get("approvals.allow") {
		where := policy.OfUser
		if v.Origin.Layer == config.Project {
			where = policy.Project
		}
		add(&r.Allow, v.Text(), v.Origin.String(), where)
	}
	for _, v := range f.Settings.Get("approvals.deny") {
		add(&r.Deny, v.Text(), v.Origin.String(), policy.Anywhere)
	}
	return r
}

// Subject is the tool or run that needs consent.
type Subject struct {
	Run        string // id of the run that is resumed; "" for a new run
	Tools      []plan.UsedTool
	Preview    func() (*preview.Preview, error)
	Unrecorded bool // the run is not recorded
}

// Facts returns what the policy needs to know about the tools.
func (s Subject) Facts() (list []policy.Tool) {
	for _, u := range s.Tools {
		list = append(list, describeTool(u, func(*tool.Definition) (file, why string) { return "", "" }))
	}
	return list
}

// describeTool describes one tool for the policy. known returns the path of a definition, and the
// reason, if only its path identifies the definition. It returns "" if name and tags count too.
func describeTool(u plan.UsedTool, known func(*tool.Definition) (file, why string)) policy.Tool {
	var t *policy.Tool
	for _, d := range slices.Backward(sourcesOf(u.Definition)) {
		one := &policy.Tool{Name: d.Name, Tags: d.Tags, Base: t, Place: placeOf(d)}
		one.File, one.Why = known(d)
		one.Changed = one.Why == definitionChanged
		if d.Alias && len(d.Tags) == 0 { // an alias without tags has the tags of its base tool
			one.Tags = t.Tags
		}
		t = one
	}
	t.Path, t.Elevated, t.Trusted = u.Path, u.Definition.Security.ExecutionPrivilege == "elevated", u.Definition.SourceTrusted
	return *t
}

// sourcesOf returns the definitions that a compiled definition was made of, its own first. Only an
// alias has more than one.
func sourcesOf(d *tool.Definition) []*tool.Definition {
	if len(d.MadeOf) > 0 {
		return d.MadeOf // an alias and its base tools
	}
	return []*tool.Definition{d}
}

// placeOf returns where a definition comes from, as far as the policy distinguishes it.
func placeOf(d *tool.Definition) policy.Place {
	switch d.Scope {
	case tool.ScopeLocal:
		return policy.Project
	case tool.ScopeUser, tool.ScopeGlobal:
		return policy.OfUser
	}
	return policy.Anywhere
}

// entryPoint returns the entry point of the calls.
func (f *ConsentFlags) entryPoint() policy.EntryPoint { return cmp.Or(f.EntryPoint, policy.Run) }

// decideNow returns the decision of the policy about what. A person can be asked if there is one at
// the terminal.
func decideNow(env *ui.Env, what Subject, f ConsentFlags) policy.Decision {
	return f.decide(what, env.CanAsk(f.InteractionFlags))
}

// decide returns the decision of the policy. canAsk says whether a person can be asked.
func (f *ConsentFlags) decide(what Subject, canAsk bool) policy.Decision {
	return f.Decide(what.Tools, "", canAsk)
}

// Decide returns the decision of the policy about tools, the first of which is called. written is
// how the caller named that tool, or "" if by its name.
func (f *ConsentFlags) Decide(tools []plan.UsedTool, written string, canAsk bool) policy.Decision {
	if f.entryPoint().ForModels() {
		return f.decideModelCall(tools, written, canAsk)
	}
	return policy.Decide(policy.Request{EntryPoint: f.entryPoint(), Tools: Subject{Tools: tools}.Facts(), Rules: f.Rules(), CanAsk: canAsk})
}

// DecideTests sets Refused in the test cases whose tools may not run. It never asks. It returns the
// flags that apply to tools called by the scripts of the tests.
func DecideTests(cases []tooltest.Case) (*ConsentFlags, error) {
	settings, err := ui.LoadSettings(false)
	if err != nil {
		return nil, err
	}
	f := &ConsentFlags{Settings: settings}
	for i := range cases {
		what := Subject{Tools: cases[i].Plan.Tools()}
		if v := policy.Decide(policy.Request{EntryPoint: policy.Run, Tools: what.Facts(), Rules: f.Rules()}); v.Action != policy.Allow {
			cases[i].Refused = v.Reason
		}
	}
	return f, nil
}

// MayCall implements flowrun.Config.MayCall. A tool that a script calls, and that its permissions
// name, must pass the same rules as the tool of the script. No person is asked, and the tool does
// not count as named by the user. A model does not learn the reason of a refusal.
func (f *ConsentFlags) MayCall(tools []plan.UsedTool) error {
	if f.entryPoint().ForModels() {
		if f.decideModelCall(tools, "", false).Action != policy.Allow {
			return &ui.RefusedError{Reason: registry.NotApproved}
		}
		return nil
	}
	v := policy.Decide(policy.Request{EntryPoint: f.entryPoint(), Declared: true, Tools: Subject{Tools: tools}.Facts(), Rules: f.Rules()})
	if v.Action != policy.Allow {
		return &ui.RefusedError{Reason: v.Reason}
	}
	return nil
}

// PreviewDecision reports in a dry run whether the call would be allowed.
func PreviewDecision(env *ui.Env, what Subject, f ConsentFlags) {
	switch v := decideNow(env, what, f); v.Action {
	case policy.Refuse:
		env.Notef("this would be refused: %s", console.Visible(v.Reason))
	case policy.Ask:
		env.Notef("this would need approval: %s", console.Visible(v.Reason))
	}
}

// Consent applies the policy to a call, and asks the person at the terminal if the policy says so.
// It returns a *ui.RefusedError if the call is refused. An answer or a refusal is written to the
// audit log first; if that fails, the call is not allowed. s is the history if it is already open,
// or nil. id is the id that a new run must have because the audit log names it, or "".
func Consent(env *ui.Env, s ui.History, what Subject, f ConsentFlags) (id string, err error) {
	v := decideNow(env, what, f)
	if v.Action == policy.Allow {
		return "", nil
	}
	d := audit.Decision{Tool: what.Tools[0].Definition.Name, EntryPoint: string(policy.Run), Action: "refused", By: "policy", Reason: v.Reason}
	if src := what.Tools[0].Definition.Source; src != nil {
		d.Definition = tool.DigestOf(src)
	}
	preview, err := what.Preview()
	if err != nil {
		return "", err
	}
	describe(&d, preview)
	if v.Action == policy.Ask {
		yes, err := askConsent(env, v, preview)
		if err != nil {
			return "", err
		}
		d.By, d.Terminal = "terminal", ui.TerminalName(env.Stdin)
		if yes {
			d.Action = "approved"
		}
	}
	if d.Action == "approved" && !what.Unrecorded {
		id = cmp.Or(what.Run, history.NewID(time.Now()))
	}
	// The person at the terminal is the user of this process.
	if err := recordDecision(context.Background(), env, s, cmp.Or(id, what.Run), d); err != nil {
		return "", fmt.Errorf("cannot record the decision about tool %s, so it is not run: %w", d.Tool, err)
	}
	if d.Action != "approved" {
		if d.By == "terminal" {
			v.Reason += ", and the answer was no"
		}
		return "", &ui.RefusedError{Reason: v.Reason, Permissions: d.Permissions, Askable: d.By == "policy" && f.decide(what, true).Action == policy.Ask}
	}
	if what.Run != "" {
		id = "" // a resumed run keeps its id
	}
	return id, nil
}

// RecordCall writes the decision about a call of a model to the audit log. d has the entry point, the reason and who
// decided.
func RecordCall(ctx context.Context, env *ui.Env, s ui.History, i *registry.Invocation, d audit.Decision, approved bool) error {
	plan := i.Tool.Plan()
	d.Tool, d.Action = plan.Name(), "refused"
	if src := plan.Definition.Source; src != nil {
		d.Definition = tool.DigestOf(src)
	}
	run := ""
	if approved {
		d.Action, run = "approved", i.Run
	}
	if preview, err := i.Preview(); err == nil { // a decision is recorded even if the tool cannot run
		describe(&d, preview)
	}
	return recordDecision(ctx, env, s, run, d)
}

// recordDecision writes a decision to the audit log, for the person of history.WithActor or else for the
// user of this process. It does so even if ctx has ended.
func recordDecision(ctx context.Context, env *ui.Env, s ui.History, run string, d audit.Decision) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	note := func(_ context.Context, s ui.History) error {
		return s.Audit().Add(context.WithoutCancel(ctx), map[string]string{"approved": audit.Approve, "refused": audit.Refuse}[d.Action], run, string(text))
	}
	if s != nil {
		return note(ctx, s)
	}
	return env.WriteHistory(note)
}

// askConsent shows a person what would run, and asks. Ctrl-C counts as no.
func askConsent(env *ui.Env, v policy.Decision, p *preview.Preview) (bool, error) {
	yes, err := AskApproval(env, v, p)
	if errors.As(err, new(ui.SignalError)) {
		return false, nil
	}
	return yes, err
}

// AskApproval shows a person what would run, and asks. It returns a ui.SignalError for
// Ctrl-C.
func AskApproval(env *ui.Env, v policy.Decision, p *preview.Preview) (bool, error) {
	card := ApprovalCard(v, p)
	width := cmp.Or(env.StderrWidth(), 80)
	cut, err := card.Write(env.Stderr, width, false)
	if err != nil {
		return false, err
	}
	question := "\nAllow this? [y/N/d]"
	if cut {
		question += " (d shows the full details)"
	}
	return env.Confirm(ui.YesNoQuestion{Text: question + " ", DiscardTyped: true, Details: func() error {
		_, err := card.Write(env.Stderr, width, true)
		return err
	}})
}

// ApprovalCard returns what a person sees before the question.
func ApprovalCard(v policy.Decision, p *preview.Preview) console.Approval {
	card := console.Approval{Why: v.Reason, Tools: p.Tools, Steps: p.Steps}
	for _, name := range ui.SortedKeys(p.Params) {
		card.Params = append(card.Params, console.ApprovalParam{Name: name, Value: ui.ParamText(p.Params[name])})
	}
	return card
}

// describe adds the details of the call to what the audit log keeps. Long parameters are truncated.
func describe(d *audit.Decision, p *preview.Preview) {
	d.Permissions = p.Permissions()
	for _, t := range p.Tools {
		d.Elevated = d.Elevated || t.Privilege == "elevated"
	}
	d.Params = map[string]string{}
	for name, v := range p.Params {
		text := ui.ParamText(v)
		if r := []rune(text); len(r) > maxAuditedParam {
			text = fmt.Sprintf("%s... (%d characters)", string(r[:maxAuditedParam]), len(r))
		}
		d.Params[name] = text
	}
}

// maxAuditedParam is how many characters of a parameter value the audit log keeps.
const maxAuditedParam = 200
