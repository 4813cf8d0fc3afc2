package jsregexp

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// operand is what a class of a pattern with the flag v contains: code points, and texts of \q{...} that are not one.
type operand struct {
	set   Set
	texts []string
}

// text returns the operand as a part of a pattern. The longest text is tried first.
func (o operand) text() string {
	if len(o.texts) == 0 {
		return o.set.class()
	}
	list := slices.Clone(o.texts)
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var parts []string
	for _, text := range list {
		if text != "" {
			parts = append(parts, quoted(text))
		}
	}
	if len(o.set) > 0 {
		parts = append(parts, o.set.class())
	}
	if slices.Contains(list, "") {
		parts = append(parts, "")
	}
	return "(?:" + strings.Join(parts, "|") + ")"
}

// quoted returns a pattern for a text.
func quoted(text string) string {
	var b strings.Builder
	for _, c := range text {
		b.WriteString(Set{{c, c}}.class())
	}
	return b.String()
}

// setClass reads a class after its bracket, to its end.
func (t *translator) setClass() (o operand) {
	inverted, operator, ranged := t.skip("^"), "", false
	for count := 0; !t.skip("]"); count++ {
		if t.rest == "" {
			panic(syntaxError("Unterminated character class"))
		}
		next := ""
		if count > 0 && (strings.HasPrefix(t.rest, "--") || strings.HasPrefix(t.rest, "&&")) {
			next = t.take(2)
		}
		// Only operands without a range can be combined with an operator, and only with the same one.
		if count > 1 && next != operator || ranged && next != "" {
			panic(syntaxError("Invalid set operation in character class"))
		}
		operator = next
		right, isRange := t.element()
		if ranged = ranged || isRange; isRange && next != "" {
			panic(syntaxError("Invalid set operation in character class"))
		}
		if t.ignoreCase { // the engine folds what is left of the set, which is not enough if something was taken away
			right.set = right.set.folded()
		}
		o = o.combine(next, right)
	}
	if !inverted {
		return o
	}
	if len(o.texts) > 0 {
		panic(syntaxError("Negated character class may contain strings"))
	}
	return operand{set: o.set.complement()}
}

// combine returns what an operator, or "" for the union, makes of two operands.
func (o operand) combine(operator string, right operand) operand {
	has := func(text string) bool { return slices.Contains(right.texts, text) }
	switch operator {
	case "--":
		return operand{o.set.intersect(right.set.complement()), slices.DeleteFunc(slices.Clone(o.texts), has)}
	case "&&":
		return operand{o.set.intersect(right.set), slices.DeleteFunc(slices.Clone(o.texts), func(text string) bool { return !has(text) })}
	}
	return operand{o.set.union(right.set), slices.Concat(o.texts, right.texts)}
}

// element reads an operand, or a range.
func (t *translator) element() (o operand, isRange bool) {
	switch {
	case t.skip("["):
		return t.setClass(), false
	case t.property() != "":
		return operand{set: t.takeProperty("Invalid property name in character class")}, false
	case t.skip(`\q{`):
		return t.alternatives(), false
	}
	if len(t.rest) > 1 && t.rest[0] == '\\' && strings.IndexByte("dDsSwW", t.rest[1]) >= 0 {
		return operand{set: t.shorthand(t.take(2)[1])}, false
	}
	from := t.setCharacter()
	to := from
	if strings.HasPrefix(t.rest, "-") && !strings.HasPrefix(t.rest, "--") {
		t.take(1)
		if to = t.setCharacter(); to < from {
			panic(syntaxError("Range out of order in character class"))
		}
		isRange = true
	}
	s := Set{{from, to}}
	return operand{set: s}, isRange
}

// alternatives reads the texts of \q{...}.
func (t *translator) alternatives() (o operand) {
	var list [][]rune
	list = append(list, nil)
	for !t.skip("}") {
		if t.rest == "" {
			panic(syntaxError("Invalid escape"))
		}
		if t.skip("|") {
			list = append(list, nil)
			continue
		}
		list[len(list)-1] = append(list[len(list)-1], t.setCharacter())
	}
	for _, text := range list {
		if len(text) == 1 {
			o.set = o.set.union(Set{{text[0], text[0]}})
		} else {
			o.texts = append(o.texts, string(text))
		}
	}
	return o
}

var (
	digits = Set{{'0', '9'}}
	word   = Set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	space  = Set{{'\t', '\r'}, {' ', ' '}, {0xa0, 0xa0}, {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}}
)

// shorthand returns the set of \d and its siblings.
func (t *translator) shorthand(letter byte) Set {
	switch letter {
	case 'd':
		return digits
	case 'D':
		return digits.complement()
	case 's':
		return space
	case 'S':
		return space.complement()
	}
	s := word
	if t.ignoreCase {
		s = s.folded()
	}
	if letter == 'W' {
		s = s.complement()
	}
	return s
}

// doubled are characters that have a meaning, or may get one, when they are written twice in a class.
const doubled = "&!#$%*+,.:;<=>?@^`~"

// setCharacter reads a character of a class, or an escape of one.
func (t *translator) setCharacter() rune {
	c, size := utf8.DecodeRuneInString(t.rest)
	t.take(size)
	switch {
	case size == 0:
		panic(syntaxError("Unterminated character class"))
	case strings.ContainsRune(`()[]{}/-|`, c):
		panic(syntaxError("Invalid character in character class"))
	case strings.ContainsRune(doubled, c) && strings.HasPrefix(t.rest, string(c)):
		panic(syntaxError("Invalid set operation in character class"))
	case c != '\\':
		return c
	}
	c, size = utf8.DecodeRuneInString(t.rest)
	t.take(size)
	if i := strings.IndexRune("bfnrtv0", c); i >= 0 && size > 0 {
		return rune("\b\f\n\r\t\v\x00"[i])
	}
	switch {
	case c == 'c' && t.rest != "" && (t.rest[0]|0x20 >= 'a' && t.rest[0]|0x20 <= 'z'):
		return rune(t.take(1)[0] & 31)
	case c == 'x':
		return t.hex(2)
	case c == 'u' && t.skip("{"):
		text, rest, closed := strings.Cut(t.rest, "}")
		n, err := strconv.ParseInt(text, 16, 32)
		if !closed || err != nil || n > maxRune || n < 0 {
			panic(syntaxError("Invalid Unicode escape"))
		}
		t.rest = rest
		return rune(n)
	case c == 'u':
		return t.codeUnits()
	case strings.ContainsRune(`^$\.*+?()[]{}|/-&!#%,:;<=>@`+"`~", c) && size > 0:
		return c
	}
	panic(syntaxError("Invalid escape"))
}

// codeUnits reads the digits of \uHHHH, or of two that are a surrogate pair.
func (t *translator) codeUnits() rune {
	c := t.hex(4)
	if before := t.rest; c >= 0xd800 && c < 0xdc00 && t.skip(`\u`) && !strings.HasPrefix(t.rest, "{") {
		if low := t.hex(4); low >= 0xdc00 && low < 0xe000 {
			return (c-0xd800)<<10 + (low - 0xdc00) + 0x10000
		}
		t.rest = before
	}
	return c
}

// hex reads n hexadecimal digits.
func (t *translator) hex(n int) rune {
	if len(t.rest) < n {
		panic(syntaxError("Invalid escape"))
	}
	c, err := strconv.ParseUint(t.take(n), 16, 32)
	if err != nil {
		panic(syntaxError("Invalid escape"))
	}
	return rune(c)
}
