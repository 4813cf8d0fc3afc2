package jsonschema

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// decimal is an exact number of any length: its digits, without zeros at either end, times ten to the
// power of exp. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exp      int64
}

// maxExp is the largest exponent. Larger ones are not distinguished.
const maxExp = 1 << 60

// parseDecimal parses a number as JSON writes it.
func parseDecimal(s string) (d decimal, ok bool) {
	s, d.negative = strings.CutPrefix(s, "-")
	mantissa, exponent := s, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if mantissa, exponent = s[:i], s[i+1:]; !integer(strings.TrimLeft(exponent[:min(1, len(exponent))], "+-") + exponent[min(1, len(exponent)):]) {
			return d, false
		}
	}
	whole, fraction, point := strings.Cut(mantissa, ".")
	if !integer(whole) || point && !integer(fraction) {
		return d, false
	}
	d.exp = exponentOf(exponent) - int64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	d.exp += int64(len(digits) - len(d.digits))
	if d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

// integer reports whether a text is digits and nothing else.
func integer(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func exponentOf(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && s != "" && s[0] == '-' {
		return -maxExp
	}
	if err != nil && s != "" {
		return maxExp
	}
	return max(-maxExp, min(n, maxExp))
}

// decimalOf converts a number decoded by encoding/json, or any number of Go. A float becomes the shortest
// decimal that represents it.
func decimalOf(v any) (decimal, bool) {
	switch v := v.(type) {
	case json.Number:
		return parseDecimal(string(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return decimal{}, false
		}
		return parseDecimal(strconv.FormatFloat(v, 'g', -1, 64))
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return parseDecimal(fmt.Sprint(v))
	case float32:
		return decimalOf(float64(v))
	}
	return decimal{}, false
}

func (d decimal) whole() bool { return d.exp >= 0 }

// String returns the canonical text of the number, the same for all spellings.
func (d decimal) String() string {
	sign := ""
	if d.negative {
		sign = "-"
	}
	return sign + d.digits + "e" + strconv.FormatInt(d.exp, 10)
}

func (d decimal) cmp(other decimal) int {
	switch a, b := d.sign(), other.sign(); {
	case a != b:
		return a - b
	case a < 0:
		return other.size(d)
	default:
		return d.size(other)
	}
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// size compares the absolute values.
func (d decimal) size(other decimal) int {
	a, b := d.exp+int64(len(d.digits)), other.exp+int64(len(other.digits))
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return strings.Compare(d.digits, other.digits) // there are no zeros at the end, so the longer one is larger
}

// multipleOf reports whether d is a whole multiple of m, which is not zero. It never writes a number out
// in full: whether 1e400 is a multiple of 3 is decided by arithmetic modulo 3.
func (d decimal) multipleOf(m decimal) bool {
	k := d.exp - m.exp
	if d.digits == "" || k < 0 { // d has more decimals than m
		return d.digits == ""
	}
	digits, _ := new(big.Int).SetString(d.digits, 10)
	by, _ := new(big.Int).SetString(m.digits, 10)
	rest := new(big.Int).Exp(big.NewInt(10), big.NewInt(k), by)
	return rest.Mul(rest, digits).Mod(rest, by).Sign() == 0
}

// count returns the number as a count of things. Numbers that are too large become the largest int.
func (d decimal) count() (int, bool) {
	if d.negative || !d.whole() {
		return 0, false
	}
	if d.exp > 18 || d.exp+int64(len(d.digits)) > 18 {
		return math.MaxInt, true
	}
	n, err := strconv.Atoi("0" + d.digits + strings.Repeat("0", int(d.exp)))
	if err != nil { // int has 32 bits
		return math.MaxInt, true
	}
	return n, true
}
