package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/library"
)

// Request is a call that a model asks for: a tool and the text of its arguments, as the model wrote them.
type Request struct{ Tool, Arguments string }

// State says how far a call has come.
type State string

// The states, in the order in which a call passes through them. Confirming and what follows up to Cancelled are for
// calls that need a person's decision, which leads to one of the last three of these.
const (
	Requested  State = "requested"
	Parsed     State = "parsed"    // the final text of the arguments is known
	Found      State = "found"     // the tool exists
	Validated  State = "validated" // the arguments have one valid reading
	Confirming State = "confirming"
	Confirmed  State = "confirmed"
	Declined   State = "declined"
	Cancelled  State = "cancelled"
	Executing  State = "executing"
	Executed   State = "executed"
	Answered   State = "answered"
)

// Action says what happens to a call before it is executed.
type Action string

// The actions. Ask comes before a person was asked, Cancel after.
const (
	Proceed Action = "proceed"
	Refuse  Action = "refuse"
	Ask     Action = "ask"
	Cancel  Action = "cancel"
)

// Decision is an Action with its reason in a sentence, and what a rejected caller can do.
type Decision struct {
	Action Action
	Reason string // "": NotApproved, or that a person rejected the call
	Hint   string // for model and person; "": not to repeat the call
	// Advice says what a person can do so that such calls are approved. The model does not see it, because it could
	// do that itself.
	Advice string
	// Err is why nobody could decide; then the call is not run, whatever the Action.
	Err error
}

// NotApproved is the reason of a refusal that is safe to tell a model: reasons of a policy can name flags, settings and
// the trust in a project, and a model with a shell could change those.
const NotApproved = "no person has approved it"

func (r *Registry) enter(s State) {
	if r.options.Trace != nil {
		r.options.Trace(s)
	}
}

// answered ends a call.
func (r *Registry) answered(a *Answer) *Answer {
	r.enter(Answered)
	return a
}

// Read takes a call up to the decision about it: it finds the tool, and parses the arguments. It returns either the
// Invocation, or the Answer to a call that is not valid.
func (r *Registry) Read(ctx context.Context, q Request) (*Invocation, *Answer) {
	r.enter(Requested)
	text := r.rewritten(q)
	r.enter(Parsed)
	t, err := r.Get(q.Tool)
	switch {
	case ctx.Err() != nil:
		return nil, r.answered((&Answer{}).cancelled(ctx))
	case err != nil:
		return nil, r.answered(notFound(q.Tool, err))
	}
	r.enter(Found)
	i, refused := t.parse(text)
	if refused != nil {
		return nil, r.answered(invalidArguments(r.changed(t, refused)))
	}
	r.enter(Validated)
	return i, nil
}

// changed returns a refusal after the functions of Options have changed it.
func (r *Registry) changed(t *Tool, refused *Refusal) *Refusal {
	for _, f := range r.options.Refused {
		f(t.Name(), refused)
	}
	return refused.cut()
}

// rewritten returns the text to parse. A text that is too large is not passed to Rewrite; parsing rejects it.
func (r *Registry) rewritten(q Request) string {
	text := q.Arguments
	for _, f := range r.options.Rewrite {
		if len(text) > maxInput {
			break
		}
		text = f(q.Tool, text)
	}
	return text
}

// Ask returns what to show a person who decides about the call. If the call would fail, there is nothing to ask, and it
// returns the Answer instead.
func (c *Invocation) Ask(ctx context.Context) (*flowrun.Confirmation, *Answer) {
	c.asked = true
	c.Tool.registry.enter(Confirming)
	shown, err := c.Confirmation(ctx)
	if err != nil || ctx.Err() != nil {
		return nil, c.Reject(ctx, Decision{Err: err})
	}
	return shown, nil
}

// Reject returns the Answer to a call that does not go ahead: it was cancelled, or nobody could decide, or the rules or,
// after Ask, a person rejected it.
func (c *Invocation) Reject(ctx context.Context, d Decision) *Answer {
	r, a, state := c.Tool.registry, answerOf(c), Declined
	switch {
	case ctx.Err() != nil, d.Err == nil && d.Action == Cancel:
		a, state = a.cancelled(ctx), Cancelled
	case d.Err != nil:
		a = a.notRun(d.Err)
	case c.asked:
		d.Reason = cmp.Or(d.Reason, "a person rejected the call")
		a = a.refused(c, outcome.AnswerDeclined, d)
	default:
		d.Reason = cmp.Or(d.Reason, NotApproved)
		a = a.refused(c, outcome.AnswerNotApproved, d)
	}
	if c.asked {
		r.enter(state)
	}
	return r.answered(a)
}

// errTooLong is the cause with which a call is stopped that exceeds its time limit.
var errTooLong = errors.New("the call exceeded its time limit")

// Do executes a call that was approved, within the time limit of Options. It returns soon after ctx is done, once a
// cancelled run has completed its cleanup.
func (c *Invocation) Do(ctx context.Context, options ...flowrun.RunOption) *Answer {
	if ctx.Err() != nil {
		return c.Reject(ctx, Decision{Action: Cancel})
	}
	r, limit := c.Tool.registry, c.Tool.registry.options.Timeout
	if c.asked {
		r.enter(Confirmed)
	}
	r.enter(Executing)
	bounded, stop := context.WithCancel(ctx)
	if limit > 0 {
		bounded, stop = context.WithTimeoutCause(ctx, limit, errTooLong)
	}
	defer stop()
	res, err := r.options.Engine.RunBound(bounded, c.bound, append(slices.Clip(options), flowrun.WithID(c.Run))...)
	r.enter(Executed)
	tooLong, a := errors.Is(context.Cause(bounded), errTooLong), answerOf(c)
	switch {
	case res != nil:
		a.Tool, a.Run, a.Result, a.Err = c.Tool.Name(), res.ID, res, err
		def := c.Tool.plan.Definition
		a = a.withResult(res, tooLong, limit).withOutputs(def).checkOutput(def.ResultSchema())
	case tooLong:
		a = a.tooLong(limit)
	case ctx.Err() != nil:
		a = a.cancelled(ctx)
	default:
		a = a.notRun(err)
	}
	return r.answered(a)
}

// notFound returns the answer to a call of a tool that cannot be called: the name is unknown, or the definition is
// not valid.
func notFound(name string, err error) *Answer {
	a, o := &Answer{Err: err}, outcome.Of(err)
	e, note := &Error{Code: o.Answer, Message: err.Error()}, ""
	switch {
	case o.Answer == outcome.AnswerInvalidDefinition:
		e.Message, e.Hint = fmt.Sprintf("the definition of tool %s is not valid: %v", name, err), "flowrun validate lists the problems"
	case unknown(o, name):
		e.Message, e.Hint, e.Suggestions = fmt.Sprintf("there is no tool %q", cutText(name, maxName)), "call one of the declared tools", o.Near
		note = o.Note
		if missing := (*library.NotFoundError)(nil); errors.As(err, &missing) && missing.Reason != "" {
			e.Hint = missing.Reason
		}
	case errors.As(err, new(*library.AmbiguousNameError)):
		e.Hint, e.Suggestions = "call it by one of these names", o.Near
	case o.Answer == outcome.AnswerNotFound: // a tool that the definition uses
		e.Code = outcome.AnswerInvalidDefinition
	case errors.Is(err, errPath):
		e.Code = outcome.AnswerNotFound
	default:
		e.Code, e.Message = outcome.AnswerNotFound, fmt.Sprintf("cannot read tool %s: %v", name, err)
	}
	e.Message = cutText(e.Message, maxErrorText)
	return a.failed(e).advise(note)
}

// unknown reports whether the error is that there is no tool of this name, rather than no tool that its definition
// uses.
func unknown(o *outcome.Report, name string) bool {
	return o.Answer == outcome.AnswerNotFound && o.Subject == name
}
