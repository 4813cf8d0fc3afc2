package mcpclient

import (
	"context"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxSamples limits how often a server may ask the model during one call of its tools.
const maxSamples = 20

// allowance decides whether a server may ask the model. It may do so for the calls of its tools alone,
// one request at a time: a server could otherwise use the model for itself.
type allowance struct {
	turn chan struct{} // holds a value while the model is asked

	mu    sync.Mutex
	calls int // that run now
	left  int // requests that are left to these calls
	ctx   context.Context
	end   context.CancelFunc
}

// begin begins a call, and returns the function that ends it. With the last call, requests end.
func (s *allowance) begin() (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls++; s.calls == 1 {
		s.ctx, s.end = context.WithCancel(context.Background())
	}
	s.left += maxSamples
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls--; s.calls == 0 {
			s.left = 0
			s.end()
		}
	}
}

// take uses up one request. The context that it returns ends with the calls.
func (s *allowance) take() (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return nil, errors.New("it asked the model too often, or not during a call of one of its tools")
	}
	s.left--
	return s.ctx, nil
}

// samplingRequest is what a Sampler gets: the request of the protocol, and who asks.
type samplingRequest struct {
	Server string `json:"server"`
	*mcp.CreateMessageParams
}

// errNotSampled is all that a server learns when its request fails. Details are for the user.
var errNotSampled = errors.New("the request was not answered")

// sample answers a request of the server to ask the model.
func (r *remote) sample(ctx context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	calls, err := r.sampling.take()
	if err != nil {
		r.report(err.Error())
		return nil, errNotSampled
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(calls, cancel)()
	select {
	case r.sampling.turn <- struct{}{}:
		defer func() { <-r.sampling.turn }()
	case <-ctx.Done():
		return nil, errNotSampled
	}
	answer, err := r.client.config.Sampler.Sample(ctx, samplingRequest{r.config.Name, req.Params})
	if err != nil {
		if ctx.Err() == nil {
			r.report("a request to the model failed: " + plainText(err.Error(), maxProblem))
		}
		return nil, errNotSampled
	}
	return &mcp.CreateMessageResult{Role: "assistant", Content: &mcp.TextContent{Text: answer.Text}, Model: answer.Model, StopReason: "endTurn"}, nil
}
