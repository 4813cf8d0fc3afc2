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

// toolCall is one call of a tool, while it is carried out. The registry passes it back to the Server
// in the context.
type toolCall struct {
	request
	ctx  context.Context // of the request
	text string          // the arguments as the model wrote them

	question *question // what a person must be asked before the call can go ahead
	news     *news
	ended    func(context.Context, *registry.Answer)
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

type callKey struct{}

// callOf returns the call to which a context belongs. The registry derives every context that it passes on from that of
// the call.
func callOf(ctx context.Context) *toolCall {
	c, ok := ctx.Value(callKey{}).(*toolCall)
	if !ok {
		panic("the registry passed on a context that is not of a call")
	}
	return c
}

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
	return s.resultOf(answer, s.declaresOutput(req.Params.Name))
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
	c := &toolCall{request: r, ctx: ctx, text: text, news: newNews(ctx, r)}
	answer := s.registry.Call(context.WithValue(ctx, callKey{}, c), registry.Request{Tool: name, Arguments: text})
	c.news.end(ctx)
	if c.ended != nil {
		c.ended(context.WithoutCancel(ctx), answer)
	}
	return answer, c.question
}

// runOptions implements registry.Options.Run.
func (s *Server) runOptions(ctx context.Context, i *registry.Invocation) []engine.RunOption {
	c := callOf(ctx)
	options := []engine.RunOption{engine.WithOrigin(engine.OriginMCP), engine.WithApproval(c.ask), engine.WithSink(c.news), engine.WithConsole(c.news.log)}
	if c.stdout != nil {
		options = append(options, engine.WithStdout(c.stdout))
	}
	if c.canAsk() {
		options = append(options, engine.WithPrompt(c.input))
	}
	if c.offersModel() {
		options = append(options, engine.WithAskModel(c.askModel))
	}
	if s.config.Observe != nil {
		more, ended := s.config.Observe(i)
		options, c.ended = append(options, more...), ended
	}
	return options
}
