package runs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
)

// runOf returns a run of a definition whose steps wait for answers, as recordedtest.Answered.
func runOf(t *testing.T, text string, answers map[string]bool) *engine.RecordedRun {
	t.Helper()
	return recordedtest.Answered(t, history.NewMemory(), text, answers)
}

// printed returns what a function prints on stdout and stderr.
func printed(f func(env *ui.Env)) (stdout, stderr string) {
	var out, notes bytes.Buffer
	f(&ui.Env{Terminal: ui.Terminal{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes}})
	return out.String(), notes.String()
}
