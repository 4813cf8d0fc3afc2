package state

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestChanges: what KEY=VALUE and KEY:=JSON set, by the type of the key.
func TestChanges(t *testing.T) {
	k := &keeper{id: history.StateID{Tool: "sync", File: "/t/sync.yaml"}, keys: []*tool.StateKey{
		{Name: "LAST_ID", Type: "number"}, {Name: "NAME", Type: "string"}, {Name: "DONE", Type: "boolean"}, {Name: "SEEN", Type: "array"}, {Name: "COUNT", Type: "integer"}}}
	for word, want := range map[string]string{
		"LAST_ID=1200":      "LAST_ID 1200",
		"LAST_ID:=1200":     "LAST_ID 1200",
		"NAME=a=b":          `NAME "a=b"`,
		"NAME=":             `NAME ""`,
		"NAME=12":           `NAME "12"`,
		"DONE=true":         "DONE true",
		`SEEN:=["a", "b"]`:  `SEEN ["a","b"]`,
		"LAST_ID=many":      "cannot set LAST_ID",
		"LAST_ID:=many":     "the value of LAST_ID is not JSON",
		`LAST_ID:="1200"`:   "cannot set LAST_ID",
		"COUNT=1.5":         `cannot set COUNT: expected an integer, got "1.5"`,
		"SEEN:=[1":          "the value of SEEN is not JSON",
		"NAME":              `unexpected argument "NAME": write values as KEY=VALUE`,
		"=x":                `unexpected argument "=x": write values as KEY=VALUE`,
		"LAST_IDS=1":        `the state of tool sync has no value "LAST_IDS"; did you mean "LAST_ID"?`,
		"SOMETHING_ELSE=42": `the state of tool sync has no value "SOMETHING_ELSE"; it has LAST_ID, NAME, DONE, SEEN, COUNT`,
	} {
		got := ""
		list, err := k.changes(&cobra.Command{Use: "set"}, []string{word})
		if err != nil {
			got = err.Error()
		} else if c := list[0]; len(list) == 1 && c.Tool == "sync" && c.File == "/t/sync.yaml" {
			got = c.Key + " " + string(c.Value)
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
	if list, err := k.changes(&cobra.Command{Use: "set"}, []string{"NAME=x", "LAST_ID=many"}); err == nil || list != nil {
		t.Errorf("one of two values is invalid, and %v would be set: %v", list, err)
	}
}

// TestShown: how values are shown in a table.
func TestShown(t *testing.T) {
	for value, want := range map[string]string{
		`"text"`: "text", `"12"`: "12", "12": "12", `{"a":1}`: `{"a":1}`, `"a\nb"`: "a...", `"` + strings.Repeat("é", 61) + `"`: strings.Repeat("é", 60) + "...",
		`"` + strings.Repeat("é", 60) + `"`: strings.Repeat("é", 60),
	} {
		if got := short(plain(json.RawMessage(value))); got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}
