package runs

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/observe/findrun"
)

// silent returns an invocation without a person, whose output nobody reads.
func silent() *ui.Env {
	return &ui.Env{Terminal: ui.Terminal{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}}
}

// TestUsage holds which command lines are refused before any definition or history is read.
func TestUsage(t *testing.T) {
	t.Setenv("FLOWRUN_PROGRESS", "")
	for _, c := range []struct{ line, want string }{
		{"run", "missing argument: give the name of a tool"},
		{"run x Ada", `unexpected argument "Ada": write parameters as NAME=value`},
		{"run x =1", `unexpected argument "=1"`},
		{"run x :=1", `unexpected argument ":=1"`},
		{"run x --param Ada", `unexpected argument "Ada"`},
		{"run x -q -v", "--quiet and --verbose cannot be combined"},
		{"run x -q --progress plain", "--quiet cannot be combined with --progress"},
		{"run x -v --progress json", "--verbose cannot be combined with --progress json; use --progress plain or github"},
		{"run x --progress tty", "--progress tty needs a terminal"},
		{"run x --progress loud", "loud"},
		{"run x -o xml", "xml"},
		{"run x --max-parallel 0", "--max-parallel must be at least 1"},
		{"run x --max-parallel -1", "--max-parallel must be at least 1"},
		{"run x --auto-approve read", "--auto-approve: invalid pattern \"read\": write tool:read"},
		{"run x --auto-deny tool:", "--auto-deny: invalid pattern"},
		{"run x --timeout 0s", "--timeout must be greater than 0"},
		{"run x --watch-path a", "--watch-path requires --watch"},
		{"run x --watch --watch-path [", `--watch-path "["`},
		{"run x --watch --params -", "--watch cannot be combined with --params -"},
		{"run x --trace-permissions --detach", "--trace-permissions cannot be combined with --detach or --dry-run"},
		{"run x --trace-permissions --dry-run", "--trace-permissions cannot be combined with --detach or --dry-run"},
		{"run x --trace-permissions --progress json", "requires -o json"},
		{"run x --detach --until a", "--until cannot be combined with --detach"},
		{"run x --detach -v", "--verbose cannot be combined with --detach"},
		{"run x --detach --timeout 5s", "--timeout cannot be combined with --detach"},
		{"run x --detach --auto-approve *", "--auto-approve cannot be combined with --detach"},
		{"run x --detach -o combined", "--output combined cannot be combined with --detach"},
		{"run ./x.yaml --detach", "the service runs tools by name, but ./x.yaml is a file"},
		{"retry", "missing argument: give the id of a run"},
		{"retry latest --only a --from b", "--only and --from cannot be combined"},
		{"resume latest Ada", `unexpected argument "Ada"`},
		{"resume latest -q -v", "--quiet and --verbose cannot be combined"},
		{"approve", "missing argument: give the id of a run"},
		{"approve latest --max-parallel 0", "--max-parallel must be at least 1"},
		{"explain-cache x", "give a tool and one of its steps"},
		{"explain-cache x step Ada", `unexpected argument "Ada"`},
	} {
		root := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
		for _, command := range []func(*ui.Env) *cobra.Command{runCommand, retryCommand, resumeCommand, approveCommand, explainCacheCommand} {
			root.AddCommand(command(silent()))
		}
		root.SetArgs(strings.Fields(c.line))
		err := root.Execute()
		if !errors.As(err, new(*ui.UsageError)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.line, err, c.want)
		}
	}
}

// TestProgressOfFlags holds how --quiet, --verbose and the environment decide the progress where stderr is not a terminal.
func TestProgressOfFlags(t *testing.T) {
	t.Setenv("GITHUB_ACTIONS", "")
	for _, c := range []struct{ line, env, want string }{
		{"", "", "plain"},
		{"", "json", "json"},
		{"", "tty", "plain"},
		{"-q", "", "quiet"},
		{"-q", "json", "quiet"},
		{"-v", "", "plain"},
		{"-v", "json", "plain"},
		{"-v --progress github", "", "github"},
		{"--progress none", "json", "none"},
	} {
		t.Setenv("FLOWRUN_PROGRESS", c.env)
		var f runFlags
		command := &cobra.Command{}
		addRunFlags(command, &f)
		err := command.ParseFlags(strings.Fields(c.line))
		if err = errors.Join(err, f.check(silent(), command)); err != nil || f.Progress != c.want {
			t.Errorf("%q with FLOWRUN_PROGRESS=%q: %s, %v, want %s", c.line, c.env, f.Progress, err, c.want)
		}
	}
}

// TestRetryAct: "retry latest" means a run in which something is left to do, unless a flag makes steps run again.
func TestRetryAct(t *testing.T) {
	for line, want := range map[string]findrun.Act{
		"":           findrun.Retry,
		"-v":         findrun.Retry,
		"--from a":   findrun.Rerun,
		"--only a":   findrun.Rerun,
		"--with A=1": findrun.Rerun,
	} {
		c := retryCommand(silent())
		if err := c.ParseFlags(strings.Fields(line)); err != nil || retryAct(c) != want {
			t.Errorf("retry %s: %v, %v", line, retryAct(c), err)
		}
	}
}
