package jsworld

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// leadingChain returns the names with dots at the beginning of text.
func leadingChain(text string) string { return leadingNames().FindString(text) }

var leadingNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL_$][\pL\pN_$]*(?:\.[\pL_$#][\pL\pN_$]*)*`)
})

// maxChain limits how far before the place of an error its callee may begin.
const maxChain = 200

// trailingChain returns the callee that text ends with, such as list.filter or load(...).items.map.
// Arguments become "(...)", and a beginning that has no name becomes intermediate. It returns "" if
// text does not end with an expression that can be named.
func trailingChain(text string) string {
	text = text[max(0, len(text)-maxChain):]
	var parts []string
	for {
		text = strings.TrimRight(text, " \t\r\n")
		name := trailingName(text)
		switch {
		case name != "" && !slices.Contains(operators, name):
			parts, text = append(parts, name), text[:len(text)-len(name)]
		case strings.HasSuffix(text, "]"), strings.HasSuffix(text, ")"):
			open := opening(text)
			if open < 0 || !strings.ContainsAny(lastByte(strings.TrimRight(text[:open], " ")), nameEnds) && !endsName(text[:open]) {
				return join(append(parts, intermediate))
			}
			part := text[open:]
			if part[0] == '(' {
				part = "(...)"
			}
			parts, text = append(parts, part), text[:open]
			continue // what it applies to comes before it, without a dot
		default:
			return join(append(parts, intermediate))
		}
		before := strings.TrimRight(text, " \t\r\n")
		switch {
		case strings.HasSuffix(before, "?."):
			parts, text = append(parts, "?."), before[:len(before)-2]
		case strings.HasSuffix(before, ".") && !strings.HasSuffix(before, ".."):
			parts, text = append(parts, "."), before[:len(before)-1]
		default:
			return join(parts)
		}
	}
}

// operators are words after which a bracket does not belong to a call.
var operators = []string{"return", "typeof", "await", "void", "in", "of", "case", "else", "do", "throw", "new", "delete", "yield", "instanceof"}

// nameEnds are the brackets that an expression can end with.
const nameEnds = ")]"

func lastByte(text string) string { return text[max(0, len(text)-1):] }

func endsName(text string) bool {
	name := trailingName(strings.TrimRight(text, " "))
	return name != "" && !slices.Contains(operators, name)
}

// join joins parts that were found from the last to the first.
func join(parts []string) string {
	if len(parts) == 1 && parts[0] == intermediate {
		return ""
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// trailingName returns the identifier that text ends with.
func trailingName(text string) string {
	start := len(text)
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:start])
		if r != '_' && r != '$' && r != '#' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		start -= n
	}
	return text[start:]
}

// opening returns the offset of the bracket that the last byte of text closes, or -1.
func opening(text string) int {
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
