package bind

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
)

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
	if whole, point := strings.CutSuffix(s, "."); point && node.Digits(whole) == len(whole) {
		s = whole
	}
	if strings.HasPrefix(s, ".") {
		s = "0" + s
	}
	if s == "" || s[0] < '0' || s[0] > '9' || !node.IsNumber(s) {
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
		if s[i] == '_' && (i == 0 || i+1 == len(s) || node.Digits(s[i-1:]) == 0 || node.Digits(s[i+1:]) == 0) {
			return s
		}
	}
	return strings.ReplaceAll(s, "_", "")
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
		return "number", report.Clip(s, 40) + " is not a decimal number"
	case digit && strings.ContainsAny(body, "+*/^") && !node.IsNumber(body), digit && strings.Contains(strings.TrimLeft(body, "0123456789. "), "- "):
		return "code", "expressions are not evaluated; write the number"
	case digit:
		return "number", report.Clip(s, 40) + " is not a plain number; write digits and a decimal point, without a unit or thousands separators"
	}
	return "", ""
}
