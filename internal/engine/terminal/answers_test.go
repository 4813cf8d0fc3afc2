package terminal

import "testing"

// TestAnswers: where the last answer ends, whatever the program reads and however the output is cut into pieces.
func TestAnswers(t *testing.T) {
	type typing struct {
		text            string
		canonical, echo bool
	}
	line := func(s string) typing { return typing{s, true, true} }
	password := func(s string) typing { return typing{s, true, false} }
	for _, c := range []struct {
		name  string
		steps []any // typing, or output
		after string
		open  bool
	}{
		{"no answer", []any{"name? "}, "", false},
		{"a line", []any{"name? ", line("Ada\r"), "Ada\r\nhello\r\n"}, "hello\r\n", false},
		{"key by key", []any{"name? ", line("A"), "A", line("da"), "da", line("\r"), "\r\n", "hello"}, "hello", false},
		{"two lines", []any{"a? ", line("1\r"), "1\r\nb? ", line("2\r"), "2\r\ndone\r\n"}, "done\r\n", false},
		{"two lines typed ahead", []any{line("1\r2\r"), "1\r\n2\r\na? b? done\r\n"}, "a? b? done\r\n", false},
		{"half a line", []any{"a? ", line("ye"), "ye"}, "", false},
		{"nothing after it", []any{"a? ", line("y\r"), "y\r\n"}, "", false},
		{"the echo did not come", []any{"a? ", line("y\r")}, "", true},
		{"a password", []any{"pin? ", password("1234\n"), "\r\nok\r\n"}, "ok\r\n", false},
		{"a password without newline", []any{"pin? ", password("1234\n"), "ok\r\n\r\n"}, "ok\r\n\r\n", false},
		{"one newline only", []any{"pin? ", password("1234\n"), "\n\nok\n"}, "\nok\n", false},
		{"a newline in two pieces", []any{"pin? ", password("1234\n"), "\r", "\nok\n"}, "ok\n", false},
		{"a line, then a password", []any{"a? ", line("x\r"), "x\r\npin? ", password("1\r"), "\r\nok"}, "ok", false},
		{"the end of input", []any{"a? ", line("\x04"), "bye\n"}, "bye\n", false},
		{"a key that ends the program", []any{"a? ", line("\x03"), "^C"}, "", false},
		{"a key with echo", []any{"a? ", typing{"y", false, true}, "y\r\ngot y\r\n"}, "got y\r\n", false},
		{"a key with echo, no newline", []any{"a? ", typing{"y", false, true}, "ygot y\r\n"}, "got y\r\n", false},
		{"a key without echo", []any{"a? ", typing{"y", false, false}, "got y\n"}, "got y\n", false},
		{"a password and nothing after it", []any{"pin? ", password("1\n")}, "", true},
	} {
		var a answers
		after, answered := "", false
		for _, s := range c.steps {
			switch s := s.(type) {
			case typing:
				a.typed([]byte(s.text), s.canonical, s.echo)
			case string:
				if end := a.end([]byte(s)); end >= 0 {
					after, answered = s[end:], true
				} else if answered {
					after += s
				}
			}
		}
		if after != c.after || a.open() != c.open {
			t.Errorf("%s: after the last answer %q, open %t; want %q, %t", c.name, after, a.open(), c.after, c.open)
		}
	}
}
