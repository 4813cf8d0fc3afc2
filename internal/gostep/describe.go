package gostep

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/value"
)

// Sentence is a call of a tool in words: what Describe says of the parameters; where they are not all
// known before the run, and it might say something wrong of them, what the tool is for.
func Sentence(t *GoTool, a *call.Frame) string {
	if a != nil && !a.Guessed && t.Describe != nil {
		if text, ok := Described(t, InputOf(a).Params); ok {
			return value.OneLine(text, MaxDescribed)
		}
	}
	purpose, _, _ := strings.Cut(t.Description, ". ") // the rest is for models
	return cmp.Or(value.OneLine(strings.TrimRight(purpose, "."), MaxDescribed), "(Go function)")
}

// Described is what a tool's Describe says; nothing where that panics.
func Described(t *GoTool, params map[string]any) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return t.Describe(params), true
}

// Confirmed is what a tool's Confirm says; that it panicked is an error.
func Confirmed(ctx context.Context, t *GoTool, in *StepInput) (c *Confirmation, err error) {
	defer func() {
		if v := recover(); v != nil {
			c, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	return t.Confirm(ctx, in)
}

// Confirmation is what a person is shown who is asked about a call of a model, beside
// what the Preview says.
type Confirmation struct {
	Title string    `json:"title"`          // what will happen, in one sentence
	Text  string    `json:"text,omitempty"` // more of it: a command, a plan
	Diff  *FileDiff `json:"diff,omitempty"` // what would change in a file
}
