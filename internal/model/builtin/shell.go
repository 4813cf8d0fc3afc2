package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// maxStreamed limits how much of each stream a model sees, in bytes.
const maxStreamed = 100_000

// runShellCommand returns a tool that runs a command written by a model. The command is a complete program for the
// shell, not a value inside one: a person who approves it has seen all of it.
func runShellCommand(c Config) *tool.Definition {
	return gostep.GoTool{
		Name: "run_shell_command", DisplayName: "Shell", Tags: []string{"run"},
		Description: "Runs a command in the system's shell (bash; cmd on Windows) and returns its output and exit code. " +
			"There is no terminal, so a command must not ask for input. Background processes end with the call " +
			"unless is_background is true.",
		Schema: parsed(`{
			"type": "object",
			"additionalProperties": false,
			"required": ["command"],
			"properties": {
				"command": {"type": "string", "minLength": 1, "maxLength": 100000, "description": "The exact command line, as you would type it in the shell. It may have several lines.", "examples": ["go test ./..."]},
				"is_background": {"type": "boolean", "default": false, "description": "true starts the command, returns at once and leaves it running, as for servers and watchers. false waits for the command to end."},
				"description": {"type": "string", "maxLength": 1000, "description": "What the command does, in one short sentence, for the person who approves it.", "examples": ["Runs the tests"]},
				"directory": {"type": "string", "description": "An existing folder inside the workspace to run the command in, absolute or relative to the workspace. Default: the workspace.", "examples": ["src"]},
				"timeout": {"type": "integer", "minimum": 1, "maximum": 86400000, "description": "Milliseconds after which the command and all processes it started are stopped. The time limit of calls, usually 60 seconds, still applies.", "examples": [30000]}
			}
		}`),
		Describe: func(params map[string]any) string {
			verb := "Runs in the shell"
			if values(params).flag("is_background") {
				verb = "Starts in the background"
			}
			return fmt.Sprintf("%s: %s", verb, short(values(params).text("command"), 200))
		},
		Confirm: func(_ context.Context, in *gostep.StepInput) (*gostep.Confirmation, error) {
			return confirmCommand(c, in)
		},
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) { return shellCommand(c, in) },
	}.Definition()
}

func confirmCommand(c Config, in *gostep.StepInput) (*gostep.Confirmation, error) {
	dir, err := checkCommand(c, in)
	if err != nil {
		return nil, err
	}
	verb := "Run this command"
	if values(in.Params).flag("is_background") {
		verb = "Leave this command running in the background"
	}
	title := fmt.Sprintf("%s in %s", verb, visible(dir))
	if said := values(in.Params).text("description"); said != "" {
		title += fmt.Sprintf(" (stated purpose: %q)", short(said, 300))
	}
	return &gostep.Confirmation{Title: title, Text: visible(values(in.Params).text("command"))}, nil
}

// checkCommand checks a command and returns the folder to run it in.
func checkCommand(c Config, in *gostep.StepInput) (dir string, err error) {
	command := values(in.Params).text("command")
	switch {
	case strings.TrimSpace(command) == "":
		return "", errors.New("the command is empty; write the command to run")
	case strings.ContainsRune(command, 0):
		return "", errors.New("the command contains a NUL byte, which no shell accepts; remove it")
	case values(in.Params).flag("is_background") && runtime.GOOS == "windows":
		return "", errors.New("background commands are not supported on Windows; omit is_background")
	case values(in.Params).flag("is_background") && in.Params["timeout"] != nil:
		return "", errors.New("timeout does not apply to a background command; omit timeout or is_background")
	}
	return workingFolder(c, in, values(in.Params).text("directory"))
}

// workingFolder returns a folder inside a granted one, with its links resolved.
func workingFolder(c Config, in *gostep.StepInput, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(in.Workspace, dir)
	}
	f := files{granted: c.Roots}
	found, err := f.roots(in).find(dir)
	if err != nil {
		return "", fmt.Errorf("cannot use the folder: %w", err)
	}
	if info, err := os.Stat(found.path); err != nil || !info.IsDir() {
		return "", fmt.Errorf("the folder %q does not exist or is not a folder; create it first, or omit directory to run in %s", dir, in.Workspace)
	}
	return found.path, nil
}

func shellCommand(c Config, in *gostep.StepInput) (any, error) {
	dir, err := checkCommand(c, in)
	if err != nil {
		return nil, err
	}
	command := values(in.Params).text("command")
	if values(in.Params).flag("is_background") {
		return inBackground(command, dir)
	}
	timeout, _ := values(in.Params).number("timeout")
	return &gostep.Command{
		Script: command, Dir: dir, Timeout: time.Duration(timeout) * time.Millisecond,
		Answer: func(stdout, stderr string) *gostep.Content {
			return gostep.TextContent(streams(stdout, stderr), cmp.Or(stdout+stderr, "The command succeeded and printed nothing."))
		},
	}, nil
}

// streams returns what a model sees of a command that succeeded.
func streams(stdout, stderr string) string {
	var b strings.Builder
	for _, s := range []struct{ name, text string }{{"Stdout", stdout}, {"Stderr", stderr}} {
		shown, cut := upTo(s.text, maxStreamed)
		fmt.Fprintf(&b, "%s: %s", s.name, cmp.Or(strings.TrimSuffix(shown, "\n"), "(empty)"))
		if cut {
			fmt.Fprintf(&b, "\n[%s cut: %d of %d bytes]", s.name, len(shown), len(s.text))
		}
		b.WriteByte('\n')
	}
	b.WriteString("Exit code: 0\n")
	return b.String()
}

// backgroundScript starts the command in $1 in the background, with its output in the file $2, and prints the number
// with which it, and everything it starts, can be ended.
const backgroundScript = `bash -c "$1" >>"$2" 2>&1 </dev/null &
printf 'The command was started in the background; its result is not known yet.\nOutput: %s\nTo stop it and all processes it started: kill -- -%s\n' "$2" "$$"`

// inBackground starts a command that keeps running. Its output goes to a file of its own, because the run's logs end
// with the run.
func inBackground(command, dir string) (any, error) {
	log, err := os.CreateTemp("", "flowrun-background-*.log") // 0600
	if err != nil {
		return nil, fmt.Errorf("cannot create a file for the command's output: %w", err)
	}
	if err := log.Close(); err != nil {
		return nil, err
	}
	return &gostep.Command{Args: []string{"bash", "-c", backgroundScript, "bash", command, log.Name()}, Dir: dir, Detach: true}, nil
}
