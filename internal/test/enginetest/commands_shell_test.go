package enginetest

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// TestShellOfCommands: commands runs in the shell that the step or the tool names, as script and fallback do.
func TestShellOfCommands(t *testing.T) {
	t.Parallel()
	needtest.Programs(t, "python3")
	for _, c := range []struct{ name, text, output string }{
		{"the default", "commands: {default: 'echo ${BASH_VERSION:+bash}'}\n", "bash\n"},
		{"of the tool", "shell: sh\ncommands: {default: 'echo ${BASH_VERSION:-none} {X}'}\nparameters: {X: {description: x, default: a b}}\n", "none a b\n"},
		{"of a step", "steps: [{name: a, shell: python3, commands: {default: 'print(1 + 1, \"{X}\")'}}]\nparameters: {X: {description: x, default: a b}}\n", "2 a b\n"},
		{"an interpreter that flowrun does not know", "shell: cat\ncommands: {default: 'just text'}\n", "just text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t)
			if res := b.run(context.Background(), c.text, nil); res.Output != c.output || res.Err() != nil {
				t.Errorf("output %q (%v), want %q", res.Output, res.Err(), c.output)
			}
		})
	}
}
