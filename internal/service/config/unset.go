package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// NotSet is what Shown returns for a key that is not set and has no default.
const NotSet = "not set"

// All returns Values, and one Value for each key that has none: its default. If the default is not
// a value that could be written in a file, Value.Value is nil, and Shown describes it.
func (c *Config) All() (list []Value) {
	for _, s := range settings() {
		set := slices.DeleteFunc(slices.Clone(c.Values), func(v Value) bool { return v.Key != s.key && !strings.HasPrefix(v.Key, s.key+".") })
		if len(set) == 0 {
			set = []Value{s.unset()}
		}
		list = append(list, set...)
	}
	return list
}

// unset returns the default of a key. If the default is not a value, or depends on the machine, it is
// at the end of the key's documentation.
func (l leaf) unset() Value {
	v := Value{Key: l.key, Origin: Origin{Layer: Default}, text: l.field.Default}
	if l.field.Default != "" {
		v.Value, _ = keytable.ParseSetting(l.field, "default", l.field.Default)
		return v
	}
	_, words, _ := strings.Cut(l.field.Doc, "Default: ")
	v.text = cmp.Or(strings.TrimSuffix(words, "."), NotSet)
	return v
}
