package gostep

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// DescribeCall describes a call of a tool in words: with Describe, if all parameters are known. Before a run some may
// be unknown, and Describe could be wrong about them; then DescribeCall returns the first sentence of the tool's
// description.
func DescribeCall(t *GoTool, a *call.Frame) string {
	if a != nil && !a.Guessed && t.Describe != nil {
		if text, ok := SafeDescribe(t, InputOf(a).Params); ok {
			return value.OneLine(text, MaxDescribed)
		}
	}
	purpose, _, _ := strings.Cut(t.Description, ". ") // the rest is for models
	return cmp.Or(value.OneLine(strings.TrimRight(purpose, "."), MaxDescribed), "(Go function)")
}

// SafeDescribe calls a tool's Describe; ok is false if that panics.
func SafeDescribe(t *GoTool, params map[string]any) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return t.Describe(params), true
}

// SafeConfirm calls a tool's Confirm; a panic becomes an error.
func SafeConfirm(ctx context.Context, t *GoTool, in *StepInput) (c *Confirmation, err error) {
	defer func() {
		if v := recover(); v != nil {
			c, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	return t.Confirm(ctx, in)
}

// Confirmation is what a person sees, beside the Preview, when asked to approve a call that a model made.
type Confirmation struct {
	Title string    `json:"title"`          // what will happen, in one sentence
	Text  string    `json:"text,omitempty"` // details: a command, a plan
	Diff  *FileDiff `json:"diff,omitempty"` // what would change in a file
}
