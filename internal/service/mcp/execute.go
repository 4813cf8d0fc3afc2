package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// executeTool is the name of the tool that calls any other by name (specification 003).
const executeTool = "execute_tool"

// executeSchema lets a model write the parameters as an object, or as text.
const executeSchema = `{
  "type": "object",
  "properties": {
    "tool_name": {"type": "string", "description": "the name of the tool"},
    "parameters": {"type": ["object", "string"], "description": "the parameters of the tool: an object, or text that contains one; small mistakes of syntax are corrected"}
  },
  "required": ["tool_name"]
}`

// addExecuteTool offers execute_tool.
func (s *Server) addExecuteTool() {
	t := &mcp.Tool{
		Name:        executeTool,
		Title:       "Execute a tool",
		Description: "Call a tool of this server by its name. Parameters that are not valid JSON are corrected if they have only one meaning.",
		InputSchema: json.RawMessage(executeSchema),
	}
	s.sdk.AddTool(t, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct {
			Tool       string          `json:"tool_name"`
			Parameters json.RawMessage `json:"parameters"`
		}
		if err := json.Unmarshal([]byte(argumentsText(req.Params.Arguments)), &in); err != nil || in.Tool == "" {
			r := &mcp.CallToolResult{}
			r.SetError(errors.New(executeTool + " needs tool_name, a text, and parameters, an object or a text"))
			return r, nil
		}
		return s.callTool(ctx, req, s.nameOf(in.Tool), argumentsText(in.Parameters)), nil
	})
}

// nameOf returns the tool that clients see under a name; the name itself if there is none.
func (s *Server) nameOf(name string) string {
	if o, ok := s.shown(name); ok {
		return o.tool
	}
	return name
}
