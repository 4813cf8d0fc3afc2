package call

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ModelRequest is what a script asks a language model.
type ModelRequest struct {
	Tool         string // the tool whose script asks
	Prompt       string
	SystemPrompt string // "" for none
	MaxTokens    int64  // how long the answer may be, in the units of the model
}

// AskModel gets the answer of a language model. Both texts are data: nobody may take them for instructions.
type AskModel = func(context.Context, ModelRequest) (answer string, err error)

// Limits of what the scripts of one run may ask a model.
const (
	maxModelRequests = 20
	maxModelPrompt   = 4 << 20 // bytes, with the system prompt
	maxModelAnswer   = 1 << 20 // bytes
	modelTimeout     = 5 * time.Minute
)

// Model is the language model for the scripts of one run. Safe for concurrent use.
type Model struct {
	Answers AskModel // nil: nobody answers
	asked   atomic.Int64
}

// Ask asks the model within the limits of a run.
func (m *Model) Ask(ctx context.Context, r ModelRequest) (string, error) {
	switch {
	case m == nil || m.Answers == nil:
		return "", errors.New("there is no language model: call the tool from an MCP client that offers one (sampling), or set tools.samplingCommand")
	case len(r.Prompt)+len(r.SystemPrompt) > maxModelPrompt:
		return "", fmt.Errorf("the prompt is larger than %d MiB", maxModelPrompt>>20)
	case m.asked.Add(1) > maxModelRequests:
		return "", fmt.Errorf("the run has already asked %d times, which is the limit", maxModelRequests)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, modelTimeout, fmt.Errorf("the model has not answered within %v", modelTimeout))
	defer cancel()
	answer, err := m.Answers(ctx, r)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	case len(answer) > maxModelAnswer:
		return "", fmt.Errorf("the answer is larger than %d MiB", maxModelAnswer>>20)
	}
	return answer, nil
}
