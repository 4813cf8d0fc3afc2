package console

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// TestCleaner checks that the output does not depend on how a text is split into writes, and
// that it contains no control sequences except colors.
func TestCleaner(t *testing.T) {
	for text, want := range map[string]string{
		"plain\nlines":             "plain\nlines",
		"\x1b[31mred\x1b[0m\n":     "\x1b[31mred\x1b[0m\n",
		"a\x1b]52;c;cHduCg==\x07b": "ab",
		"a\x1b]0;title\x1b\\b\n":   "ab\n",
		"a\x1b[2J\x1b[1;1Hb":       "ab",
		"10%\r20%\r\nend\r":        "10%\n20%\nend\n",
		"a\bb\x07":                 "a\uFFFDb\uFFFD",
		"h\u00e9\u202ex":           "hé\uFFFDx",
		"a\u009b2Jb":               "a\uFFFD2Jb",
		"\xff":                     "\uFFFD",
		"open \x1b]0;never closed": "open ",
		"end \x1b":                 "end \uFFFD",
		"\x1bPq" + strings.Repeat("#", 100) + "\x1b\\x": "x",
	} {
		for size := 1; size <= len(text); size++ {
			var b strings.Builder
			c := NewCleaner(&b)
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				c.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			c.Flush()
			if b.String() != want {
				t.Errorf("%q in pieces of %d is %q, want %q", text, size, b.String(), want)
			}
		}
	}
}

func TestPlainText(t *testing.T) {
	if got := PlainText("\x1b[1mname?\x1b[0m \x1b]0;title\x07a\rb\x1b[2J\x1b["); got != "name? a\nb\uFFFD[" {
		t.Errorf("%q", got)
	}
}

// TestCleanerPassesOnPlainText checks that plain text is written as it is, without a copy.
func TestCleanerPassesOnPlainText(t *testing.T) {
	c, text := NewCleaner(io.Discard), bytes.Repeat([]byte("plain text\n"), 1000)
	if n := testing.AllocsPerRun(100, func() { c.Write(text) }); n > 0 {
		t.Errorf("a write of plain text makes %v allocations", n)
	}
}
