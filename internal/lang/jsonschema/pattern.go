package jsonschema

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// The content of a class of RE2 that matches \s of ECMAScript, and of one that matches everything else.
const (
	spaces    = `\t-\r \x{a0}\x{feff}\p{Z}`
	notSpaces = `\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
)

// compilePattern compiles a regular expression of ECMAScript.
func compilePattern(s string) (*pattern, error) {
	t := translator{rest: s}
	if err := t.translate(); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(t.out.String())
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return &pattern{written: s, re: re}, nil
}

// translator rewrites what ECMAScript and RE2 write differently.
type translator struct {
	rest  string
	class bool // inside [...]
	out   strings.Builder
}

func (t *translator) translate() error {
	for t.rest != "" {
		if err := t.one(); err != nil {
			return err
		}
	}
	return nil
}

// differingForms returns pairs: how a form begins in ECMAScript, and what it is in RE2.
func differingForms() [][2]string {
	return [][2]string{{"[^]", `[\x00-\x{10ffff}]`}, {"[]", `[^\x00-\x{10ffff}]`}, {".", `[^\n\r\x{2028}\x{2029}]`}}
}

func (t *translator) one() error {
	if t.rest[0] == '\\' {
		return t.escape()
	}
	if t.class {
		return t.inClass()
	}
	for _, beyond := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(t.rest, beyond) {
			return fmt.Errorf("%s...) is a look-around, which is not supported (patterns are matched in linear time)", beyond)
		}
	}
	for _, s := range differingForms() {
		if rest, ok := strings.CutPrefix(t.rest, s[0]); ok {
			t.rest = rest
			t.out.WriteString(s[1])
			return nil
		}
	}
	if rest, ok := strings.CutPrefix(t.rest, "[^"); ok {
		t.class, t.rest = true, rest
		t.out.WriteString("[^")
		return nil
	}
	t.class = t.rest[0] == '['
	t.copy(1)
	return nil
}

// inClass translates one character between brackets. An opening bracket is a plain character there.
func (t *translator) inClass() error {
	switch t.rest[0] {
	case '[':
		t.out.WriteByte('\\')
	case ']':
		t.class = false
	}
	t.copy(1)
	return nil
}

func (t *translator) copy(n int) {
	t.out.WriteString(t.rest[:n])
	t.rest = t.rest[n:]
}

// escape translates a backslash and what belongs to it.
func (t *translator) escape() error {
	if len(t.rest) < 2 {
		return errors.New(`it ends with \`)
	}
	c := t.rest[1]
	switch {
	case c == 's':
		t.set(spaces)
	case c == 'S':
		t.set(notSpaces)
	case c == '/':
		t.out.WriteByte('/')
		t.rest = t.rest[2:]
	case c == 'b' && t.class:
		t.out.WriteString(`\x08`)
		t.rest = t.rest[2:]
	case c == '0' && (len(t.rest) == 2 || t.rest[2] < '0' || t.rest[2] > '9'):
		t.out.WriteString(`\x00`)
		t.rest = t.rest[2:]
	case c == 'k' || '0' <= c && c <= '9':
		return fmt.Errorf(`\%c is a back-reference, which is not supported (patterns are matched in linear time)`, c)
	case c == 'c' && len(t.rest) > 2 && ('a' <= t.rest[2]|0x20 && t.rest[2]|0x20 <= 'z'):
		fmt.Fprintf(&t.out, `\x%02x`, t.rest[2]&0x1f)
		t.rest = t.rest[3:]
	case c == 'u':
		return t.unicode()
	case c == 'p' || c == 'P':
		return t.property()
	case c < 0x80 && strings.IndexByte("dDwWbBfnrtvx", c) < 0 && (c|0x20 >= 'a' && c|0x20 <= 'z'):
		return fmt.Errorf(`\%c is not a valid escape`, c)
	default:
		t.copy(2)
	}
	return nil
}

// set writes a class, or its content if this is inside a class, for an escape of two characters.
func (t *translator) set(inside string) {
	if t.rest = t.rest[2:]; !t.class {
		inside = "[" + inside + "]"
	}
	t.out.WriteString(inside)
}

// unicode translates \uXXXX, a surrogate pair of them, or \u{...}.
func (t *translator) unicode() error {
	if digits, rest, ok := strings.Cut(t.rest, "}"); ok && strings.HasPrefix(digits, `\u{`) {
		t.out.WriteString(`\x{` + digits[3:] + `}`)
		t.rest = rest
		return nil
	}
	first, ok := utf16Unit(t.rest)
	if !ok {
		return errors.New(`\u must be followed by four hexadecimal digits or by {...}`)
	}
	t.rest = t.rest[6:]
	if utf16.IsSurrogate(first) {
		second, _ := utf16Unit(t.rest)
		if first = utf16.DecodeRune(first, second); first == '\uFFFD' {
			return errors.New(`it contains half of a surrogate pair`)
		}
		t.rest = t.rest[6:]
	}
	fmt.Fprintf(&t.out, `\x{%x}`, first)
	return nil
}

func utf16Unit(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(n), err == nil
}

// property translates \p{...}. RE2 names scripts without Script=.
func (t *translator) property() error {
	head, rest, ok := strings.Cut(t.rest, "}")
	name, braced := strings.CutPrefix(head[2:], "{")
	if !ok || !braced {
		return fmt.Errorf(`%s must be followed by a property in braces`, t.rest[:2])
	}
	for _, key := range []string{"Script=", "sc=", "Script_Extensions=", "scx=", "General_Category=", "gc="} {
		name = strings.TrimPrefix(name, key)
	}
	t.out.WriteString(head[:2] + "{" + name + "}")
	t.rest = rest
	return nil
}
