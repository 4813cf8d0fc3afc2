package rawtext

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEncode(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "",
		"100% \r\n😀\ufffd": "100% \r\n😀\ufffd",
		"a\x00%41":         "a\x00%41",
		"caf\xe9":          "\x00caf%E9",
		"\xff":             "\x00%FF",
		"\xed\xa0\x80":     "\x00%ED%A0%80",
		"5%\xffé":          "\x005%25%FFé",
		"\x00":             "\x00\x00",
		"\x00caf%E9":       "\x00\x00caf%25E9",
	} {
		if got := Encode(text); got != want || Decode(got) != text {
			t.Errorf("%q: %q, want %q; %q", text, got, want, Decode(got))
		}
	}
	for _, text := range []string{"\x00", "\x00a", "\x00%", "\x00%F", "\x00%ff", "\x00%GG", "\x00%41\xff", "\x00a%FF%"} { // not of Encode
		if got := Decode(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// FuzzEncode checks that every text comes back from JSON, and that text which is not of Encode stays.
func FuzzEncode(f *testing.F) {
	f.Add("caf\xe9%\x00")
	f.Add("\x00%E9")
	f.Fuzz(func(t *testing.T, text string) {
		want := map[string]any{text: []any{text, map[string]any{"a": text}, nil, true}}
		b, err := json.Marshal(EncodeMap(want))
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if got := DecodeMap(got); !cmp.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if plain := Decode(text); plain != text && Encode(plain) != text {
			t.Errorf("%q is read as %q", text, plain)
		}
	})
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		x, y any
		want bool
	}{
		{"caf\xe9", "caf\xe9", true}, {"caf\xe9", "caf\xe8", false}, {"\xff", "\ufffd", false}, {int64(1), json.Number("1"), true},
		{json.Number("1"), json.Number("1.0"), false}, {[]any{nil}, []any{nil}, true}, {map[string]any{"a": true}, map[string]any{}, false},
	} {
		if Equal(c.x, c.y) != c.want {
			t.Errorf("%q and %q: %v", c.x, c.y, !c.want)
		}
	}
}
