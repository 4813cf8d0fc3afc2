package value_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/value"
)

func TestCheckJSON(t *testing.T) {
	for text, ok := range map[string]bool{
		`"a"`: true, `"\u00e9\ud83d\ude00"`: true, `"\\ud800"`: true, `"\\\\ud800"`: true, `"\ufffd"`: true, `"\uD83D\uDE00\n"`: true, ``: true,
		`"\ud800"`: false, `"\ud800x"`: false, `"\ude00\ud83d"`: false, `"\\\ud800"`: false, `{"\udfff":1}`: false, `"\ud83d\n"`: false, "\"\xff\"": false,
		`"\ud83d\ud83d\ude00"`: false, `"\ud83`: true,
	} {
		if err := value.CheckJSON([]byte(text)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzCheckJSON checks that a text which passes is decoded without a replacement that it does not have itself.
func FuzzCheckJSON(f *testing.F) {
	f.Add(`"\ud83d\ude00\ufffd"`)
	f.Add(`["\\\ud800"]`)
	f.Fuzz(func(t *testing.T, text string) {
		var v any
		if value.CheckJSON([]byte(text)) != nil || json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		again, _ := json.Marshal(v)
		if strings.Contains(string(again), "\ufffd") && !strings.Contains(text, "\ufffd") && !strings.Contains(strings.ToLower(text), `\ufffd`) {
			t.Errorf("%q becomes %q", text, again)
		}
	})
}
