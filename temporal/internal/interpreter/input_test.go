package interpreter

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/history"
)

// TestInputOfBytes checks that a worker gets the values of a run as they were given, also those that are not UTF-8.
func TestInputOfBytes(t *testing.T) {
	for _, text := range []string{"caf\xe9", "\xff", "\xed\xa0\x80", "100%E9", "😀", "a\r\nb"} {
		values := map[string]any{"A": text, "L": []any{text}}
		want := &Input{Record: &history.Record{Given: values, Params: values, RunEnv: history.RecordedEnv{Workspace: text}}, Params: values}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got *Input
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}
