package tooltest

import (
	"encoding/json"
	"testing"
)

func TestJSONText(t *testing.T) {
	for want, equal := range map[string][]any{
		"1":                {1, 1.0, int64(1), json.Number("1.0"), json.Number("1e0")},
		"9007199254740993": {int64(9007199254740993), json.Number("9007199254740993")}, // a float64 is even here
		"9007199254740992": {int64(9007199254740992), json.Number("9007199254740992")},
		"3.1":              {3.1, json.Number("3.10")},
		`{"a":[1,"1.0"]}`:  {map[string]any{"a": []any{json.Number("1.0"), "1.0"}}},
	} {
		for _, v := range equal {
			if got := jsonText(v); got != want {
				t.Errorf("%#v: %s, want %s", v, got, want)
			}
		}
	}
}
