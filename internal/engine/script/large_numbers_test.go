package script

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestLargeNumbers(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "b": 9007199254740992, "c": 1.5, "d": "9007199254740993", "e": null}`: `null`,
		`{"id": 9007199254740993}`:                            `[{"path":["id"],"digits":"9007199254740993"}]`,
		`{"b": [1, {"c": -12345678901234567890}], "a": 1e30}`: `[{"path":["b",1,"c"],"digits":"-12345678901234567890"}]`,
		`{"a": 1152921504606846976, "b": 10000000000000000}`:  `[{"path":["a"],"digits":"1152921504606846976"}]`,
		`{"a": -0, "b": 0.12345678901234567890123}`:           `null`,
	} {
		var v any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(largeNumbers(v))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	if got := largeNumbers(map[string]any{"n": int64(1<<60 + 1)}); len(got) != 1 || got[0].Digits != "1152921504606846977" {
		t.Errorf("an int64: %v", got)
	}
}
