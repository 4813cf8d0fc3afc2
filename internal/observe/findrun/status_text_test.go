package findrun

import (
	"testing"

	"github.com/flowrun/flowrun/dag"
)

func TestStatusText(t *testing.T) {
	for want, got := range map[string]string{
		"failed":                  StatusText(dag.Failed),
		"timed out":               StatusText(dag.TimedOut),
		"was cancelled":           StatusText(dag.Cancelled),
		"is interrupted":          StatusText(dag.Interrupted),
		"is waiting":              StatusText(dag.Waiting),
		"succeeded (2 tolerated)": StatusText(dag.Succeeded, "2 tolerated"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
