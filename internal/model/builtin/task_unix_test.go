//go:build unix

package builtin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func agent(t *testing.T, workspace, script string) string {
	t.Helper()
	path := filepath.Join(workspace, "agent.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTask(t *testing.T) {
	workspace := t.TempDir()
	params := map[string]any{"description": "Look around", "prompt": "Say \"hi\"; {prompt} $HOME `id`\n", "subagent_type": "reader"}
	agent(t, workspace, `printf '%s|' "$0" "$@" "$PWD"; cat`)
	r := perform(t, t.Context(), Config{Settings: Settings{AgentCommand: `./agent.sh --mode 'a b' "$HOME" {prompt}`}}, workspace, "task", params)
	want(t, r, false, `|--mode|a b|$HOME|{prompt}|`+workspace+`|{"description":"Look around","prompt":"Say \"hi\"; {prompt} $HOME `+"`id`"+`\n","subagent_type":"reader"}`)

	agent(t, workspace, `head -c 200000 /dev/zero | tr '\0' a`)
	r = perform(t, t.Context(), Config{Settings: Settings{AgentCommand: "./agent.sh"}}, workspace, "task", params)
	want(t, r, false, "[cut: 100000 of 200000 bytes]")
	agent(t, workspace, `cat >/dev/null`)
	want(t, perform(t, t.Context(), Config{Settings: Settings{AgentCommand: "./agent.sh"}}, workspace, "task", params), false, "printed no answer")

	agent(t, workspace, `echo thinking >&2; exit 9`)
	r = perform(t, t.Context(), Config{Settings: Settings{AgentCommand: "./agent.sh"}}, workspace, "task", params)
	want(t, r, true, "thinking")
	if s := r.Step("task"); s.ExitCode != 9 {
		t.Errorf("exit code %d", s.ExitCode)
	}
	for setting, part := range map[string]string{"": "set tools.agentCommand", "a 'b": "tools.agentCommand is not a valid command", "no-such-agent": "no-such-agent", "./none.sh": "none.sh"} {
		want(t, perform(t, t.Context(), Config{Settings: Settings{AgentCommand: setting}}, workspace, "task", params), true, part)
	}
	if _, err := confirm(t, Config{}, workspace, "task", params); err == nil || !strings.Contains(err.Error(), "tools.agentCommand") {
		t.Errorf("without an agent somebody is asked: %v", err)
	}
}

// TestTaskStops: an agent that is cancelled ends with all that it started.
func TestTaskStops(t *testing.T) {
	workspace := t.TempDir()
	agent(t, workspace, "sleep 1000 & echo $! > child; wait\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		number(t, filepath.Join(workspace, "child"))
		cancel()
	}()
	perform(t, ctx, Config{Settings: Settings{AgentCommand: "./agent.sh"}}, workspace, "task", map[string]any{"description": "d", "prompt": "p"})
	gone(t, number(t, filepath.Join(workspace, "child")))
}
