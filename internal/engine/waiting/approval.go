package waiting

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// ReasonRejected is the reason of an approval step that a person has rejected. If nobody answered,
// the reason is steps.ReasonUnanswered.
const ReasonRejected = "rejected"

// kindApproval is the kind of a dag.Wait that an Answer ends.
const kindApproval = "approval"

// maxPrompt is the maximum length of a prompt, in bytes. It is part of an event.
const maxPrompt = dag.InlineLimit

// Approval runs an approval step: it renders the question and lets the step wait. Broker delivers
// the question and the answer.
type Approval struct {
	Def    *tool.Approve
	Prompt *expr.Template
}

// Describe returns the question, and what happens if nobody answers in time.
func (p *Approval) Describe(show func(*expr.Template) string) string {
	text := show(p.Prompt)
	if p.Def.Timeout > 0 {
		text += fmt.Sprintf("\n(without an answer in %s: %s)", p.Def.Timeout, cmp.Or(p.Def.OnTimeout, "fail"))
	}
	if p.Def.Hold {
		text += "\n(the run keeps its locks until the answer)"
	}
	return text
}

// Run implements dag.Runner.
func (p *Approval) Run(_ context.Context, c *dag.Call) (dag.Result, error) {
	a := call.FrameOf(c.Args())
	failed := func(reason, message string) (dag.Result, error) {
		return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: reason, Message: a.Session().Mask().String(message), Permanent: true}, nil
	}
	text, err := p.Prompt.Text(a.Scope(c.View))
	switch {
	case err != nil:
		return failed(dag.ReasonInput, fmt.Sprintf("cannot render the prompt: %v", err))
	case !a.Answerable:
		return failed(terminal.ReasonUnanswered, "there is nobody to ask, and the run is not recorded, so it cannot be answered later")
	}
	w := &dag.Wait{Kind: kindApproval, Asks: true, Hold: p.Def.Hold, Prompt: truncatePrompt(a.Session().Mask().String(text))}
	if p.Def.Form != nil {
		if w.Form, err = json.Marshal(p.Def.Form); err != nil {
			return dag.Result{}, err
		}
	}
	if p.Def.Timeout > 0 {
		w.Until = time.Now().Add(p.Def.Timeout)
		if w.Then, err = p.timeoutResult(a, c); err != nil {
			return dag.Result{}, err
		}
	}
	return dag.Result{Status: dag.Waiting, Wait: w}, nil
}

// timeoutResult returns the result of the step if nobody answers in time.
func (p *Approval) timeoutResult(a *call.Frame, c *dag.Call) (*dag.Result, error) {
	r := &dag.Result{Status: dag.Failed, ExitCode: 1, Reason: terminal.ReasonUnanswered, Message: fmt.Sprintf("no answer within %s", p.Def.Timeout)}
	switch p.Def.OnTimeout {
	case "reject":
		r.Reason, r.Message = ReasonRejected, r.Message+", which counts as a rejection"
	case "approve":
		r.Status, r.ExitCode, r.Reason, r.Message = dag.Succeeded, 0, "", r.Message+", which counts as an approval"
		if p.Def.Form == nil {
			return r, nil
		}
		text, err := json.Marshal(p.Def.Form.Defaults())
		if err != nil {
			return nil, err
		}
		if r.Stdout, err = a.Session().Text(c.Path+"@late", c.Attempt, string(text)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// truncatePrompt returns text as valid UTF-8 of at most maxPrompt bytes.
func truncatePrompt(text string) string {
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
