package value

import "testing"

// TestOneLine: lines are joined, and what is inside a line stays.
func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"  a\n\t b \r\n\n c\u2028d ":     "a b c d",
		"printf \"a\tb  c\"":             "printf \"a\tb  c\"",
		"":                               "",
		"\n \n":                          "",
		"ünï cödé and ünï cödé and more": "ünï cödé and ünï cö…",
	} {
		if got := OneLine(text, 20); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
