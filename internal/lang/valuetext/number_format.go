package valuetext

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// numberFormat is a .NET-style number pattern: a letter with digits (D4, F2, N2, X8) or a picture
// of digits (0000, #,##0.00). The result has exact decimals, rounded half away from zero.
type numberFormat struct {
	pattern     string
	letter      byte // 'D', 'F', 'N', 'X', 'x', or 0 for a picture
	minWhole    int  // minimum number of digits before the point
	minDecimals int  // minimum number of digits after it
	maxDecimals int  // maximum number of digits after it
	thousands   bool
	omitZero    bool // a picture without 0 before the point: 0.5 is shown as .5
}

// maxPatternDigits is the maximum width of a formatted number.
const maxPatternDigits = 99

func parseNumberFormat(pattern string) (numberFormat, error) {
	f := numberFormat{pattern: pattern}
	bad := fmt.Errorf("invalid number format %q: write a pattern of 0 # , . (0000, #,##0.00), or D4, F2, N2, X8", pattern)
	if pattern == "" || len(pattern) > maxPatternDigits {
		return f, bad
	}
	if strings.IndexByte("DFNXdfnx", pattern[0]) >= 0 {
		return f, f.parseLetter(bad)
	}
	return f, f.parsePicture(bad)
}

func (f *numberFormat) parseLetter(bad error) error {
	f.letter = f.pattern[0] &^ 0x20
	if f.pattern[0] == 'x' {
		f.letter = 'x'
	}
	digits, given := 0, len(f.pattern) > 1
	if given {
		n, err := strconv.ParseUint(f.pattern[1:], 10, 8)
		if err != nil || n > maxPatternDigits {
			return bad
		}
		digits = int(n)
	}
	f.minWhole = 1
	switch f.letter {
	case 'F', 'N':
		if !given {
			digits = 2
		}
		f.minDecimals, f.maxDecimals, f.thousands = digits, digits, f.letter == 'N'
	default:
		f.minWhole = max(1, digits)
	}
	return nil
}

func (f *numberFormat) parsePicture(bad error) error {
	whole, fraction, _ := strings.Cut(f.pattern, ".")
	f.thousands = strings.Contains(whole, ",")
	whole = strings.ReplaceAll(whole, ",", "")
	if strings.Trim(f.pattern, "0#,.") != "" || strings.ContainsAny(fraction, ",.") || whole+fraction == "" ||
		strings.Contains(strings.TrimLeft(whole, "#"), "#") || strings.Contains(strings.TrimRight(fraction, "#"), "#") {
		return bad
	}
	f.minWhole = strings.Count(whole, "0")
	f.omitZero = f.minWhole == 0
	f.minDecimals, f.maxDecimals = strings.Count(fraction, "0"), len(fraction)
	return nil
}

func (f numberFormat) apply(v any) (string, error) {
	r, ok := exactNumber(v)
	if !ok {
		return "", fmt.Errorf("cannot format %s as %s: it is not a number", Quoted(Of(v, "")), f.pattern)
	}
	switch f.letter {
	case 'D', 'X', 'x':
		return f.integer(r)
	}
	return f.decimal(r), nil
}

func (f numberFormat) integer(r *big.Rat) (string, error) {
	if !r.IsInt() {
		return "", fmt.Errorf("cannot format %s as %s: it is not a whole number", r.FloatString(6), f.pattern)
	}
	n := new(big.Int).Abs(r.Num())
	digits := n.String()
	switch f.letter {
	case 'X':
		digits = strings.ToUpper(n.Text(16))
	case 'x':
		digits = n.Text(16)
	}
	return sign(r) + pad(digits, f.minWhole), nil
}

func (f numberFormat) decimal(r *big.Rat) string {
	text := new(big.Rat).Abs(r).FloatString(f.maxDecimals)
	whole, fraction, _ := strings.Cut(text, ".")
	for len(fraction) > f.minDecimals && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	lead := ""
	if strings.Trim(whole+fraction, "0") != "" {
		lead = sign(r) // a number that rounds to zero has no sign
	}
	if f.omitZero && whole == "0" {
		whole = ""
	}
	whole = pad(whole, f.minWhole)
	if f.thousands {
		whole = group(whole)
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return lead + whole + fraction
}

func sign(r *big.Rat) string {
	if r.Sign() < 0 {
		return "-"
	}
	return ""
}

func pad(digits string, width int) string {
	return strings.Repeat("0", max(0, width-len(digits))) + digits
}

func group(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// exactNumber converts v without rounding if its text is plain digits. A number with an exponent
// is converted to a float first: 1e999999999 must not become a number with that many digits.
func exactNumber(v any) (*big.Rat, bool) {
	text, ok := Number(v)
	if s, isText := v.(string); isText {
		text, ok = strings.TrimSpace(s), true
	}
	f, isNumber := ParseNumber(text)
	if !ok || !isNumber {
		return nil, false
	}
	const maxDigits = 400
	if strings.ContainsAny(text, "eE") || len(text) > maxDigits {
		text = floatText(f)
	}
	return new(big.Rat).SetString(text)
}
