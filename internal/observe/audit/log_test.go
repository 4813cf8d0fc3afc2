package audit

import (
	"testing"

	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// TestEntry: the detail of an approval is a decision, unless it cannot be read as one.
func TestEntry(t *testing.T) {
	decision := `{"tool":"t","verdict":"approved","by":"terminal","terminal":"/dev/pts/3","reason":"it writes"}`
	for _, c := range []struct {
		action, detail, want string
		decided              bool
	}{
		{Approve, decision, "approved by terminal /dev/pts/3: it writes", true},
		{Refuse, `{"verdict":"refused","by":"policy","reason":"no","permissions":["a","b"]}`, "refused by policy: no; needs a, b", true},
		{Refuse, "of an old version", "of an old version", false},
		{"cancel", decision, decision, false},
	} {
		got := EntryOf(sqlite.Entry{Action: c.action, Detail: c.detail})
		if got.Detail != c.want || (got.Decision != nil) != c.decided {
			t.Errorf("%s %s: %+v", c.action, c.detail, got)
		}
	}
}
