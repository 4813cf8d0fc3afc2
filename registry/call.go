package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/history"
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

// The actions. Ask is only for Options.Decide, Cancel only for Options.Confirm.
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
}

// NotApproved is the reason of a refusal that is safe to tell a model: reasons of a policy can name flags, settings and
// the trust in a project, and a model with a shell could change those.
const NotApproved = "no person has approved it"

// Call carries out one call, from the text that a model wrote to the answer. It always returns an Answer, soon after
// ctx is done; before that, a cancelled run completes its cleanup.
func (r *Registry) Call(ctx context.Context, q Request) *Answer {
	c := &call{r, q}
	c.enter(Requested)
	a := c.answer(ctx)
	c.enter(Answered)
	return a
}

// call is one Call in progress.
type call struct {
	*Registry
	request Request
}

func (c *call) enter(s State) {
	if c.options.Trace != nil {
		c.options.Trace(s)
	}
}

func (c *call) answer(ctx context.Context) *Answer {
	text := c.rewritten()
	c.enter(Parsed)
	t, err := c.Get(c.request.Tool)
	switch {
	case ctx.Err() != nil:
		return (&Answer{}).cancelled(ctx)
	case err != nil:
		return notFound(c.request.Tool, err)
	}
	c.enter(Found)
	i, refused := t.Parse(text)
	if refused != nil {
		return invalidArguments(c.changed(t, refused))
	}
	c.enter(Validated)
	i.Run = history.NewID(time.Now())
	if a := c.confirm(ctx, i); a != nil {
		return a
	}
	return c.execute(ctx, i)
}

// changed returns a refusal after the functions of Options have changed it.
func (c *call) changed(t *Tool, r *Refusal) *Refusal {
	for _, f := range c.options.Refused {
		f(t.Name(), r)
	}
	return r.cut()
}

// rewritten returns the text to parse. A text that is too large is not passed to Rewrite; parsing rejects it.
func (c *call) rewritten() string {
	text := c.request.Arguments
	for _, f := range c.options.Rewrite {
		if len(text) > maxInput {
			break
		}
		text = f(c.request.Tool, text)
	}
	return text
}

// confirm returns nil if the call may go ahead, else the answer.
func (c *call) confirm(ctx context.Context, i *Invocation) *Answer {
	j := Decision{Action: Ask}
	if c.options.Decide != nil {
		j = c.options.Decide(ctx, i)
	}
	switch {
	case ctx.Err() != nil:
		return answerOf(i).cancelled(ctx)
	case j.Action == Proceed:
		return nil
	case j.Action == Ask && c.options.Confirm != nil:
		return c.ask(ctx, i)
	}
	j.Reason = cmp.Or(j.Reason, NotApproved)
	return answerOf(i).refused(i, outcome.AnswerNotApproved, j)
}

// ask asks a person about the call.
func (c *call) ask(ctx context.Context, i *Invocation) *Answer {
	c.enter(Confirming)
	shown, err := i.Confirmation(ctx)
	if err != nil && ctx.Err() == nil { // the call would fail, so there is nothing to ask
		c.enter(Declined)
		return answerOf(i).notRun(err)
	}
	var j Decision
	if ctx.Err() == nil {
		j, err = c.options.Confirm(ctx, i, shown)
	}
	switch {
	case ctx.Err() != nil, err == nil && j.Action == Cancel:
		c.enter(Cancelled)
		return answerOf(i).cancelled(ctx)
	case err != nil:
		c.enter(Declined)
		return answerOf(i).notRun(err)
	case j.Action == Proceed:
		c.enter(Confirmed)
		return nil
	}
	c.enter(Declined)
	j.Reason = cmp.Or(j.Reason, "a person rejected the call")
	return answerOf(i).refused(i, outcome.AnswerDeclined, j)
}

// errTooLong is the cause with which a call is stopped that exceeds its time limit.
var errTooLong = errors.New("the call exceeded its time limit")

func (c *call) execute(ctx context.Context, i *Invocation) *Answer {
	c.enter(Executing)
	bounded, stop := context.WithCancel(ctx)
	if c.options.Timeout > 0 {
		bounded, stop = context.WithTimeoutCause(ctx, c.options.Timeout, errTooLong)
	}
	defer stop()
	res, err := i.Execute(bounded)
	c.enter(Executed)
	a := answerOf(i)
	if res == nil {
		switch {
		case errors.Is(context.Cause(bounded), errTooLong):
			return a.tooLong(c.options.Timeout)
		case ctx.Err() != nil:
			return a.cancelled(ctx)
		}
		return a.notRun(err)
	}
	a.Tool, a.Run, a.Result, a.Err = i.Tool.Name(), res.ID, res, err
	def := i.Tool.plan.Definition
	return a.withResult(res, errors.Is(context.Cause(bounded), errTooLong), c.options.Timeout).withOutputs(def).checkOutput(def.ResultSchema())
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
