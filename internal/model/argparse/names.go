package argparse

import (
	"cmp"
	"slices"
	"strings"
)

// index finds the properties of a schema by their exact and folded names.
type index struct {
	exact  map[string]int
	folded map[string]int // -1 if several names fold to it
}

// maxUnindexed is the number of properties that are searched without an index.
const maxUnindexed = 12

// Call is what is declared for a call.
type Call struct {
	root    *Schema
	tool    string // "" if it is not known
	indexes map[*Schema]*index
}

// isTool reports whether a name is that of the called tool, if it is known.
func (r *Call) isTool(name string) bool { return r.tool != "" && sameTool(name, r.tool) }

// inputName reports whether a name is that of a parameter.
func (r *Call) inputName(name string) bool { return r.declares(r.root, name) }

// declares reports whether an object declares a name, in any spelling.
func (r *Call) declares(s *Schema, name string) bool {
	p, _ := r.property(s, name)
	return p >= 0
}

// property returns the index of the property that a name refers to, exactly or as its only
// folded match, or -1.
func (r *Call) property(s *Schema, key string) (i int, exact bool) {
	if s == nil || len(s.Properties) == 0 {
		return -1, false
	}
	if len(s.Properties) <= maxUnindexed {
		for i := range s.Properties {
			if s.Properties[i].Name == key {
				return i, true
			}
		}
	}
	x := r.indexes[s]
	if x == nil {
		x = newIndex(s)
		if r.indexes == nil {
			r.indexes = map[*Schema]*index{}
		}
		r.indexes[s] = x
	}
	if i, ok := x.exact[key]; ok {
		return i, true
	}
	if len(key) > maxFoldedName {
		return -1, false
	}
	if i, ok := x.folded[fold(key)]; ok {
		return i, false
	}
	return -1, false
}

// maxFoldedName limits the length of names that are folded.
const maxFoldedName = 1 << 10

func newIndex(s *Schema) *index {
	x := &index{exact: make(map[string]int, len(s.Properties)), folded: make(map[string]int, len(s.Properties))}
	for i := range s.Properties {
		name := s.Properties[i].Name
		x.exact[name] = i
		f := fold(name)
		if _, taken := x.folded[f]; taken {
			i = -1
		}
		x.folded[f] = i
	}
	return x
}

// suggest returns the names that were probably meant, most similar first.
func suggest(word string, known []string) []string {
	type near struct {
		name string
		far  int
	}
	if len(word) > 64 {
		return nil
	}
	var found []near
	given := fold(word)
	for _, name := range known[:min(len(known), 500)] {
		if len(name) > 64 {
			continue
		}
		f := fold(name)
		far := distance(given, f)
		switch most := max(len(given), len(f)); {
		case far <= max(1, most/3):
		case len(given) > 1 && len(f) > 1 && (strings.Contains(given, f) || strings.Contains(f, given)):
			far = most
		case len(given) == 1 && strings.HasPrefix(f, given), len(f) == 1 && strings.HasPrefix(given, f):
			far = most
		default:
			continue
		}
		found = append(found, near{name, far})
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.far, b.far) })
	var names []string
	for _, n := range found[:min(len(found), 3)] {
		names = append(names, n.name)
	}
	return names
}

// distance returns the number of letters to change, add, remove or swap.
func distance(a, b string) int {
	row, last, prior := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prior, last, row = last, row, prior
		row[0] = i + 1
		for j := range len(b) {
			miss := 1
			if a[i] == b[j] {
				miss = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+miss)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], prior[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
