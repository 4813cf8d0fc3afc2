// Package label has the rules for labels of runs: short texts by name, such as team=ops, by which people find runs
// again. A definition declares some for all of its runs, and whoever starts a run can add others. They are stored and
// shown as they are, so they must not hold secrets.
package label

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Limits. Max is for the labels of one definition, and for those that one caller adds.
const (
	Max      = 16
	maxName  = 63  // bytes
	maxValue = 100 // bytes
)

// Rules says what labels must look like, for error messages.
const Rules = "a name has lower-case letters, digits and . _ / -, beginning with a letter, at most 63 in all; a value has letters, digits, spaces and . _ / : @ + , = -, at most 100 bytes"

// Check returns an error unless a label has a valid name and value.
func Check(name, value string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" ._/:@+,=-", r)
	}
	switch {
	case value == "":
		return fmt.Errorf("the label %s has no value", name)
	case len(value) > maxValue || strings.ContainsFunc(value, odd) || strings.TrimSpace(value) != value:
		return fmt.Errorf("%.120q cannot be the value of the label %s", value, name)
	}
	return nil
}

// CheckName returns an error unless name can be the name of a label.
func CheckName(name string) error {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._/-", r)
	}
	if name == "" || len(name) > maxName || name[0] < 'a' || name[0] > 'z' || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("%.80q cannot be the name of a label", name)
	}
	return nil
}

// CheckAll is Check for several labels. There may be at most Max.
func CheckAll(labels map[string]string) error {
	if len(labels) > Max {
		return fmt.Errorf("%d labels are too many: at most %d are allowed", len(labels), Max)
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if err := Check(name, labels[name]); err != nil {
			return err
		}
	}
	return nil
}

// Parse reads labels that are written as NAME=VALUE. Of two with one name, the last one counts.
func Parse(words []string) (map[string]string, error) {
	var labels map[string]string
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fmt.Errorf("%.80q is not a label: write it as NAME=VALUE", w)
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[name] = value
	}
	return labels, CheckAll(labels)
}

// Listed returns labels as text, sorted by name: "env=prod team=ops".
func Listed(labels map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, name+"="+labels[name])
	}
	return strings.Join(words, " ")
}
