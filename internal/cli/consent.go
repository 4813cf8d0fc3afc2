package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/policy"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/internal/trial"
	"github.com/flowrun/flowrun/tool"
)

// consentFlags are the flags of every command through which calls come in.
type consentFlags struct {
	asking
	approve, deny []string

	settings *config.Config
	id       string               // of the run, where it was chosen before it began
	door     policy.Door          // "" is policy.Run
	library  func() *tool.Library // where the tools are, of calls of models
}

func (f *consentFlags) declare(c *cobra.Command) {
	fl := c.Flags()
	fl.StringArrayVar(&f.approve, "auto-approve", nil, "approve tools that match this `pattern`: tool:NAME, tool:TAG, tool:read, tool:write, tool:run or *")
	fl.StringArrayVar(&f.deny, "auto-deny", nil, "refuse tools that match this `pattern`, also where another tool uses them")
	fl.BoolVar(&f.trustProject, "trust-project", false, "trust the project for this once, its settings and its tools (see flowrun trust)")
	words := cobra.FixedCompletions([]string{"tool:read", "tool:write", "tool:run", "tool:", "*"}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)
	c.RegisterFlagCompletionFunc("auto-approve", words)
	c.RegisterFlagCompletionFunc("auto-deny", words)
}

// check holds the patterns against their form.
func (f *consentFlags) check(c *cobra.Command) error {
	for _, flag := range []struct {
		name string
		list []string
	}{{"auto-approve", f.approve}, {"auto-deny", f.deny}} {
		for _, s := range flag.list {
			if _, err := policy.ParsePattern(s, ""); err != nil {
				return usagef(c, "--%s: %v", flag.name, err)
			}
		}
	}
	return nil
}

// rules are the patterns of flags and settings, which have been checked.
func (f *consentFlags) rules() (r policy.Rules) {
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
	for _, v := range f.settings.Get("approvals.allow") {
		where := policy.OfUser
		if v.Origin.Layer == config.Project {
			where = policy.Project
		}
		add(&r.Allow, v.Text(), v.Origin.String(), where)
	}
	for _, v := range f.settings.Get("approvals.deny") {
		add(&r.Deny, v.Text(), v.Origin.String(), policy.Anywhere)
	}
	return r
}

// subject is what somebody wants to run.
type subject struct {
	run        string // that is taken up again; "" for a new one
	tools      []flowrun.UsedTool
	preview    func() (*flowrun.Preview, error)
	unrecorded bool // the run is not put on record
}

// facts are what the policy judges by.
func (s subject) facts() (list []policy.Tool) {
	for _, u := range s.tools {
		list = append(list, factsOf(u, func(*tool.Definition) (file, why string) { return "", "" }))
	}
	return list
}

// factsOf are those of one tool; known is the path that a definition is known by alone,
// with the reason, "" where its name and tags count.
func factsOf(u flowrun.UsedTool, known func(*tool.Definition) (file, why string)) policy.Tool {
	var t *policy.Tool
	for _, d := range slices.Backward(madeOf(u.Definition)) {
		one := &policy.Tool{Name: d.Name, Tags: d.Tags, Base: t, Place: placeOf(d)}
		one.File, one.Why = known(d)
		if d.Alias && len(d.Tags) == 0 { // it has its base tool's
			one.Tags = t.Tags
		}
		t = one
	}
	t.Path, t.Elevated = u.Path, u.Definition.Security.ExecutionPrivilege == "elevated"
	return *t
}

// madeOf are the definitions that a compiled one was made of, its own first.
func madeOf(d *tool.Definition) []*tool.Definition {
	if len(d.MadeOf) > 0 {
		return d.MadeOf // of an alias
	}
	return []*tool.Definition{d}
}

// placeOf is whose tool a definition is.
func placeOf(d *tool.Definition) policy.Place {
	switch d.Scope {
	case tool.ScopeLocal:
		return policy.Project
	case tool.ScopeUser, tool.ScopeGlobal:
		return policy.OfUser
	}
	return policy.Anywhere
}

// at is the door that calls come in through.
func (f *consentFlags) at() policy.Door { return cmp.Or(f.door, policy.Run) }

// judge is what the policy says of it.
func (env *Env) judge(what subject, f consentFlags) policy.Verdict {
	return f.judge(what, env.canAsk(f.asking))
}

// judge is what the policy says where a person can be asked, or cannot.
func (f *consentFlags) judge(what subject, canAsk bool) policy.Verdict {
	return f.verdict(what.tools, "", canAsk)
}

// verdict is what the policy says of tools, the first of which is called; written is how
// the caller named it, "" for by its name.
func (f *consentFlags) verdict(tools []flowrun.UsedTool, written string, canAsk bool) policy.Verdict {
	if f.at() == policy.Call {
		return f.modelVerdict(tools, written, canAsk)
	}
	return policy.Decide(policy.Request{Door: f.at(), Tools: subject{tools: tools}.facts(), Rules: f.rules(), CanAsk: canAsk})
}

// judgeTests marks the tests of tools that may not run, and answers what else they are held
// against. Nobody is asked for a test.
func (env *Env) judgeTests(cases []trial.Case) (*consentFlags, error) {
	settings, err := env.configuration(false)
	if err != nil {
		return nil, err
	}
	f := &consentFlags{settings: settings}
	for i := range cases {
		what := subject{tools: cases[i].Plan.Tools()}
		if v := policy.Decide(policy.Request{Door: policy.Run, Tools: what.facts(), Rules: f.rules()}); v.Decision != policy.Allow {
			cases[i].Refused = v.Reason
		}
	}
	return f, nil
}

// mayCall is flowrun.Config.MayCall: a tool that a script calls, and that its permissions
// name, is held against the same rules as the tool that the script is of. Nobody is asked,
// and nobody has named it.
func (f *consentFlags) mayCall(tools []flowrun.UsedTool) error {
	var v policy.Verdict
	if f.at() == policy.Call {
		v = f.modelVerdict(tools, "", false)
	} else {
		v = policy.Decide(policy.Request{Door: f.at(), Declared: true, Tools: subject{tools: tools}.facts(), Rules: f.rules()})
	}
	if v.Decision != policy.Allow {
		return &refusedError{reason: v.Reason}
	}
	return nil
}

// foresee tells at a dry run what would become of the call.
func (env *Env) foresee(what subject, f consentFlags) {
	switch v := env.judge(what, f); v.Decision {
	case policy.Refuse:
		env.say("this would be refused: %s", console.Visible(v.Reason))
	case policy.Ask:
		env.say("this would ask a person: %s", console.Visible(v.Reason))
	}
}

// consent lets a call go ahead, asks a person, or refuses with a *refusedError. What was
// asked or refused is recorded first; id is the run's, where the record names it. s is
// the history where it is open already.
func (env *Env) consent(s *sqlite.Store, what subject, f consentFlags) (id string, err error) {
	v := env.judge(what, f)
	if v.Decision == policy.Allow {
		return "", nil
	}
	d := decision{Tool: what.tools[0].Definition.Name, Door: string(policy.Run), Verdict: "refused", By: "policy", Reason: v.Reason}
	if src := what.tools[0].Definition.Source; src != nil {
		d.Definition = tool.DigestOf(src)
	}
	preview, err := what.preview()
	if err != nil {
		return "", err
	}
	d.describe(preview)
	if v.Decision == policy.Ask {
		yes, err := env.inquire(v, preview)
		if err != nil {
			return "", err
		}
		d.By, d.Terminal = "terminal", terminalName(env.Stdin)
		if yes {
			d.Verdict = "approved"
		}
	}
	if d.Verdict == "approved" && !what.unrecorded {
		id = cmp.Or(what.run, flowrun.NewID(time.Now()))
	}
	if err := env.record(s, cmp.Or(id, what.run), d); err != nil {
		return "", fmt.Errorf("cannot record the decision about tool %s, so it is not run: %w", d.Tool, err)
	}
	if d.Verdict != "approved" {
		if d.By == "terminal" {
			v.Reason += ", and the answer was no"
		}
		return "", &refusedError{reason: v.Reason, permissions: d.Permissions, askable: d.By == "policy" && f.judge(what, true).Decision == policy.Ask}
	}
	if what.run != "" {
		id = "" // it keeps its own
	}
	return id, nil
}

// record writes a decision into the audit list.
func (env *Env) record(s *sqlite.Store, run string, d decision) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	note := func(ctx context.Context, s *sqlite.Store) error {
		return s.Audit(ctx, map[string]string{"approved": auditApprove, "refused": auditRefuse}[d.Verdict], run, string(text))
	}
	if s != nil {
		return note(context.Background(), s)
	}
	return env.writing(note)
}

// inquire shows a person what is to run, and asks. Ctrl-C is a no.
func (env *Env) inquire(v policy.Verdict, p *flowrun.Preview) (bool, error) {
	yes, err := env.putTo(v, p)
	if errors.As(err, new(interrupted)) {
		return false, nil
	}
	return yes, err
}

// putTo is inquire with an interrupted error for Ctrl-C.
func (env *Env) putTo(v policy.Verdict, p *flowrun.Preview) (bool, error) {
	card := approval(v, p)
	width := cmp.Or(env.errWidth(), 80)
	cut, err := card.Write(env.Stderr, width, false)
	if err != nil {
		return false, err
	}
	question := "\nAllow this? [y/N/d]"
	if cut {
		question += " (d shows what was left out)"
	}
	return env.decide(inquiry{text: question + " ", grave: true, details: func() error {
		_, err := card.Write(env.Stderr, width, true)
		return err
	}})
}

// approval is what a person is shown.
func approval(v policy.Verdict, p *flowrun.Preview) console.Approval {
	card := console.Approval{Why: v.Reason}
	for _, t := range p.Tools {
		one := console.ApprovalTool{Step: t.Step, Name: t.Name, File: t.File, Scope: string(t.Scope), Tags: t.Tags, Privilege: t.Privilege,
			Justification: t.Justification, Secrets: t.Sources, Cleanup: t.Cleanup, Notify: t.Notify, Around: around(t.Surroundings)}
		for _, n := range t.Permissions {
			one.Permissions = append(one.Permissions, console.ApprovalPermission{Resolved: n.Resolved, Written: n.Written})
		}
		card.Tools = append(card.Tools, one)
	}
	for _, name := range sortedKeys(p.Params) {
		card.Params = append(card.Params, console.ApprovalParam{Name: name, Value: inWords(p.Params[name])})
	}
	for _, s := range p.Steps {
		card.Steps = append(card.Steps, console.ApprovalStep{ID: s.ID, Kind: s.Kind, Command: s.Command, Condition: s.Condition, Fallback: s.Fallback, Around: around(s.Surroundings)})
	}
	return card
}

// around is what a person is shown of surroundings.
func around(s flowrun.Surroundings) console.ApprovalAround {
	a := console.ApprovalAround{EnvFiles: s.EnvFiles, Input: s.Input, Runtime: s.Runtime}
	for _, v := range s.Environment {
		a.Environment = append(a.Environment, console.ApprovalVariable(v))
	}
	return a
}

// inWords is a parameter's value as text; what is no text as JSON.
func inWords(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// describe adds what the call was about.
func (d *decision) describe(p *flowrun.Preview) {
	d.Permissions = p.Permissions()
	for _, t := range p.Tools {
		d.Elevated = d.Elevated || t.Privilege == "elevated"
	}
	d.Params = map[string]string{}
	for name, v := range p.Params {
		text := inWords(v)
		if r := []rune(text); len(r) > mostAudited {
			text = fmt.Sprintf("%s... (%d characters)", string(r[:mostAudited]), len(r))
		}
		d.Params[name] = text
	}
}

// mostAudited is how many characters of a parameter stand in the audit list.
const mostAudited = 200
