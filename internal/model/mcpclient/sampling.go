package mcpclient

import (
	"context"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxSamples limits how often a server may ask the model, or the user, during one call of its tools.
const maxSamples = 20

// allowance decides whether a server may ask the model or the user. It may do so for the calls of its tools alone,
// one request at a time: a server could otherwise use the model for itself.
type allowance struct {
	turn chan struct{} // holds a value while somebody is asked

	mu    sync.Mutex
	calls int // that run now
	left  int // requests that are left to these calls
	ctx   context.Context
	end   context.CancelFunc
}

func newAllowance() allowance { return allowance{turn: make(chan struct{}, 1)} }

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

// errTooOften reports that nothing is left of the allowance.
var errTooOften = errors.New("it asked too often, or not during a call of one of its tools")

// take uses up one request. The context that it returns ends with the calls.
func (s *allowance) take() (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return nil, errTooOften
	}
	s.left--
	return s.ctx, nil
}

// enter takes one request and waits for its turn. The context ends with the request or the calls.
func (s *allowance) enter(ctx context.Context) (_ context.Context, end func(), err error) {
	calls, err := s.take()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(calls, cancel)
	select {
	case s.turn <- struct{}{}:
		return ctx, func() { <-s.turn; stop(); cancel() }, nil
	case <-ctx.Done():
		stop()
		cancel()
		return nil, nil, context.Cause(ctx)
	}
}

// reportTooOften reports that the server asked too often. Other errors only say that its call has ended.
func (r *remote) reportTooOften(err error) {
	if errors.Is(err, errTooOften) {
		r.report(err.Error())
	}
}

// samplingRequest is what a Sampler gets: the request of the protocol, and who asks.
type samplingRequest struct {
	Server string `json:"server"`
	*mcp.CreateMessageParams
}

// errNotSampled is all that a server learns when its request fails. Details are for the user.
var errNotSampled = errors.New("the request was not answered")

// sample answers a request of the server to ask the model.
//
//lint:ignore SA1019 servers of older versions of the protocol ask for it
func (r *remote) sample(ctx context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	ctx, end, err := r.sampling.enter(ctx)
	if err != nil {
		r.reportTooOften(err)
		return nil, errNotSampled
	}
	defer end()
	answer, err := r.client.config.Sampler.Sample(ctx, samplingRequest{r.config.Name, req.Params})
	if err != nil {
		if ctx.Err() == nil {
			r.report("a request to the model failed: " + plainText(err.Error(), maxProblem))
		}
		return nil, errNotSampled
	}
	//lint:ignore SA1019 servers of older versions of the protocol ask for it
	return &mcp.CreateMessageResult{Role: "assistant", Content: &mcp.TextContent{Text: answer.Text}, Model: answer.Model, StopReason: "endTurn"}, nil
}
