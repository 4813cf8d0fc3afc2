package jsregexp

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Needed reports whether goja cannot run an expression as it is written.
func Needed(pattern, flags string) bool {
	return Translated(pattern, flags) || OneByOne(pattern, flags)
}

// Translated reports whether a pattern needs Translate.
func Translated(pattern, flags string) bool {
	return strings.Contains(flags, "v") || strings.Contains(pattern, `\b`) || strings.Contains(pattern, `\B`) ||
		strings.Contains(flags, "u") && (strings.Contains(pattern, `\p`) || strings.Contains(pattern, `\P`) || hasNamedGroup(pattern))
}

// otherEngine matches nothing, but makes goja use the engine that knows lookaheads. The other one forgets the names of
// groups with the flag u, if the text is not ASCII.
const otherEngine = "(?=)"

// hasNamedGroup reports whether a pattern may have a named group.
func hasNamedGroup(pattern string) bool {
	for rest, found := pattern, true; found; {
		if _, rest, found = strings.Cut(rest, "(?<"); found && rest != "" && rest[0] != '=' && rest[0] != '!' {
			return true
		}
	}
	return false
}

// Translate returns the pattern and the flags for goja. Other mistakes than those in properties and classes are left to
// goja. The error is a SyntaxError of the language.
func Translate(pattern, flags string) (text, native string, err error) {
	if strings.Contains(flags, "v") && strings.Contains(flags, "u") || strings.Count(flags, "v") > 1 {
		return "", "", errors.New("Invalid flags supplied to RegExp constructor '" + flags + "'") //nolint:staticcheck // the wording of Node.js
	}
	t := &translator{rest: pattern, sets: strings.Contains(flags, "v"), ignoreCase: strings.Contains(flags, "i")}
	t.unicode = t.sets || strings.Contains(flags, "u")
	defer func() {
		if bad, ok := recover().(syntaxError); ok {
			err = errors.New("Invalid regular expression: /" + pattern + "/" + flags + ": " + string(bad)) //nolint:staticcheck // the wording of Node.js
		}
	}()
	if t.unicode && hasNamedGroup(pattern) {
		t.out.WriteString(otherEngine)
	}
	for t.rest != "" {
		t.atom()
	}
	return t.out.String(), strings.Replace(flags, "v", "u", 1), nil
}

// syntaxError ends the translation.
type syntaxError string

// translator reads a pattern from its beginning to its end.
type translator struct {
	rest       string // of the pattern
	out        strings.Builder
	sets       bool // the flag v
	unicode    bool // the flag u or v
	ignoreCase bool
}

// atom translates a character, an escape or a class.
func (t *translator) atom() {
	switch {
	case t.property() != "":
		t.out.WriteString(t.takeProperty("Invalid property name").class())
	case t.rest[0] == '[' && t.sets:
		t.take(1)
		t.out.WriteString(t.setClass().text())
	case t.rest[0] == '[':
		t.class()
	case strings.HasPrefix(t.rest, `\b`), strings.HasPrefix(t.rest, `\B`):
		t.boundary()
	default:
		t.out.WriteString(t.character())
	}
}

// boundary translates \b or \B. One engine of goja takes the letters and digits of all alphabets for parts of words.
func (t *translator) boundary() {
	written := t.take(2)
	word := "[A-Za-z0-9_]"
	if t.unicode && t.ignoreCase {
		word = `[A-Za-z0-9_\u017f\u212a]`
	}
	switch {
	case t.rest != "" && strings.ContainsRune("*+?", rune(t.rest[0])):
		panic(syntaxError("Nothing to repeat"))
	case written == `\b`:
		t.out.WriteString("(?:(?<!" + word + ")(?=" + word + ")|(?<=" + word + ")(?!" + word + "))")
	default:
		t.out.WriteString("(?:(?<!" + word + ")(?!" + word + ")|(?<=" + word + ")(?=" + word + "))")
	}
}

// character takes a character, or an escape with the character behind it, as it is.
func (t *translator) character() string {
	n := 0
	if t.rest[0] == '\\' && len(t.rest) > 1 {
		n = 1
	}
	_, size := utf8.DecodeRuneInString(t.rest[n:])
	return t.take(n + size)
}

func (t *translator) take(n int) string {
	text := t.rest[:n]
	t.rest = t.rest[n:]
	return text
}

// skip takes a text if the rest begins with it.
func (t *translator) skip(text string) bool {
	rest, ok := strings.CutPrefix(t.rest, text)
	t.rest = rest
	return ok
}

// property returns `\p` or `\P` if the rest begins with it and these are properties.
func (t *translator) property() string {
	if !t.unicode {
		return ""
	}
	if strings.HasPrefix(t.rest, `\p`) || strings.HasPrefix(t.rest, `\P`) {
		return t.rest[:2]
	}
	return ""
}

// takeProperty takes a property, and returns its set, or what is not in it for \P.
func (t *translator) takeProperty(message string) Set {
	inverted := t.take(2) == `\P`
	name, rest, closed := strings.Cut(strings.TrimPrefix(t.rest, "{"), "}")
	s, known := Property(name)
	if !strings.HasPrefix(t.rest, "{") || !closed || !known {
		panic(syntaxError(message))
	}
	t.rest = rest
	if !inverted {
		return s
	}
	if t.sets && t.ignoreCase {
		s = s.folded()
	}
	return s.complement()
}

// class translates a class of a pattern with the flag u.
func (t *translator) class() {
	t.out.WriteString(t.take(1))
	if t.skip("^") {
		t.out.WriteString("^")
	}
	for first := true; t.rest != "" && t.rest[0] != ']'; first = false {
		dash := !first && strings.HasPrefix(t.rest, "-") && strings.HasPrefix(t.rest[1:], `\`)
		if dash {
			t.take(1)
			if t.property() != "" {
				panic(syntaxError("Invalid character class"))
			}
			t.out.WriteString("-")
			t.out.WriteString(t.character())
			continue
		}
		if t.property() == "" {
			t.out.WriteString(t.character())
			continue
		}
		t.out.WriteString(t.takeProperty("Invalid property name in character class").ranges())
		if t.skip("-") {
			if t.rest != "" && t.rest[0] != ']' {
				panic(syntaxError("Invalid character class"))
			}
			t.out.WriteString(`\-`)
		}
	}
	if t.rest == "" {
		panic(syntaxError("Unterminated character class"))
	}
	t.out.WriteString(t.take(1))
}
