package argparse

import (
	"strconv"
	"strings"
)

// numberLength returns the length of the JSON number at the start of s, or 0.
func numberLength(s string) int {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch whole := digits(s[i:]); {
	case whole == 0:
		return 0
	case s[i] == '0':
		i++
	default:
		i += whole
	}
	if i < len(s) && s[i] == '.' {
		fraction := digits(s[i+1:])
		if fraction == 0 {
			return 0
		}
		i += 1 + fraction
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		exponent := digits(s[j:])
		if exponent == 0 {
			return 0
		}
		i = j + exponent
	}
	return i
}

func digits(s string) int {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

func isNumber(s string) bool { return s != "" && numberLength(s) == len(s) }

// asNumber converts a text to a JSON number with the same digits. It accepts surrounding
// spaces, a plus sign, underscores between digits, and a point without digits on one side.
func asNumber(s string) (string, bool) {
	s = strings.TrimSpace(s)
	sign := ""
	if rest, plus := strings.CutPrefix(s, "+"); plus {
		s = rest
	} else if rest, minus := strings.CutPrefix(s, "-"); minus {
		sign, s = "-", rest
	} else if rest, minus := strings.CutPrefix(s, "\u2212"); minus { // the minus sign of typography
		sign, s = "-", rest
	}
	s = withoutUnderscores(s)
	if whole, point := strings.CutSuffix(s, "."); point && digits(whole) == len(whole) {
		s = whole
	}
	if strings.HasPrefix(s, ".") {
		s = "0" + s
	}
	if s == "" || s[0] < '0' || s[0] > '9' || !isNumber(s) {
		return "", false
	}
	return sign + s, true
}

// withoutUnderscores removes the underscores between the digits of a number, as in 1_000. A
// text with an underscore elsewhere is returned unchanged.
func withoutUnderscores(s string) string {
	if strings.IndexByte(s, '_') < 0 {
		return s
	}
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i+1 == len(s) || digits(s[i-1:]) == 0 || digits(s[i+1:]) == 0) {
			return s
		}
	}
	return strings.ReplaceAll(s, "_", "")
}

// integral reports whether a JSON number is whole, such as 10, 10.0 and 1e3.
func integral(s string) bool {
	_, exp, ok := decimal(s)
	return ok && exp >= 0
}

// sameNumber reports whether two JSON numbers have the same value.
func sameNumber(a, b string) bool {
	am, ae, _ := decimal(a)
	bm, be, _ := decimal(b)
	return a == b || am == bm && ae == be
}

// decimal returns a number as its digits without leading and trailing zeros, and an exponent
// of ten. ok is false if the exponent is too large.
func decimal(s string) (mantissa string, exp int, ok bool) {
	sign := ""
	if rest, minus := strings.CutPrefix(s, "-"); minus {
		sign, s = "-", rest
	}
	ok = true
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		exp, err = strconv.Atoi(s[i+1:])
		s, ok = s[:i], err == nil
	}
	whole, fraction, _ := strings.Cut(s, ".")
	all := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(all, "0")
	if short == "" {
		return "", 0, ok
	}
	return sign + short, exp - len(fraction) + len(all) - len(short), ok
}

// notPlain explains why a text is not a value of another type: it is code, a number with a
// unit, or an ellipsis. code is "" if it has no explanation.
func notPlain(s string) (code, why string) {
	s = strings.TrimSpace(s)
	low := strings.ToLower(strings.TrimLeft(s, "+-"))
	body := strings.TrimLeft(s, "+-$€£¥ ")
	digit := body != "" && body[0] >= '0' && body[0] <= '9' || len(body) > 1 && body[0] == '.' && body[1] >= '0' && body[1] <= '9'
	switch {
	case strings.Contains(s, "...") || strings.Contains(s, "…"):
		return "ellipsis", "the value contains ... in place of omitted content; write the whole value"
	case low == "nan" || low == "inf" || low == "infinity":
		return "number", s + " is not a number that JSON can represent"
	case low == "undefined":
		return "code", "undefined is not a value; omit the name"
	case strings.Contains(s, "${") || strings.ContainsAny(s, "(") || strings.HasPrefix(s, "lambda") || strings.HasPrefix(s, "new ") || strings.HasPrefix(s, "await "):
		return "code", "this is code, which is not evaluated; write its value"
	case strings.HasPrefix(low, "0x") || strings.HasPrefix(low, "0b") || strings.HasPrefix(low, "0o"):
		return "number", clip(s, 40) + " is not a decimal number"
	case digit && strings.ContainsAny(body, "+*/^") && !isNumber(body), digit && strings.Contains(strings.TrimLeft(body, "0123456789. "), "- "):
		return "code", "expressions are not evaluated; write the number"
	case digit:
		return "number", clip(s, 40) + " is not a plain number; write digits and a decimal point, without a unit or thousands separators"
	}
	return "", ""
}
