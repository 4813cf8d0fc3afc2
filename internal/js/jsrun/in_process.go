package jsrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/flowrun/flowrun/internal/js/jsworld"
)

// runInProcess runs the call in this process.
func (c *call) runInProcess(ctx context.Context) (json.RawMessage, error) {
	p, f := c.Script.compiled()
	if f != nil {
		return nil, c.Script.error(f)
	}
	w := jsworld.NewWorld()
	ctx, done := c.withTimeLimit(ctx)
	var hostCalls sync.WaitGroup
	defer hostCalls.Wait()
	defer done()
	defer context.AfterFunc(ctx, func() { w.Abort(jsworld.Failed(KindLost, "the call was cancelled")) })()
	t := &jsworld.Task{Program: p, Entry: c.Entry, Vars: c.vars, Limit: c.limit}
	if c.Ask != nil {
		t.Ask = func(id uint64, op string, args json.RawMessage) {
			if id == 0 {
				c.notify(ctx, op, args)
				return
			}
			hostCalls.Go(func() { w.Answer(c.answer(ctx, id, op, args)) })
		}
	}
	result, f := w.Run(t, nil)
	return c.result(ctx, result, f)
}

// withTimeLimit returns ctx with the call's own time limit, which applies to its host calls too.
// When this limit is reached, a script that can be interrupted has been interrupted already.
func (c *call) withTimeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout == 0 {
		return context.WithCancel(ctx)
	}
	late := &Error{Kind: KindTimeout, Message: fmt.Sprintf("the script took longer than %v", c.Timeout), Pos: c.Script.text.Pos}
	return context.WithTimeoutCause(ctx, c.Timeout+jsworld.Grace, late)
}

// result converts what a script returned into the result of its call.
func (c *call) result(ctx context.Context, raw json.RawMessage, f *jsworld.Failure) (json.RawMessage, error) {
	if f == nil {
		return raw, nil
	}
	c.state = f.State
	if (f.Kind == KindLost || f.Kind == KindThrown) && ctx.Err() != nil { // a failed host call may have the same cause
		return nil, context.Cause(ctx)
	}
	return nil, c.Script.error(f)
}

// answer calls Ask and returns its answer. It refuses the host call if too many are pending.
func (c *call) answer(ctx context.Context, id uint64, op string, args json.RawMessage) jsworld.Answer {
	a := jsworld.Answer{ID: id}
	if !c.pending.add(len(args)) {
		a.Error = jsworld.Failed(KindThrown, "too many pending calls: more than %d, or more than %d MiB; await some of them first", maxPendingCalls, jsworld.MaxFrame>>20)
		return a
	}
	defer c.pending.remove(len(args))
	v, err := c.Ask(ctx, op, args)
	if err == nil {
		a.Value, err = json.Marshal(v)
	}
	if err != nil {
		a.Error = jsworld.Failed(KindThrown, "%v", err)
		var named *Error
		if errors.As(err, &named) {
			a.Error.Name, a.Error.Message = named.Name, jsworld.Shorten(named.Message)
		}
	}
	return a
}

// notify passes on a host call that needs no answer.
func (c *call) notify(ctx context.Context, op string, args json.RawMessage) {
	if c.Ask != nil {
		c.Ask(ctx, op, args)
	}
}
