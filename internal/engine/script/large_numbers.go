package script

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/value"
)

// largeNumber is a whole number in the parameters of a tool that a Number of JavaScript would change. module.js makes it
// a BigInt.
type largeNumber struct {
	Path   []any  `json:"path"` // keys of objects and indexes of lists, from the parameters to the number
	Digits string `json:"digits"`
}

// largeNumbers returns the large numbers in the value at a path.
func largeNumbers(v any, path ...any) (list []largeNumber) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, largeNumbers(v[key], append(slices.Clone(path), key)...)...)
		}
	case []any:
		for i, item := range v {
			list = append(list, largeNumbers(item, append(slices.Clone(path), i)...)...)
		}
	case string, bool, nil:
	default:
		if digits := value.Plain(v); changedByFloat(digits) {
			list = append(list, largeNumber{path, digits})
		}
	}
	return list
}

// changedByFloat reports whether a text is a whole number that has other digits as a 64-bit float.
func changedByFloat(digits string) bool {
	if strings.Trim(strings.TrimPrefix(digits, "-"), "0123456789") != "" {
		return false
	}
	f, err := strconv.ParseFloat(digits, 64)
	return err == nil && digits != "-0" && strconv.FormatFloat(f, 'f', -1, 64) != digits
}
