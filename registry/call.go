package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/outcome"
)

// Request is what a model asks for: a tool and the text of its arguments, as it wrote them.
type Request struct{ Tool, Arguments string }

// State is how far a call has come.
type State string

// The states, in the order in which a call comes to them. Those from Confirming to
// Cancelled are for calls that need a person's word, of which it has one of the last three.
const (
	Requested  State = "requested"
	Parsed     State = "parsed"    // it is a request, and the text is what is read
	Found      State = "found"     // there is such a tool
	Validated  State = "validated" // the arguments have one valid reading
	Confirming State = "confirming"
	Confirmed  State = "confirmed"
	Declined   State = "declined"
	Cancelled  State = "cancelled"
	Executing  State = "executing"
	Executed   State = "executed"
	Answered   State = "answered"
)

// Action is what becomes of a call before it is executed.
type Action string

// The decisions. Ask is for Options.Judge alone, Cancel for Options.Confirm.
const (
	Proceed Action = "proceed"
	Refuse  Action = "refuse"
	Ask     Action = "ask"
	Cancel  Action = "cancel"
)

// Decision is a Decision, why in a sentence, and what a caller who is refused can do.
type Decision struct {
	Action Action
	Reason string
	Hint   string // for model and person
	// Advice is what a person can do so that such calls are approved. The model is not
	// told: it could do it as well.
	Advice string
}

// Call goes the whole way from what a model wrote to what it is answered. It always answers,
// and soon after ctx is done; what a cancelled run has to clean up is cleaned up before.
func (r *Registry) Call(ctx context.Context, q Request) *Answer {
	c := &call{r, q}
	c.enter(Requested)
	a := c.answer(ctx)
	c.enter(Answered)
	return a
}

// call is one Call on its way.
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
		return invalidArguments(refused)
	}
	c.enter(Validated)
	i.Run = flowrun.NewID(time.Now())
	if a := c.confirm(ctx, i); a != nil {
		return a
	}
	return c.execute(ctx, i)
}

// rewritten is the text that is read. One that is too large is refused where it is
// read, and not handed around before.
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

// confirm is nil where the call goes ahead.
func (c *call) confirm(ctx context.Context, i *Invocation) *Answer {
	j := Decision{Action: Ask}
	if c.options.Decide != nil {
		j = c.options.Decide(i)
	}
	switch {
	case ctx.Err() != nil:
		return answerOf(i).cancelled(ctx)
	case j.Action == Proceed:
		return nil
	case j.Action == Ask && c.options.Confirm != nil:
		return c.ask(ctx, i)
	}
	if j.Reason == "" {
		j.Reason = fmt.Sprintf("tool %q is not approved, and there is nobody to ask", i.Tool.Name())
	}
	return answerOf(i).refused(i, CodeNotApproved, j)
}

// ask puts the call to a person.
func (c *call) ask(ctx context.Context, i *Invocation) *Answer {
	c.enter(Confirming)
	shown, err := i.Confirmation(ctx)
	if err != nil && ctx.Err() == nil { // it would fail: no reason to ask
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
	if j.Reason == "" {
		j.Reason = "a person rejected the call"
	}
	return answerOf(i).refused(i, CodeDeclined, j)
}

// errTooLong is why a call is stopped that takes longer than it may.
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
	return a.told(res, errors.Is(context.Cause(bounded), errTooLong), c.options.Timeout)
}

// notFound answers a call of a tool that cannot be called: there is none of that name, or
// its definition is not valid.
func notFound(name string, err error) *Answer {
	a, o := &Answer{Err: err}, outcome.Of(err)
	e, note := &Error{Code: o.Answer, Message: err.Error()}, ""
	switch {
	case o.Answer == CodeInvalidDefinition:
		e.Message, e.Hint = fmt.Sprintf("the definition of tool %s is not valid: %v", name, err), "flowrun validate lists the problems"
	case unknown(o, name):
		e.Message, e.Hint, e.Suggestions = fmt.Sprintf("there is no tool %q", cutText(name, maxName)), "call one of the declared tools", o.Near
		note = o.Note
	case o.Answer == CodeNotFound: // one that its definition uses
		e.Code = CodeInvalidDefinition
	case errors.Is(err, errPath):
		e.Code = CodeNotFound
	default:
		e.Code, e.Message = CodeNotFound, fmt.Sprintf("cannot read tool %s: %v", name, err)
	}
	e.Message = cutText(e.Message, maxTold)
	return a.failed(e).advise(note)
}

// unknown reports whether an error is that there is no tool of this name, and not of one
// that its definition uses.
func unknown(o *outcome.Report, name string) bool {
	return o.Answer == CodeNotFound && o.Subject == name
}
