package flowrun

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// ReasonRejected is the reason of a step that asked a person, who said no. Where nobody
// answered it is steps.ReasonUnanswered.
const ReasonRejected = "rejected"

// waitsForPerson is the kind of a dag.Wait that an Answer ends.
const waitsForPerson = "approval"

// maxPrompt bounds what is asked, in bytes: it stands in an event.
const maxPrompt = dag.InlineLimit

// approval is what a step with approve does: it renders the question and leaves the
// step to those who answer (asking.go).
type approval struct {
	def    *tool.Approve
	prompt *expr.Template
}

// approve compiles what a step asks.
func (c *stepCompiler) approve() dag.Runner {
	def := c.step.Approve
	at := ""
	if def.Prompt.Pos != def.Pos {
		at = ".prompt"
	}
	t := c.text(&def.Prompt, "approve"+at, expr.Plain, c.names)
	if t == nil {
		return nil
	}
	if strings.TrimSpace(def.Prompt.S) == "" {
		c.report(tool.Diagnostic{Code: "no-prompt", Severity: tool.Error, Pos: def.Prompt.Pos, Path: c.key("approve" + at),
			Message: "the approval does not say what is asked", Hint: "write the question that a person reads"})
	}
	if h := c.step.ErrorHandling; h.Retry != nil || h.Fallback != nil {
		c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Error, Pos: c.step.Pos, Path: c.key("error-handling"),
			Message: "error-handling has no effect on a step that asks a person: the answer stands", Hint: "remove it; for what follows a no, use on-failure"})
	}
	return &approval{def, t}
}

// Describe says what the step waits for, in words.
func (p *approval) Describe(show func(*expr.Template) string) string { return show(p.prompt) }

func (p *approval) Run(_ context.Context, c *dag.Call) (dag.Result, error) {
	a := c.Args().(*callArgs)
	failed := func(reason, message string) (dag.Result, error) {
		return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: reason, Message: a.Session().Mask().String(message), Permanent: true}, nil
	}
	text, err := p.prompt.Text(a.Scope(c.View))
	switch {
	case err != nil:
		return failed(dag.ReasonInput, fmt.Sprintf("cannot render the prompt: %v", err))
	case !a.answerable:
		return failed(steps.ReasonUnanswered, "nobody can be asked, and the run is not kept, so that nobody could answer later")
	}
	w := &dag.Wait{Kind: waitsForPerson, Asks: true, Prompt: bounded(a.Session().Mask().String(text))}
	if p.def.Form != nil {
		if w.Form, err = json.Marshal(p.def.Form); err != nil {
			return dag.Result{}, err
		}
	}
	if p.def.Timeout > 0 {
		w.Until = time.Now().Add(p.def.Timeout)
		if w.Then, err = p.late(a, c); err != nil {
			return dag.Result{}, err
		}
	}
	return dag.Result{Status: dag.Waiting, Wait: w}, nil
}

// late is what comes of the step when nobody has answered in time.
func (p *approval) late(a *callArgs, c *dag.Call) (*dag.Result, error) {
	r := &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: steps.ReasonUnanswered, Message: fmt.Sprintf("nobody answered within %s", p.def.Timeout)}
	switch p.def.OnTimeout {
	case "reject":
		r.Reason, r.Message = ReasonRejected, r.Message+", which counts as a no"
	case "approve":
		r.Status, r.ExitCode, r.Reason, r.Message = dag.Succeeded, 0, "", r.Message+", which counts as a yes"
		if p.def.Form == nil {
			return r, nil
		}
		text, err := json.Marshal(p.def.Form.Defaults())
		if err != nil {
			return nil, err
		}
		if r.Stdout, err = a.Session().Text(c.Path+"@late", c.Attempt, string(text)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// bounded is a prompt that is not too long, in valid UTF-8.
func bounded(text string) string {
	const cut = " ..."
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxPrompt {
		return text
	}
	end := maxPrompt - len(cut)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cut
}
