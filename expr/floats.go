package expr

import (
	"strconv"
	"strings"
)

// FitsFloat says whether a float64 has every digit of the decimal number that it was read
// from. One that has not is kept as its digits.
func FitsFloat(s string, f float64) bool {
	return significant(s) == significant(strconv.FormatFloat(f, 'e', -1, 64))
}

// significant are the digits of a decimal number without those that only place its point.
func significant(s string) string {
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		s = s[:e]
	}
	s = strings.TrimLeft(s, "+-")
	whole, part, _ := strings.Cut(s, ".")
	return strings.TrimRight(strings.TrimLeft(whole+part, "0"), "0")
}
