package jsonschema

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// decimal is a number as it is written, of any length: its digits, without zeros at
// either end, times ten to exp. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exp      int64
}

// maxExp bounds the exponents that are told apart.
const maxExp = 1 << 60

// parseDecimal reads a number as JSON writes it.
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

// integer says whether a text is digits and nothing else.
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

// decimalOf is a number as encoding/json or Go has it; a float counts as the shortest
// decimal that stands for it.
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

// String is the one text that all spellings of a number share.
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

// size compares without the signs.
func (d decimal) size(other decimal) int {
	a, b := d.exp+int64(len(d.digits)), other.exp+int64(len(other.digits))
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return strings.Compare(d.digits, other.digits) // no zeros at the end: the longer is the larger
}

// multipleOf says whether d is a whole number of times m, which is not zero. Neither is
// ever written out in full: 1e400 is a multiple of 3 or not by arithmetic modulo 3.
func (d decimal) multipleOf(m decimal) bool {
	k := d.exp - m.exp
	if d.digits == "" || k < 0 { // d ends before m does
		return d.digits == ""
	}
	digits, _ := new(big.Int).SetString(d.digits, 10)
	by, _ := new(big.Int).SetString(m.digits, 10)
	rest := new(big.Int).Exp(big.NewInt(10), big.NewInt(k), by)
	return rest.Mul(rest, digits).Mod(rest, by).Sign() == 0
}

// count is the number as a count of things. What is larger than any count is the largest.
func (d decimal) count() (int, bool) {
	if d.negative || !d.whole() {
		return 0, false
	}
	if d.exp > 18 || d.exp+int64(len(d.digits)) > 18 {
		return math.MaxInt, true
	}
	n, err := strconv.Atoi("0" + d.digits + strings.Repeat("0", int(d.exp)))
	if err != nil { // on a machine of 32 bits
		return math.MaxInt, true
	}
	return n, true
}
