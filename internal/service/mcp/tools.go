package mcp

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/model/funcschema"
	"github.com/flowrun/flowrun/registry"
)

// offer is one tool that clients can see.
type offer struct {
	tool      string // the name in flowrun
	file      string // of the definition; "" for a tool written in Go
	workspace string // where it runs
	prompt    bool   // it is a prompt too
	output    bool   // clients see a schema of its output
	uri, mime string // its output is a resource too; "" = it is not
	source    string // identifies the definition of a resource
	digest    string // of what clients see
}

// offer compiles a tool and offers it, if it is valid, the filter selects it and it runs on this platform. A compiled
// tool needs many times the memory of what clients see of it, so none is kept. before has what clients see already.
func (s *Server) offer(name string, before map[string]offer) {
	if s.list.compiled[name] {
		return
	}
	s.list.compiled[name] = true
	t, err := s.registry.Get(name)
	if err != nil {
		s.config.Log.Warn("tool is not offered", "tool", name, "reason", err.Error())
		return
	}
	if t.Plan().Supported() != nil || !s.config.Filter.selects(t.Plan()) {
		return
	}
	described, err := describe(t)
	if err != nil {
		s.config.Log.Warn("tool is not offered", "tool", t.Name(), "reason", err.Error())
		return
	}
	if other, taken := s.list.offered[described.Name]; taken || described.Name == executeTool {
		s.config.Log.Warn("tool is not offered: another tool has the same name for models", "tool", t.Name(), "name", described.Name, "other", other.tool)
		return
	}
	def := t.Plan().Definition
	o := offer{tool: t.Name(), file: def.File, workspace: s.workspace(t.Plan()), prompt: def.Prompt, output: described.OutputSchema != nil, digest: digestOf(described)}
	o.resource(t.Plan())
	if other, taken := s.list.addresses[o.uri]; taken && o.uri != "" {
		s.config.Log.Warn("resource is not offered: another tool has the same address", "tool", t.Name(), "address", o.uri, "other", other)
		o.uri = ""
	}
	s.list.addresses[o.uri] = o.tool
	s.list.offered[described.Name] = o
	if before[described.Name] != o {
		s.sdk.AddTool(described, s.handlerOf(t.Name()))
		if o.prompt {
			s.sdk.AddPrompt(promptOf(described, def), s.prompterOf(t.Name()))
		}
		if o.uri != "" {
			s.addResource(described, o)
		}
	}
}

// removeOthers removes the tools, prompts and resources that are no longer offered.
func (s *Server) removeOthers(before map[string]offer) {
	var tools, prompts, resources, templates []string
	kept := map[string]bool{}
	for _, is := range s.list.offered {
		kept[is.uri] = true
	}
	for name, was := range before {
		switch {
		case kept[was.uri]:
		case isTemplate(was.uri):
			templates = append(templates, was.uri)
		case was.uri != "":
			resources = append(resources, was.uri)
		}
		is, still := s.list.offered[name]
		if !still {
			tools = append(tools, name)
		}
		if was.prompt && !is.prompt {
			prompts = append(prompts, name)
		}
	}
	if len(tools) > 0 { // the library would notify clients of a change
		s.sdk.RemoveTools(tools...)
	}
	if len(prompts) > 0 {
		s.sdk.RemovePrompts(prompts...)
	}
	if len(resources) > 0 {
		s.sdk.RemoveResources(resources...)
	}
	if len(templates) > 0 {
		s.sdk.RemoveResourceTemplates(templates...)
	}
}

// describe returns what clients see of a tool.
func describe(t *registry.Tool) (*mcp.Tool, error) {
	text, err := t.Declaration(string(funcschema.MCP))
	if err != nil {
		return nil, err
	}
	var d struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
		Output      json.RawMessage `json:"outputSchema"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	var schema struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(d.InputSchema, &schema) != nil || schema.Type != "object" {
		return nil, errors.New("the protocol requires parameters of the type object")
	}
	described := &mcp.Tool{Name: d.Name, Title: t.DisplayName(), Description: d.Description, InputSchema: d.InputSchema, Annotations: annotations(t)}
	if d.Output != nil { // a nil slice in the field would not be a nil value
		described.OutputSchema = d.Output
	}
	return described, nil
}

// annotations translates the tags of a tool and of the tools that it uses. They are hints for
// clients; flowrun does not rely on them. A tool without a tag of its own counts as one that
// can do everything.
func annotations(t *registry.Tool) *mcp.ToolAnnotations {
	readOnly, open := true, false
	for _, u := range t.Plan().Tools() {
		tags := u.Definition.Tags
		run := slices.Contains(tags, "run") || !slices.Contains(tags, "read") && !slices.Contains(tags, "write")
		readOnly = readOnly && !run && !slices.Contains(tags, "write")
		open = open || run
	}
	destructive := !readOnly
	return &mcp.ToolAnnotations{ReadOnlyHint: readOnly, DestructiveHint: &destructive, OpenWorldHint: &open,
		IdempotentHint: slices.Contains(t.Plan().Definition.Tags, "idempotent")}
}

// workspace returns where the calls of a tool run.
func (s *Server) workspace(p *engine.Plan) string {
	if s.config.Registry.RunEnv == nil {
		return ""
	}
	return s.config.Registry.RunEnv(p).Workspace
}

// digestOf identifies what clients see of a tool.
func digestOf(t *mcp.Tool) string {
	text, err := json.Marshal(t)
	if err != nil {
		return ""
	}
	return string(text)
}
