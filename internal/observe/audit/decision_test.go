package audit

import (
	"encoding/json"
	"testing"
)

// TestDecisionOfOlderVersions: entries are kept forever, so the former name is read too.
func TestDecisionOfOlderVersions(t *testing.T) {
	for _, text := range []string{`{"tool":"x","door":"call"}`, `{"tool":"x","entry_point":"call"}`, `{"tool":"x","door":"run","entry_point":"call"}`} {
		var d Decision
		if err := json.Unmarshal([]byte(text), &d); err != nil || d.EntryPoint != "call" || d.Tool != "x" {
			t.Errorf("%s: %+v, %v", text, d, err)
		}
	}
}
