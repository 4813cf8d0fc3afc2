package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// task returns a tool that passes work to an agent: the program that the settings name.
func task(c Config) *tool.Definition {
	return gostep.GoTool{
		Name: "task", DisplayName: "Task", Tags: []string{"run"},
		Description: "Gives a task to another agent and returns its answer. The agent knows nothing about this conversation: " +
			"the prompt must contain everything it needs and say what to answer.",
		Schema: parsed(`{
			"type": "object",
			"additionalProperties": false,
			"required": ["description", "prompt"],
			"properties": {
				"description": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The task in three to five words, for people.", "examples": ["Review the change"]},
				"prompt": {"type": "string", "minLength": 1, "maxLength": 200000, "description": "The complete instructions for the agent.", "examples": ["Read src/parse.go and list every error that is not handled, with its line."]},
				"subagent_type": {"type": "string", "maxLength": 100, "description": "The kind of agent to use, if there are several.", "examples": ["reviewer"]}
			}
		}`),
		Describe: func(params map[string]any) string {
			return "Gives a task to an agent: " + short(values(params).text("description"), 200)
		},
		Confirm: func(_ context.Context, in *gostep.StepInput) (*gostep.Confirmation, error) {
			argv, err := c.agent(in.Workspace)
			if err != nil {
				return nil, err
			}
			return &gostep.Confirmation{Title: fmt.Sprintf("Give a task to the agent %s: %s", visible(argv[0]), short(values(in.Params).text("description"), 200)),
				Text: visible(values(in.Params).text("prompt"))}, nil
		},
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
			argv, err := c.agent(in.Workspace)
			if err != nil {
				return nil, err
			}
			request, err := json.Marshal(map[string]string{"description": values(in.Params).text("description"), "prompt": values(in.Params).text("prompt"), "subagent_type": values(in.Params).text("subagent_type")})
			if err != nil {
				return nil, err
			}
			return &gostep.Command{Args: argv, Dir: in.Workspace, Input: string(request) + "\n", Answer: agentSaid}, nil
		},
	}.Definition()
}

// agent returns the words of the agent's command. A path is relative to the workspace, a name is looked up in PATH.
func (s Settings) agent(workspace string) ([]string, error) {
	if strings.TrimSpace(s.AgentCommand) == "" {
		return nil, errors.New("no agent is configured: set tools.agentCommand in ~/.config/flowrun/config.yaml to a program, with its arguments, that reads " +
			`{"description", "prompt", "subagent_type"} as JSON from its standard input and prints its answer`)
	}
	argv, err := expr.Words(s.AgentCommand)
	if err != nil {
		return nil, fmt.Errorf("the setting tools.agentCommand is not a valid command: %w", err)
	}
	if strings.ContainsRune(filepath.ToSlash(argv[0]), '/') && !filepath.IsAbs(argv[0]) {
		argv[0] = filepath.Join(workspace, argv[0])
	}
	return argv, nil
}

// agentSaid returns what a model sees of an agent's answer.
func agentSaid(stdout, _ string) *gostep.Content {
	shown, cut := upTo(stdout, maxStreamed)
	switch {
	case stdout == "":
		shown = "The agent succeeded and printed no answer.\n"
	case cut:
		shown += fmt.Sprintf("\n[cut: %d of %d bytes]\n", len(shown), len(stdout))
	}
	return gostep.TextContent(shown, "")
}
