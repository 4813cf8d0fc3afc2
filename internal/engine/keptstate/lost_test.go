package keptstate_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/keptstate"
)

// TestLost checks whose values count as lost: those of the same tool in a file that is gone, if it has none of its own.
func TestLost(t *testing.T) {
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	me := history.StateID{Tool: "t", File: there}
	kept := func(tool, file string, at int64) history.StateValue {
		return history.StateValue{StateID: history.StateID{Tool: tool, File: file}, Key: "K", At: time.Unix(at, 0)}
	}
	for name, c := range map[string]struct {
		all  []history.StateValue
		want string
	}{
		"nothing":                {nil, ""},
		"moved":                  {[]history.StateValue{kept("t", "/gone/a", 1)}, "/gone/a"},
		"moved twice":            {[]history.StateValue{kept("t", "/gone/a", 1), kept("t", "/gone/b", 3), kept("t", "/gone/c", 2)}, "/gone/b"},
		"its own":                {[]history.StateValue{kept("t", "/gone/a", 1), kept("t", there, 2)}, ""},
		"of another tool":        {[]history.StateValue{kept("other", "/gone/a", 1)}, ""},
		"of a file that exists":  {[]history.StateValue{kept("t", filepath.Dir(there), 1)}, ""},
		"of a tool without file": {[]history.StateValue{kept("t", "", 1)}, ""},
	} {
		got := ""
		if lost := keptstate.Lost(c.all, me); len(lost) > 0 {
			got = lost[0].File
		}
		if got != c.want {
			t.Errorf("%s: the values of %q, want %q", name, got, c.want)
		}
	}
}
