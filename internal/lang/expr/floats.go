package expr

import (
	"strconv"
	"strings"
)

// FitsFloat reports whether f has every digit of the decimal number s from which it was read. A
// number that does not fit is kept as its digits.
func FitsFloat(s string, f float64) bool {
	return significant(s) == significant(strconv.FormatFloat(f, 'e', -1, 64))
}

// significant returns the digits of a decimal number without leading and trailing zeros, sign,
// point and exponent.
func significant(s string) string {
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		s = s[:e]
	}
	s = strings.TrimLeft(s, "+-")
	whole, part, _ := strings.Cut(s, ".")
	return strings.TrimRight(strings.TrimLeft(whole+part, "0"), "0")
}
