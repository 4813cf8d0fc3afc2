package jsregexp

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// TestTranslate: what is translated, and how; the rest stays as it is.
func TestTranslate(t *testing.T) {
	for _, c := range []struct{ pattern, flags, want string }{
		{`a\p{ASCII_Hex_Digit}b`, "u", `a[0-9A-Fa-f]b`},
		{`\P{Any}`, "u", "[^\\x00-\U0010ffff]"},
		{`[x\p{AHex}-]`, "u", `[x0-9A-Fa-f\-]`},
		{`[^\p{AHex}\d]`, "u", `[^0-9A-Fa-f\d]`},
		{`(?<n>\\p)\u{61}`, "u", `(?=)(?<n>\\p)\u{61}`},
		{`(?<=\\p)(?<!a)\u{61}`, "u", `(?<=\\p)(?<!a)\u{61}`},
		{`[[a-f]--[b-c]]`, "v", `[ad-f]`},
		{`[[a-f]&&[b-cx]]`, "v", `[bc]`},
		{`[^\q{a|b}]`, "v", "[\\x00-`c-\ud7ff\ue000-\U0010ffff]"},
		{`[\q{ab|c|}]`, "v", `(?:[a][b]|[c]|)`},
		{`[]`, "v", "[^\\x00-\U0010ffff]"},
		{`[\]\-\cA\x42\u0043\u{44}\uD83D\uDE00\b]`, "v", "[\\x01\\x08\\-B-D\\]\U0001f600]"},
		{`[k]`, "iv", "[Kk\u212a]"},
		{`[\d\w\s&&\S]`, "v", "Invalid set operation in character class"},
		{`[ab--c]`, "v", "Invalid set operation in character class"},
		{`[a-z--c]`, "v", "Invalid set operation in character class"},
		{`[a--b&&c]`, "v", "Invalid set operation in character class"},
		{`[!!]`, "v", "Invalid set operation in character class"},
		{`[(]`, "v", "Invalid character in character class"},
		{`[b-a]`, "v", "Range out of order in character class"},
		{`[^\q{ab}]`, "v", "Negated character class may contain strings"},
		{`[\k]`, "v", "Invalid escape"},
		{`[\u{110000}]`, "v", "Invalid Unicode escape"},
		{`[a`, "v", "Unterminated character class"},
		{`[\p{L}-z]`, "u", "Invalid character class"},
		{`[a-\p{L}]`, "u", "Invalid character class"},
		{`\p{Nope}`, "u", "Invalid property name"},
		{`\p{Greek}`, "u", "Invalid property name"},
		{`\p{L`, "u", "Invalid property name"},
		{`\pL`, "u", "Invalid property name"},
		{`[\p{Nope}]`, "u", "Invalid property name in character class"},
		{`\\b[\b]\b\B`, "g", `\\b[\b]` + boundary("[A-Za-z0-9_]", "=", "!") + boundary("[A-Za-z0-9_]", "!", "=")},
		{`\b`, "iu", boundary(`[A-Za-z0-9_\u017f\u212a]`, "=", "!")},
		{`a\b+`, "", "/a\\b+/: Nothing to repeat"},
		{`\b(?<n>\p{L}[\p{L}-z])`, "", boundary("[A-Za-z0-9_]", "=", "!") + `(?<n>\p{L}[\p{L}-z])`},
		{`a`, "uv", "Invalid flags supplied to RegExp constructor 'uv'"},
	} {
		text, native, err := Translate(c.pattern, c.flags)
		switch {
		case err != nil && !strings.HasSuffix(err.Error(), c.want), err == nil && text != c.want:
			t.Errorf("/%s/%s: %q, %v; want %q", c.pattern, c.flags, text, err, c.want)
		case err == nil && strings.ContainsAny(c.flags, "uv") && (strings.Contains(native, "v") || strings.Count(native, "u") != 1):
			t.Errorf("/%s/%s: the flags are %q", c.pattern, c.flags, native)
		}
	}
}

// boundary returns the translation of \b, or of \B: what is before a word is not in one, or the other way around.
func boundary(word, ahead, behind string) string {
	return "(?:(?<!" + word + ")(?" + ahead + word + ")|(?<=" + word + ")(?" + behind + word + "))"
}

// TestProperties: every property has a set, by each of its names, and goja can run it.
func TestProperties(t *testing.T) {
	vm := goja.New()
	for line := range lines() {
		kind, name, _ := strings.Cut(line, " ")
		switch kind {
		case "unicode":
			continue
		case "binary":
		default:
			name = kind + "=" + name
		}
		s, ok := Property(name)
		if !ok || name != "Any" && name != "gc=Cn" && len(s) == 0 {
			t.Errorf("%s: %v, %v", name, ok, s)
			continue
		}
		text, _, err := Translate(`^\p{`+name+`}$`, "u")
		if err != nil {
			t.Fatal(err)
		}
		vm.Set("pattern", text)
		vm.Set("first", string(s[0].From))
		got, err := vm.RunString(`new RegExp(pattern, "u").test(first)`)
		if err != nil || got.ToBoolean() == surrogates.Has(s[0].From) {
			t.Errorf("%s does not have %x: %v, %v", name, s[0].From, got, err)
		}
	}
	if s, _ := Property("Lu"); !s.Has('A') || s.Has('a') || !s.Has('Ω') || s.Has(0) || s.complement().Has('A') {
		t.Error("Lu has not its letters")
	}
}

// FuzzTranslate: no pattern panics or takes long, and what is translated is one that goja can read or that has another
// mistake.
func FuzzTranslate(f *testing.F) {
	for _, seed := range []string{`[\p{L}--[a-z]]`, `[^\q{a|bc}]`, `(?<=\P{Lu})[\u{1F600}-\u{1F64F}]`, `[a-\p{L}`, `\`, `[\`} {
		f.Add(seed, "v")
		f.Add(seed, "iu")
	}
	f.Fuzz(func(t *testing.T, pattern, flags string) {
		text, _, err := Translate(pattern, flags)
		if err == nil && !Translated(pattern, flags) && text != pattern {
			t.Errorf("/%s/%s became %q", pattern, flags, text)
		}
	})
}
