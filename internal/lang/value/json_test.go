package value_test

import (
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/value"
)

// TestJSON checks what the two readers of JSON take: what a program wrote, and what a person or a caller wrote.
func TestJSON(t *testing.T) {
	for text, want := range map[string][2]string{ // "" if it is refused
		`{"a": [1.10, 1e3]}`:      {"map[a:[1.10 1e3]]", "map[a:[1.10 1e3]]"},
		"\ufeff 1 \r\n\t":         {"1", "1"},
		"\ufeff\ufeff1":           {},
		`"\ud83d\ude00"`:          {"😀", "😀"},
		`"\ud83d"`:                {"\ufffd", ""},
		"\"\xff\"":                {"\ufffd", ""},
		`{"a": 1, "a": 2}`:        {"map[a:2]", ""},
		`[{"a": 1, "\u0061": 2}]`: {"[map[a:2]]", ""},
		`[{"a": 1}, {"a": 2}]`:    {"[map[a:1] map[a:2]]", "[map[a:1] map[a:2]]"},
		"1 2":                     {},
		"[1]]":                    {},
		`{"a": 1}}`:               {},
		"[1":                      {},
		"":                        {},
	} {
		for i, read := range []func(string, any) error{value.DecodeJSON[string], value.StrictJSON[string]} {
			var v any
			got := ""
			err := read(text, &v)
			if err == nil {
				got = fmt.Sprint(v)
			}
			if got != want[i] {
				t.Errorf("%q strict %v: %q, %v", text, i > 0, got, err)
			}
		}
	}
}

// TestJSONErrors checks the places of errors.
func TestJSONErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[\n  1,\n x]":                 "line 3, column 2: invalid character 'x' looking for beginning of value",
		"\ufeff[1] 2":                  "line 1, column 4: the JSON value ends here, but more text follows",
		"[1]]":                         "line 1, column 4: the JSON value ends here, but more text follows",
		"[1,":                          "line 1, column 4: the JSON value is incomplete",
		"{\"é\": 1,\n \"\\u00e9\": 2}": `line 2, column 2: the key "é" occurs twice`,
		`"\ud83d"`:                     `\ud83d is half of a surrogate pair, which is not a character`,
	} {
		var v any
		if err := value.StrictJSON([]byte(text), &v); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}
