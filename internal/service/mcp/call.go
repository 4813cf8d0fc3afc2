package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/registry"
)

// toolCall is one call of a tool, while it is carried out.
type toolCall struct {
	request
	ctx  context.Context // of the request
	text string          // the arguments as the model wrote them
}

// request is what a call needs of the request of the client.
type request struct {
	session *mcp.ServerSession
	client  *mcp.ClientCapabilities
	state   string               // of the question that answers belong to; "" in the first round
	answers mcp.InputResponseMap // of a person
	token   any                  // for progress; nil: the client wants none
	stdout  io.Writer            // gets the whole output, as bytes; nil: not needed
}

// questionContext has the end of one context and the values of another.
type questionContext struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (c questionContext) Value(key any) any { return c.values.Value(key) }

// within returns a context for a question to the client, which ends with ctx. It has the values of the request's: by
// these the library finds the stream of the call, and the client may have no other.
func (c *toolCall) within(ctx context.Context) context.Context { return questionContext{ctx, c.ctx} }

// handlerOf returns the handler of a typed tool.
func (s *Server) handlerOf(name string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.callTool(ctx, req, name, argumentsText(req.Params.Arguments)), nil
	}
}

// callTool carries out one call of a tool and translates its Answer.
func (s *Server) callTool(ctx context.Context, req *mcp.CallToolRequest, name, text string) *mcp.CallToolResult {
	answer, question := s.call(ctx, name, text, request{session: req.Session, client: req.ClientCapabilities(),
		state: req.Params.RequestState, answers: req.Params.InputResponses, token: req.Params.GetProgressToken()})
	if question != nil {
		return &mcp.CallToolResult{RequestState: question.state, InputRequests: question.requests()}
	}
	seen, _ := s.shown(req.Params.Name)
	return s.resultOf(answer, seen.output)
}

// argumentsText returns the text to parse: models and clients send arguments as an object, or
// as a string that should contain one.
func argumentsText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return cmp.Or(string(raw), "{}")
}

// call carries out one call of a tool. If a person must be asked first, it returns the question.
func (s *Server) call(ctx context.Context, name, text string, r request) (*registry.Answer, *question) {
	ctx, leave := s.active.enter(ctx)
	defer leave()
	ctx, end := enterCall(ctx)
	defer end()
	c := &toolCall{request: r, ctx: ctx, text: text}
	i, answer := s.registry.Read(ctx, registry.Request{Tool: name, Arguments: text})
	if answer != nil {
		return answer, nil
	}
	d := s.decide(ctx, c, i)
	if d.Action == registry.Ask {
		shown, answer := i.Ask(ctx)
		if answer != nil {
			return answer, nil
		}
		var question *question
		if d, question = s.confirm(ctx, c, i, shown); question != nil {
			return nil, question
		}
	}
	if d.Action != registry.Proceed {
		return i.Reject(ctx, d), nil
	}
	return s.run(ctx, c, i), nil
}

// run executes a call that was approved.
func (s *Server) run(ctx context.Context, c *toolCall, i *registry.Invocation) *registry.Answer {
	news := newNews(ctx, c.request)
	options, ended := c.runOptions(news), func(context.Context, *registry.Answer) {}
	if s.config.Observe != nil {
		var more []engine.RunOption
		more, ended = s.config.Observe(i)
		options = append(options, more...)
	}
	answer := i.Do(ctx, options...)
	news.end(ctx)
	ended(context.WithoutCancel(ctx), answer)
	return answer
}

// runOptions connects the run of the call with the client.
func (c *toolCall) runOptions(news *news) []engine.RunOption {
	options := []engine.RunOption{engine.WithOrigin(engine.OriginMCP), engine.WithApproval(c.ask), engine.WithSink(news), engine.WithConsole(news.log)}
	if c.token != nil {
		options = append(options, engine.WithProgress(news.progress))
	}
	if c.stdout != nil {
		options = append(options, engine.WithStdout(c.stdout))
	}
	if c.canAsk() {
		options = append(options, engine.WithPrompt(c.input))
	}
	if c.offersModel() {
		options = append(options, engine.WithAskModel(c.askModel))
	}
	return options
}
