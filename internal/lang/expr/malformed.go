package expr

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// malformed reports the braces at i if they begin with a known name and were meant as a placeholder, but do not parse. They
// would reach a command as text, and nobody would notice. Braces of other languages stay text: of shells (${X}, {a,b},
// {start|stop}), awk ({seen[$1]++}, {print $1}), jq and JavaScript ({name: .x}).
func (s *scanner) malformed(i int) {
	from := i + 1
	if strings.HasPrefix(s.src[from:], "RAW:") {
		from += len("RAW:")
	}
	end := bracesEnd(s.src[i:]) + i
	if end < from {
		return
	}
	root := s.knownRoot(s.src[from:end])
	if root == "" || !s.mayMisspell(root) {
		return
	}
	if known, ok := s.names.(Speller); ok && known.IsText(root) {
		return
	}
	way := insteadOf(root, s.src[from+len(root):end])
	if way == "" {
		return
	}
	s.misspelt = end + 1 - i
	written := s.src[i : end+1]
	s.problems = append(s.problems, problemf(codeMalformed, i, len(written), fmt.Sprintf("%s; if the braces are text, write {%s} or add %s to x-allow", way, written, root),
		"%s begins with the name %s, but is not a placeholder", written, root))
}

// bracesEnd returns the offset of the brace that closes the first one of s on the same line, -1 if there is none.
func bracesEnd(s string) int {
	depth := 0
	for i := range min(len(s), maxPlaceholder) {
		switch s[i] {
		case '\n':
			return -1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// WithoutPlaceholders returns a script with letters in place of placeholders, which are no syntax of the shell.
func WithoutPlaceholders(script string) string {
	text := []byte(script)
	for i := range text {
		if text[i] != '{' || i > 0 && text[i-1] == '$' || i+1 == len(text) || !isNameStart(text[i+1]) {
			continue
		}
		for n := bracesEnd(script[i:]); n >= 0; n-- {
			text[i+n] = 'x'
		}
	}
	return string(text)
}

// knownRoot returns the longest known name at the beginning of a text, "" if it begins with none. After a name there is no
// other byte of a name; a dash ends one before a number only, as in {index-1}.
func (s *scanner) knownRoot(body string) string {
	for end := refLen(body); end > 0; end = strings.LastIndexAny(body[:end], ".[]-") {
		if end < len(body) && body[end] == '-' && !numberFollows(body[end+1:]) {
			continue
		}
		if s.knows(body[:end]) {
			return body[:end]
		}
	}
	return ""
}

// knows reports whether a reference can begin with a name.
func (s *scanner) knows(id string) bool { return id == "env" || s.names.Symbol(id).Class != Unknown }

// numberFollows reports whether a text is digits up to the end of a word.
func numberFollows(s string) bool {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	return digits > 0 && refLen("x"+s) == digits+1
}

// insteadOf returns what to write instead of braces that begin with a name and continue with rest, "" if they are not meant as
// a placeholder.
func insteadOf(root, rest string) string {
	switch {
	case rest == "":
		return ""
	case strings.IndexByte(".[]", rest[0]) >= 0:
		return insteadOfPath(root, rest)
	case rest[0] == ':':
		return insteadOfColon(root, rest[1:])
	}
	return insteadOfOperator(root, rest)
}

// insteadOfPath is insteadOf for {X.field...} and {X[index]...}.
func insteadOfPath(root, rest string) string {
	switch {
	case isCode(root, rest), len(root) == 1 && strings.HasPrefix(rest, ".."): // {a..z} is a range of bash
		return ""
	case strings.ContainsAny(rest, "|+*/%?"):
		return "a placeholder is a path with transforms, as in {" + root + ":trim}; it does not calculate"
	case strings.Contains(rest, "[-"):
		return "an index is a number from 0 on, counted from the beginning"
	case strings.ContainsAny(rest, `"'`):
		return "the fields of a path have no quotes: {" + root + ".field}; read other keys with a program such as jq, or with JavaScript"
	case strings.Contains(rest, "["):
		return "an index is a number, as in {" + root + "[0]}; for each element of a list, use for-each and {item}"
	}
	return "after a name there can be a path, as in {" + root + ".field}, and transforms, as in {" + root + ":trim}"
}

// isCode reports whether what follows a name is a statement of a program: an assignment, a call among others, or a
// subscript by a field of awk.
func isCode(root, rest string) bool {
	if strings.ContainsAny(rest, ";") || strings.Contains(rest, "++") || strings.Contains(rest, "--") || !isUpperName(root) && strings.Contains(rest, "$") {
		return true
	}
	for _, comparison := range []string{"==", "!=", "<=", ">="} {
		rest = strings.ReplaceAll(rest, comparison, "")
	}
	return strings.Contains(rest, "=")
}

// insteadOfColon is insteadOf for {X:...}, if that is not an entry of an object of JavaScript or jq.
func insteadOfColon(root, rest string) string {
	word := strings.TrimLeft(rest, " ")
	word = word[:len(word)-len(strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz0123456789"))]
	transform := valuetext.IsTransform(word)
	switch {
	case rest == "":
		return "write {" + root + "}"
	case strings.IndexByte("-=+?", rest[0]) >= 0 && !strings.Contains(rest, ","):
		return "give the parameter a default, or write {" + root + " ? " + root + " : 'text'}"
	case transform || word == "format":
		return "transforms are joined by colons without spaces, as in {" + root + ":trim:lowercase}"
	case isPrecision(rest):
		return "write {" + root + ":format(0.00)}"
	}
	return ""
}

// isPrecision reports whether a text is a format of Python for a number: .2f, >8.1f, 05d.
func isPrecision(s string) bool {
	verb := s[len(s)-1]
	digits := strings.Trim(s[:len(s)-1], "<>^ ")
	whole, decimals, found := strings.Cut(digits, ".")
	return strings.IndexByte("dfeg%", verb) >= 0 && strings.Trim(whole+decimals, "0123456789") == "" && (found && decimals != "" || whole != "" && whole[0] == '0')
}

// insteadOfOperator is insteadOf for what follows a name directly or after spaces.
func insteadOfOperator(root, rest string) string {
	op := strings.TrimLeft(rest, " ")
	spaced := op != rest
	upper := isUpperName(root)
	const calculates = "a placeholder does not calculate: calculate in the script, or in JavaScript"
	switch {
	case op == "":
		if upper {
			return "write {" + root + "}"
		}
	case isCode(root, op), len(root) == 1 && rest[0] == '/': // {s/a/b/} is a command of sed
	case strings.HasPrefix(op, "=="), strings.HasPrefix(op, "!="), strings.HasPrefix(op, "&&"), strings.HasPrefix(op, "||"), strings.HasPrefix(op, "??"):
		return "a condition chooses between two texts, as in {" + root + " ? 'a' : 'b'}"
	case op[0] == '?':
		if len(op) > 1 || upper {
			return "write both texts of a choice in quotes, as in {" + root + " ? 'a' : 'b'}"
		}
	case op[0] == '|':
		if isFilter(op[1:]) || upper && spaced {
			return "transforms follow after a colon, as in {" + root + ":trim}; they are " + valuetext.TransformList
		}
	case strings.IndexByte("+-*/%", op[0]) >= 0 && !isStatement(root) && isOperand(op[1:], spaced):
		return calculates
	case upper && !spaced && strings.IndexByte("#%^@!/", op[0]) >= 0:
		return "only shells have {" + root + op + "}: in a script, assign the value to a variable first"
	}
	return ""
}

// isStatement reports whether a name is a statement of awk, whose operand follows after it: {print -1}.
func isStatement(name string) bool {
	return name == "print" || name == "printf" || name == "exit" || name == "return"
}

// isOperand reports whether a text can be the operand of a calculation: a number, or with spaces around the operator a name
// or a text. {X -eq 1} is none.
func isOperand(s string, spaced bool) bool {
	operand := strings.TrimLeft(s, " ")
	if operand == "" {
		return false
	}
	return isDigit(operand[0]) || (operand != s || !spaced) && (isNameStart(operand[0]) || strings.IndexByte(`'"(`, operand[0]) >= 0)
}

// isFilter reports whether a text begins with the name of a filter of a template language. {start|stop} are alternatives.
func isFilter(s string) bool {
	word := strings.TrimLeft(s, " ")
	word = word[:len(word)-len(strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz0123456789_"))]
	switch word {
	case "length", "count", "size", "first", "last", "join", "split", "sort", "reverse", "unique", "keys", "values", "map", "select", "default", "upper", "lower", "capitalize",
		"title", "replace", "json", "tojson", "to_json", "yaml", "string", "int", "float", "quote", "escape", "format", "date", "max", "min", "sum", "trim":
		return true
	}
	transform := valuetext.IsTransform(word)
	return transform
}
