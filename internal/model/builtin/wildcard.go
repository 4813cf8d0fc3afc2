package builtin

import (
	"fmt"
	"regexp"
	"strings"
)

// wildcard converts a pattern of a .gitignore file to a test of names, or of paths if full is set; nil if the pattern
// can match nothing, such as one with an unclosed bracket. Like git it works on bytes: ? matches one byte. It uses a
// regular expression, so matching takes linear time whatever the pattern.
func wildcard(pattern string, full bool) func(string) bool {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return func(s string) bool { return s == pattern }
	}
	if end := pattern[1:]; pattern[0] == '*' && !full && !strings.ContainsAny(end, `*?[\`) {
		return func(s string) bool { return strings.HasSuffix(s, end) }
	}
	source, ok := expression(pattern, full)
	if !ok {
		return nil
	}
	re, err := regexp.Compile(source)
	if err != nil { // it is too large
		return nil
	}
	return func(s string) bool { return re.MatchString(latin1(s)) }
}

// latin1 returns a text with one character for each byte.
func latin1(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			runes := make([]rune, len(s))
			for j := range len(s) {
				runes[j] = rune(s[j])
			}
			return string(runes)
		}
	}
	return s
}

// expression returns the regular expression for a pattern; ok is false if it can match nothing.
func expression(pattern string, full bool) (string, bool) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			start := i
			for i+1 < len(pattern) && pattern[i+1] == '*' {
				i++
			}
			next := pattern[i+1:]
			// git compares the part before the first special character separately, so stars right after it are at the
			// beginning of the remaining pattern.
			begins := start == 0 || pattern[start-1] == '/' || !strings.ContainsAny(pattern[:start], `*?[\`)
			alone := i > start && begins && (next == "" || next[0] == '/' || strings.HasPrefix(next, `\/`))
			switch {
			case !full || alone && next == "":
				b.WriteString(`.*`)
			case alone && next[0] == '/': // any number of folders, including none
				b.WriteString(`(?:.*/)?`)
				i++
			case alone:
				b.WriteString(`.*`)
			default:
				b.WriteString(`[^/]*`)
			}
		case '?':
			b.WriteString(`[^/]`)
		case '[':
			class, end, ok := bracket(pattern, i)
			if !ok {
				return "", false
			}
			b.WriteString(class)
			i = end
		case '\\':
			if i++; i == len(pattern) {
				return "", false
			}
			fallthrough
		default:
			fmt.Fprintf(&b, `\x{%x}`, pattern[i])
		}
	}
	return b.String() + `\z`, true
}

// bracket converts the class that begins at pattern[at] to one of a regular expression, and returns its last index.
// The class never matches a slash.
func bracket(pattern string, at int) (class string, end int, ok bool) {
	i := at + 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	var in [256]bool
	last := -1 // the previous character, at which a range may begin
	for first := true; ; first = false {
		if i >= len(pattern) {
			return "", 0, false
		}
		c := pattern[i]
		switch {
		case c == ']' && !first:
			return classOf(in, negated), i, true
		case c == '-' && last >= 0 && i+1 < len(pattern) && pattern[i+1] != ']':
			if i++; pattern[i] == '\\' {
				i++
			}
			if i >= len(pattern) {
				return "", 0, false
			}
			for b := last; b <= int(pattern[i]); b++ {
				in[b] = true
			}
			last = -1
		case c == '[' && i+1 < len(pattern) && pattern[i+1] == ':':
			length := strings.IndexByte(pattern[i+2:], ']')
			if length < 0 {
				return "", 0, false
			}
			name, named := strings.CutSuffix(pattern[i+2:i+2+length], ":")
			if !named { // not a named class: [ is an ordinary character
				in['['], last = true, '['
				break
			}
			member := classes[name]
			if member == nil {
				return "", 0, false
			}
			for b := range 128 {
				in[b] = in[b] || member(byte(b))
			}
			i, last = i+2+length, -1
		default:
			if c == '\\' {
				if i++; i >= len(pattern) {
					return "", 0, false
				}
			}
			in[pattern[i]], last = true, int(pattern[i])
		}
		i++
	}
}

// classOf returns a set of bytes as a class of a regular expression.
func classOf(in [256]bool, negated bool) string {
	var b strings.Builder
	for c := range 256 {
		if in[c] != negated && c != '/' {
			fmt.Fprintf(&b, `\x{%x}`, c)
		}
	}
	if b.Len() == 0 {
		return `[^\x00-\x{10FFFF}]`
	}
	return "[" + b.String() + "]"
}

func between(low, high byte) func(byte) bool {
	return func(c byte) bool { return low <= c && c <= high }
}

func anyOf(all ...func(byte) bool) func(byte) bool {
	return func(c byte) bool {
		for _, f := range all {
			if f(c) {
				return true
			}
		}
		return false
	}
}

func among(list string) func(byte) bool {
	return func(c byte) bool { return strings.IndexByte(list, c) >= 0 }
}

// classes are the named classes, in ASCII.
var classes = map[string]func(byte) bool{
	"alnum":  anyOf(between('0', '9'), between('a', 'z'), between('A', 'Z')),
	"alpha":  anyOf(between('a', 'z'), between('A', 'Z')),
	"blank":  among(" \t"),
	"cntrl":  anyOf(between(0, 31), between(127, 127)),
	"digit":  between('0', '9'),
	"graph":  between(33, 126),
	"lower":  between('a', 'z'),
	"print":  between(32, 126),
	"punct":  anyOf(between(33, 47), between(58, 64), between(91, 96), between(123, 126)),
	"space":  among(" \t\n\v\f\r"),
	"upper":  between('A', 'Z'),
	"xdigit": anyOf(between('0', '9'), between('a', 'f'), between('A', 'F')),
}
