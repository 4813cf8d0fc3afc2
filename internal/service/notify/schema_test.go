package notify

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/docs"
	"github.com/flowrun/flowrun/internal/lang/notifyrule"
)

// TestEventsOfSchemas checks that the documents with events know all of them.
func TestEventsOfSchemas(t *testing.T) {
	for name, lacks := range map[string]string{"plan": "", "notice": string(Always)} {
		text, err := docs.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		events := slices.DeleteFunc(notifyrule.Events(), func(e string) bool { return e == lacks })
		list, err := json.Marshal(events)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"enum": `+strings.ReplaceAll(string(list), ",", ", ")) {
			t.Errorf("the schema of %s does not list the events %q", name, events)
		}
	}
}
