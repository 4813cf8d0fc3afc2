package registry_test

import (
	"context"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// caller makes calls as a program does that has a policy, and a person to ask.
type caller struct {
	*registry.Registry
	options
}

type options struct {
	registry.Options
	decide  func(*registry.Invocation) registry.Decision                   // nil: a person is asked
	confirm func(context.Context, *flowrun.Confirmation) registry.Decision // nil: nobody can be asked
}

func newCaller(lib *library.Library, o options) *caller {
	return &caller{registry.New(lib, o.Options), o}
}

// call makes one call from beginning to end.
func (c *caller) call(ctx context.Context, tool, arguments string) *registry.Answer {
	i, answer := c.Read(ctx, registry.Request{Tool: tool, Arguments: arguments})
	if answer != nil {
		return answer
	}
	d := registry.Decision{Action: registry.Ask}
	if c.decide != nil {
		d = c.decide(i)
	}
	if d.Action == registry.Ask && c.confirm != nil {
		shown, answer := i.Ask(ctx)
		if answer != nil {
			return answer
		}
		d = c.confirm(ctx, shown)
	}
	if d.Action != registry.Proceed {
		return i.Reject(ctx, d)
	}
	return i.Do(ctx)
}

// all lets every call go ahead.
func all(*registry.Invocation) registry.Decision {
	return registry.Decision{Action: registry.Proceed}
}
