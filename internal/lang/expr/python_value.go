package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/lang/quoting"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// writePython writes the value so that Python reads the same value: as a literal, or as escaped
// text inside quotes of the author.
func (r *scriptRenderer) writePython(ph *placeholder, v Value, words []string) error {
	if ph.at.Place.Form == quoting.Inner {
		text := pythonText(words[0])
		r.text.WriteString(strings.ReplaceAll(text[1:len(text)-1], "'", `\'`))
		return nil
	}
	var value any = words[0]
	switch {
	case v.Absent:
		value = nil
	case v.Format == nil && !v.literal:
		value = v.V
	}
	lit, err := pythonLiteral(value)
	if err != nil {
		return fmt.Errorf("%s: %w", ph.name(), err)
	}
	if _, ok := valuetext.Number(value); ok && (ph.at.Place.Parenthesize || strings.HasPrefix(lit, "-")) {
		lit = "(" + lit + ")" // 5.real and -5**2 mean something else
	}
	r.text.WriteString(lit)
	return nil
}

// pythonLiteral returns a value as a Python literal.
func pythonLiteral(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "None", nil
	case string:
		if strings.IndexByte(v, 0) >= 0 {
			return "", errNUL
		}
		return pythonText(v), nil
	case bool:
		if v {
			return "True", nil
		}
		return "False", nil
	case []any:
		items := make([]string, len(v))
		for i, e := range v {
			var err error
			if items[i], err = pythonLiteral(e); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(items, ", ") + "]", nil
	case map[string]any:
		return pythonDict(v)
	}
	return pythonNumber(v)
}

func pythonDict(m map[string]any) (string, error) {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	items := make([]string, len(keys))
	for i, k := range keys {
		key, err := pythonLiteral(k)
		if err != nil {
			return "", err
		}
		value, err := pythonLiteral(m[k])
		if err != nil {
			return "", err
		}
		items[i] = key + ": " + value
	}
	return "{" + strings.Join(items, ", ") + "}", nil
}

// pythonNumber returns a number as Python literal.
func pythonNumber(v any) (string, error) {
	text, ok := valuetext.Number(v)
	if !ok || !isNumberText(text) {
		return "", fmt.Errorf("cannot write %T as a Python literal", v)
	}
	return text, nil
}

// isNumberText reports whether s is digits with at most a minus, a point and an exponent. No
// language reads such text as anything but a number.
func isNumberText(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	_, err := strconv.ParseFloat(s, 64)
	return (err == nil || isWhole(s)) && digits != "" && isDigit(digits[0]) && strings.Trim(digits, "0123456789.eE+-") == ""
}

// pythonText returns a string in double quotes, escaped as in JSON, so that masking recognizes a
// secret in a traceback. A byte that is not UTF-8 becomes the character that Python uses for it
// in arguments and file names (PEP 383).
func pythonText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\udc%02x`, s[i])
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte('"')
	return b.String()
}
