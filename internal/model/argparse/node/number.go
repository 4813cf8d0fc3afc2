package node

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
	switch whole := Digits(s[i:]); {
	case whole == 0:
		return 0
	case s[i] == '0':
		i++
	default:
		i += whole
	}
	if i < len(s) && s[i] == '.' {
		fraction := Digits(s[i+1:])
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
		exponent := Digits(s[j:])
		if exponent == 0 {
			return 0
		}
		i = j + exponent
	}
	return i
}

// Digits returns the number of digits at the start of s.
func Digits(s string) int {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// IsNumber reports whether s is a JSON number.
func IsNumber(s string) bool { return s != "" && numberLength(s) == len(s) }

// Integral reports whether a JSON number is whole, such as 10, 10.0 and 1e3.
func Integral(s string) bool {
	_, exp, ok := decimal(s)
	return ok && exp >= 0
}

// SameNumber reports whether two JSON numbers have the same value.
func SameNumber(a, b string) bool {
	am, ae, _ := decimal(a)
	bm, be, _ := decimal(b)
	return a == b || am == bm && ae == be
}

// decimal returns a number as its digits without leading and trailing zeros, and an exponent of ten. ok is false if the
// exponent is too large.
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
