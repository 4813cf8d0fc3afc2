package notice

import (
	"encoding/json"
	"testing"
)

// A recorded notice has the keys that programs read, and not whether somebody has seen it.
func TestJSON(t *testing.T) {
	for want, n := range map[string]Notice{
		`{"code":"not-cached","step":"build","message":"too large"}`: {Code: NotCached, Step: "build", Message: "too large", Announced: true},
		`{"code":"escaped","message":"still running"}`:               {Code: Escaped, Message: "still running"},
	} {
		if got, err := json.Marshal(n); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
