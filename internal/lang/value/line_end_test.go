package value

import "testing"

func TestWithoutLineEnd(t *testing.T) {
	for _, c := range []struct{ text, linux, windows string }{
		{"", "", ""},
		{"a", "a", "a"},
		{"a\n", "a", "a"},
		{"a\n\n", "a\n", "a\n"},
		{"a\r\n", "a\r", "a"},
		{"a\r\n\r\n", "a\r\n\r", "a\r\n"},
		{"a\r", "a\r", "a\r"},
		{"\r", "\r", "\r"},
	} {
		if got := withoutLineEnd(c.text, "linux"); got != c.linux {
			t.Errorf("linux: %q becomes %q, want %q", c.text, got, c.linux)
		}
		if got := withoutLineEnd(c.text, "windows"); got != c.windows {
			t.Errorf("windows: %q becomes %q, want %q", c.text, got, c.windows)
		}
	}
}
