package command

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/test/schematest"
	"github.com/flowrun/flowrun/temporal/internal/datastore"
	"github.com/flowrun/flowrun/temporal/internal/schedule"
)

// TestDocuments checks the documents of this program against their schemas.
func TestDocuments(t *testing.T) {
	var out bytes.Buffer
	env := &ui.Env{Terminal: ui.Terminal{Stdout: &out, Stderr: &out}}
	list := []schedule.Difference{{Kind: schedule.Keep, ID: "a"}, {Kind: schedule.Change, ID: "b", Lines: []string{"cron"}}}
	if err := (&syncFlags{output: "json"}).print(env, list); err != nil {
		t.Fatal(err)
	}
	schematest.Validate(t, "schedule-sync", out.Bytes())
	doc, err := json.Marshal(prunedJSON{"flowrun/store-prune.v1", time.Now(), datastore.Pruned{Values: 1, Bytes: 2}})
	if err != nil {
		t.Fatal(err)
	}
	schematest.Validate(t, "store-prune", doc)
}
