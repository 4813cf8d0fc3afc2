package gostep

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/value"
)

// Sentence is the call in words: what Describe says of the parameters; where they are not all
// known before the run, and it might say something wrong of them, what the tool is for.
func (t *GoTool) Sentence(a *call.Args) string {
	if a != nil && !a.Guessed && t.Describe != nil {
		if text, ok := t.Described(InputOf(a).Params); ok {
			return value.OneLine(text, MostDescribed)
		}
	}
	purpose, _, _ := strings.Cut(t.Description, ". ") // the rest is for models
	return cmp.Or(value.OneLine(strings.TrimRight(purpose, "."), MostDescribed), "(Go function)")
}

// Described is what the tool's Describe says; nothing where that panics.
func (t *GoTool) Described(params map[string]any) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return t.Describe(params), true
}

// Confirmed is what the tool's Confirm says; that it panicked is an error.
func (t *GoTool) Confirmed(ctx context.Context, in *StepInput) (c *Confirmation, err error) {
	defer func() {
		if v := recover(); v != nil {
			c, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	return t.Confirm(ctx, in)
}
