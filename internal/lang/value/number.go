package value

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Number converts a value of a parameter to a float64. ok is false if it is not a number.
func Number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number: // beyond int64
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// ToNumber converts a value to an int64 or a float64, or to a json.Number as ParseNumber does.
func ToNumber(v any) (any, error) {
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int64:
		return v, nil
	case uint64:
		return json.Number(strconv.FormatUint(v, 10)), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v is not a number", v)
		}
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
		return v, nil
	case json.Number:
		return ParseNumber(v.String())
	case string:
		return ParseNumber(strings.TrimSpace(v))
	}
	return nil, fmt.Errorf("expected a number, got %s", KindOf(v))
}

// ParseNumber parses a number and keeps every digit: one that an int64 or a float64 would show in another way, as 3.10,
// 1e3 or a number of 20 digits, is a json.Number. Leading zeros mean nothing. 0x10, 0o20, 0b1 and 1_000 are read as in YAML.
func ParseNumber(s string) (any, error) {
	digits := s
	if strings.Contains(s, "_") && !strings.HasPrefix(s, "_") && !strings.HasSuffix(s, "_") {
		digits = strings.ReplaceAll(s, "_", "")
	}
	if !decimalPattern().MatchString(digits) {
		if n, err := strconv.ParseInt(digits, 0, 64); err == nil {
			return n, nil
		}
		return nil, fmt.Errorf("%s is not a number", valuetext.Quoted(s))
	}
	number := jsonNumber(digits)
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && strconv.FormatInt(n, 10) == number {
		return n, nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is out of range", valuetext.Quoted(s))
	}
	if strings.Contains(number, ".") && strconv.FormatFloat(f, 'f', -1, 64) == number {
		return f, nil
	}
	return json.Number(number), nil
}

// decimalPattern matches text that counts as a number: no hexadecimal, no underscores, no NaN and no
// Infinity.
var decimalPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`) })

// jsonNumber returns a decimal number in the form of JSON. Other text stays other text.
func jsonNumber(s string) string {
	sign, digits := "", strings.TrimPrefix(s, "+")
	if rest, minus := strings.CutPrefix(digits, "-"); minus {
		sign, digits = "-", rest
	}
	at := strings.IndexAny(digits, "eE")
	if at < 0 {
		at = len(digits)
	}
	mantissa := strings.TrimSuffix(strings.TrimLeft(digits[:at], "0"), ".")
	if mantissa == "" || mantissa[0] == '.' {
		mantissa = "0" + mantissa
	}
	return sign + mantissa + digits[at:]
}
