package runs

import (
	"testing"

	"github.com/flowrun/flowrun/dag"
)

func TestStatusText(t *testing.T) {
	for want, got := range map[string]string{
		"failed":                  statusText(dag.Failed),
		"timed out":               statusText(dag.TimedOut),
		"was cancelled":           statusText(dag.Cancelled),
		"is interrupted":          statusText(dag.Interrupted),
		"is waiting":              statusText(dag.Waiting),
		"succeeded (2 tolerated)": statusText(dag.Succeeded, "2 tolerated"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
