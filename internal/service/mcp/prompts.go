package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// promptOf describes a tool as a prompt.
func promptOf(t *mcp.Tool, def *tool.Definition) *mcp.Prompt {
	p := &mcp.Prompt{Name: t.Name, Title: t.Title, Description: t.Description}
	for _, x := range def.Parameters {
		p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: x.Name, Description: x.Description, Required: x.Required && x.Default == nil})
	}
	return p
}

// prompterOf returns the handler of a prompt: it runs the tool, and its output is the message. In
// a prompt nothing can be a result with an error, so that is an error of the protocol.
func (s *Server) prompterOf(name string) mcp.PromptHandler {
	return func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		text, err := json.Marshal(req.Params.Arguments)
		if err != nil {
			return nil, err
		}
		answer, question := s.call(ctx, name, string(text), request{session: req.Session, client: req.ClientCapabilities(),
			state: req.Params.RequestState, answers: req.Params.InputResponses, token: req.Params.GetProgressToken()})
		switch {
		case question != nil:
			return &mcp.GetPromptResult{RequestState: question.state, InputRequests: question.requests()}, nil
		case answer.Error != nil:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: answer.Content.Text()}
		}
		r := &mcp.GetPromptResult{}
		for _, c := range contentOf(answer.Content) {
			r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: c})
		}
		return r, nil
	}
}

// maxCompletions is how many values a completion has; the protocol allows no more.
const maxCompletions = 100

// complete completes the arguments of prompts and the runs of resources.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	var values []string
	switch ref, arg := req.Params.Ref, req.Params.Argument; {
	case ref == nil:
	case ref.Type == "ref/prompt":
		values = s.parameterValues(ref.Name, arg.Name)
	case ref.Type == "ref/resource" && arg.Name == "run" && strings.HasPrefix(ref.URI, runsURI) && s.config.Store != nil:
		list, err := s.config.Store.Runs(ctx, history.Query{Limit: 10 * maxListed})
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			if len(values) < maxCompletions && strings.HasPrefix(r.ID, arg.Value) && s.Shows(ctx, r) {
				values = append(values, r.ID)
			}
		}
	}
	values = slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, req.Params.Argument.Value) })
	total := len(values)
	values = append([]string{}, values[:min(total, maxCompletions)]...) // not null
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: total, HasMore: total > len(values)}}, nil
}

// parameterValues returns values to offer for a parameter.
func (s *Server) parameterValues(name, parameter string) (values []string) {
	name = s.nameOf(name)
	if s.config.Candidates == nil || !s.Offers(name) {
		return nil
	}
	t, err := s.registry.Get(name)
	if err != nil {
		return nil
	}
	for _, p := range t.Plan().Definition.Parameters {
		if p.Name != parameter || t.Plan().Secret(p.Name) {
			continue
		}
		values = s.config.Candidates(p)
	}
	return values
}
