package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/internal/observe/audit"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/registry"
)

// approver decides which calls of models are allowed, and asks the user at the terminal if
// there is one. It records every question and refusal in the audit log.
type approver struct {
	env     *ui.Env
	flags   callFlags
	store   ui.History
	request registry.Request

	plan     *engine.Plan    // the called tool; nil until it is known
	decision policy.Decision // the decision of the policy
}

// answer returns nil if the call may go ahead, else its answer.
func (d *approver) answer(ctx context.Context, i *registry.Invocation) *registry.Answer {
	j := d.decide(ctx, i)
	if j.Action == registry.Ask {
		shown, answer := i.Ask(ctx)
		if answer != nil {
			return answer
		}
		j = d.confirm(ctx, i, shown)
	}
	if j.Action != registry.Proceed {
		return i.Reject(ctx, j)
	}
	return nil
}

// decide returns the decision of the policy.
func (d *approver) decide(ctx context.Context, i *registry.Invocation) registry.Decision {
	d.plan = i.Tool.Plan()
	d.decision = d.policyDecision(d.env.CanAsk(d.flags.InteractionFlags))
	switch d.decision.Action {
	case policy.Allow:
		return registry.Decision{Action: registry.Proceed}
	case policy.Ask:
		return registry.Decision{Action: registry.Ask}
	}
	j := registry.Decision{Action: registry.Refuse, Advice: strings.TrimSpace(d.decision.Reason + ".\n" + d.advice())}
	if err := d.record(ctx, i, "policy", false); err != nil && ui.Verbose(d.flags.Progress) {
		d.env.Notef("cannot record the refusal: %v", err)
	}
	return j
}

// policyDecision returns the decision of the policy. canAsk says whether a person can be asked.
func (d *approver) policyDecision(canAsk bool) policy.Decision {
	return d.flags.Decide(d.plan.Tools(), d.request.Tool, canAsk)
}

// advice returns a hint for a person how a refused call could be allowed, or "" if it cannot be.
func (d *approver) advice() string {
	if d.policyDecision(true).Action != policy.Ask {
		return ""
	}
	facts := d.flags.ModelFacts(d.plan.Tools(), d.request.Tool)
	hint := "Make the call at a terminal, where flowrun asks you."
	if !slices.ContainsFunc(facts, func(t policy.Tool) bool { return t.Elevated }) {
		hint = fmt.Sprintf("Allow it with --auto-approve %s, or approvals.allow in config.yaml. At a terminal flowrun asks you.", shellword.Sh("tool:"+cmp.Or(facts[0].Written, facts[0].File, facts[0].Name)))
	}
	if slices.ContainsFunc(facts, func(t policy.Tool) bool { return t.File != "" && t.Place == policy.Project }) {
		hint += " flowrun trust makes the settings of the project apply, and the names and tags of its tools count."
	}
	if t := d.flags.Settings.Trust; slices.Contains(t.Ignored(), "approvals.allow") {
		hint += fmt.Sprintf(" approvals.allow of %s is ignored because the project is not trusted.", t.Folder)
	}
	return hint
}

// confirm asks the person at the terminal.
func (d *approver) confirm(ctx context.Context, i *registry.Invocation, shown *gostep.Confirmation) registry.Decision {
	preview, err := i.Preview()
	if err != nil {
		return registry.Decision{Err: err}
	}
	d.show(shown)
	yes, err := launch.AskApproval(d.env, d.decision, preview)
	if errors.As(err, new(ui.SignalError)) || ctx.Err() != nil {
		return registry.Decision{Action: registry.Cancel}
	}
	if err != nil {
		return registry.Decision{Err: err}
	}
	if err := d.record(ctx, i, "terminal", yes); err != nil {
		return registry.Decision{Err: fmt.Errorf("cannot record the decision about tool %s, so it is not run: %w", d.plan.Name(), err)}
	}
	if !yes {
		return registry.Decision{Action: registry.Refuse}
	}
	return registry.Decision{Action: registry.Proceed}
}

// record writes the decision to the audit log.
func (d *approver) record(ctx context.Context, i *registry.Invocation, by string, approved bool) error {
	return launch.RecordCall(ctx, d.env, d.store, i, audit.Decision{EntryPoint: string(policy.Call), By: by, Reason: d.decision.Reason}, approved)
}

// show prints what the call would do, in the tool's own words.
func (d *approver) show(c *gostep.Confirmation) {
	fmt.Fprintf(d.env.Stderr, "A model calls a tool: %s\n", console.Visible(c.Title))
	if c.Text != "" {
		fmt.Fprintln(d.env.Stderr, console.Block(c.Text))
	}
	if c.Diff != nil {
		fmt.Fprint(d.env.Stderr, d.diff(c.Diff))
	}
	fmt.Fprintln(d.env.Stderr)
}

// diff returns the change of a file as a unified diff. Where colours are on, removed lines are red
// and added lines green.
func (d *approver) diff(f *gostep.FileDiff) string {
	var b strings.Builder
	color := d.env.Colored(d.env.Stderr)
	for line := range strings.Lines(f.FileDiff) {
		line = console.VisibleLine(strings.TrimSuffix(line, "\n"))
		if code := map[bool]string{true: diffColor(line)}[color]; code != "" {
			line = "\x1b[" + code + "m" + line + "\x1b[0m"
		}
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}

func diffColor(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return "1"
	case strings.HasPrefix(line, "@@"):
		return "36"
	case strings.HasPrefix(line, "+"):
		return "32"
	case strings.HasPrefix(line, "-"):
		return "31"
	}
	return ""
}
