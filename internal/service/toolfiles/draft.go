package toolfiles

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/rewrite"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Draft is a mapping that is being built: a tool, a step, a test. Keys are paths such as
// "error-handling.retry.attempts".
type Draft []tool.Entry

// Set sets the value of a key.
func (d *Draft) Set(path string, v tool.Value) { *d.at(path) = v }

// Add appends a value to the list of a key.
func (d *Draft) Add(path string, v tool.Value) {
	to := d.at(path)
	to.List = append(to.List, v)
}

// Get returns the value of a key, and reports whether it has one.
func (d *Draft) Get(path string) (tool.Value, bool) {
	key, rest, deeper := strings.Cut(path, ".")
	for _, e := range *d {
		if e.Key == key && deeper {
			in := Draft(e.Value.Map)
			return in.Get(rest)
		} else if e.Key == key {
			return e.Value, true
		}
	}
	return tool.Value{}, false
}

// Delete removes a key of the top level.
func (d *Draft) Delete(key string) {
	*d = slices.DeleteFunc(*d, func(e tool.Entry) bool { return e.Key == key })
}

// Entry sets the value of a name below a path; the name may contain any character.
func (d *Draft) Entry(path, name string, v tool.Value) {
	to := d.at(path)
	to.Map = append(to.Map, tool.Entry{Key: name, Value: v})
}

// at returns the value of a path. It creates the value if it is missing.
func (d *Draft) at(path string) *tool.Value {
	key, rest, deeper := strings.Cut(path, ".")
	i := slices.IndexFunc(*d, func(e tool.Entry) bool { return e.Key == key })
	if i < 0 {
		i = len(*d)
		*d = append(*d, tool.Entry{Key: key})
	}
	v := &(*d)[i].Value
	if !deeper {
		return v
	}
	in := Draft(v.Map)
	to := in.at(rest)
	v.Map = in
	return to
}

// Value returns the draft as a value for another draft.
func (d Draft) Value() tool.Value { return tool.Value{Map: d} }

// keyOrder is the order in which the specification writes the keys of all mappings.
var keyOrder = []string{
	"name", "type", "description",
	"bash", "sh", "cmd", "pwsh", "run", "python", "js", "script", "commands", "shell",
	"steps", "continue-on-error", "run-condition", "parallel", "wait-for", "error-handling", "output",
	"parameters", "required", "default", "validation", "transform", "format", "examples",
	"environment", "variables", "inherit", "working-directory", "timeout", "platforms", "tags", "input",
	"security", "execution-privilege", "isolation", "required-permissions", "tests", "expected", "cleanup",
}

// authorKeyed are the keys of mappings whose keys the author chooses.
var authorKeyed = []string{"parameters", "variables"}

// YAML returns the text of a definition file, with its keys in keyOrder.
func (d Draft) YAML() ([]byte, error) { return rewrite.WriteYAML(sorted(d)) }

func sorted(entries []tool.Entry) []tool.Entry {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b tool.Entry) int { return rank(a.Key) - rank(b.Key) })
	for i, e := range entries {
		entries[i].Value = sortedValue(e.Value, slices.Contains(authorKeyed, e.Key))
	}
	return entries
}

func rank(key string) int {
	if i := slices.Index(keyOrder, key); i >= 0 {
		return i
	}
	return len(keyOrder)
}

func sortedValue(v tool.Value, names bool) tool.Value {
	switch {
	case v.Map != nil && names:
		m := slices.Clone(v.Map)
		for i := range m {
			m[i].Value = sortedValue(m[i].Value, false)
		}
		v.Map = m
	case v.Map != nil:
		v.Map = sorted(v.Map)
	case v.List != nil:
		list := slices.Clone(v.List)
		for i := range list {
			list[i] = sortedValue(list[i], false)
		}
		v.List = list
	}
	return v
}
