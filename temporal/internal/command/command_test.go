package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// TestHints: hints name the commands of this program, and none that it does not have.
func TestHints(t *testing.T) {
	root := rootCommand(&ui.Env{})
	for hint, want := range map[string]string{
		"":                                "",
		"to list the runs: flowrun runs":  "to list the runs: flowrun-temporal runs",
		"to continue: flowrun resume abc": "",
		"to answer: flowrun approve a b, or flowrun reject a b": "to answer: flowrun-temporal approve a b, or flowrun-temporal reject a b",
		"GET /api/v1/runs lists the runs":                       "GET /api/v1/runs lists the runs",
	} {
		if got := hintFor(root, hint); got != want {
			t.Errorf("%q: %q, want %q", hint, got, want)
		}
	}
}

// TestWrongFlags: a wrong value of a flag of the connection is wrong usage, before the service is asked.
func TestWrongFlags(t *testing.T) {
	t.Setenv("FLOWRUN_STATE_DIR", t.TempDir())
	for _, args := range []string{"runs --store nowhere", "show x --store ftp://host/x", "worker --store s3://", "cancel x --encryption-keys /nowhere/keys", "worker --profile nobody"} {
		var out, problems bytes.Buffer
		if code := Main(Process{strings.Fields(args), strings.NewReader(""), &out, &problems}); code != 2 {
			t.Errorf("%s: exit code %d, want 2: %s", args, code, problems.String())
		}
	}
}
