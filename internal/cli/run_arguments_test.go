package cli

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/observe/findrun"
)

// TestRunArguments: each command that takes a run resolves it in package findrun. Where there are no runs, latest ends
// each of them with the code for an unknown run and with a sentence of that package.
func TestRunArguments(t *testing.T) {
	t.Setenv("FLOWRUN_STATE_DIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	var sentences []string
	for _, a := range findrun.Acts() {
		sentences = append(sentences, a.Lacking())
	}
	takesRun, found := regexp.MustCompile(`\bRUN\b`), 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if !takesRun.MatchString(c.Use) {
			return
		}
		found++
		args := strings.Fields(c.CommandPath())[1:]
		if strings.Contains(c.Use, "NAME|FILE") {
			args = append(args, "none") // graph NAME RUN
		}
		var stderr bytes.Buffer
		code := Main(Process{Args: append(args, history.Latest), Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &stderr})
		said := func(s string) bool {
			return strings.Contains(stderr.String(), `cannot find run "latest": `+s)
		}
		if code != outcome.ExitNotFound || !slices.ContainsFunc(sentences, said) {
			t.Errorf("%s latest: code %d, want %d and a sentence of findrun; stderr: %s", c.CommandPath(), code, outcome.ExitNotFound, stderr.String())
		}
	}
	walk(rootCommand(&ui.Env{}, nil, nil))
	if found < 10 {
		t.Errorf("found %d commands that take a run", found)
	}
}
