package cache

import "fmt"

// Kind says what a Component describes.
type Kind string

// The kinds, in the order in which they appear in a list.
const (
	Format     Kind = "format"     // format of the cache, and the platform
	Definition Kind = "definition" // one part of the step's definition, by its key
	Output     Kind = "output"     // one pattern of outputs
	Command    Kind = "command"    // the resolved command
	Stdin      Kind = "stdin"      // standard input
	Variable   Kind = "variable"   // an environment variable that the definition sets or lists
	Key        Kind = "key"        // the text that the author gave as the key
	Input      Kind = "input"      // one input file
	NoMatch    Kind = "nothing"    // a pattern of inputs without a match
)

// Component is one of the things that a result depends on.
type Component struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name,omitempty"`
	// Hash represents the value. "" means that the value is not known; no cached result has such a component.
	Hash string `json:"hash"`
}

// Component returns a component of that kind and name whose value is the given texts.
func (s *Store) Component(k Kind, name string, value ...string) Component {
	return Component{Kind: k, Name: name, Hash: s.Sum(append([]string{string(k), name}, value...)...)}
}

// Key returns the key of the result for a list of components. It depends on the kinds and hashes only, because names
// are for people.
func (s *Store) Key(list []Component) string {
	texts := make([]string, 0, 2*len(list))
	for _, c := range list {
		texts = append(texts, string(c.Kind), c.Hash)
	}
	return s.Sum(texts...)
}

// Change says how a component differs.
type Change string

// The changes.
const (
	Changed Change = "changed"
	Added   Change = "added"
	Removed Change = "removed"
)

// Difference is a component that differs between two lists.
type Difference struct {
	Kind   Kind
	Name   string
	Change Change
}

// String describes the difference in words.
func (d Difference) String() string {
	what := ""
	switch d.Kind {
	case Format:
		return "the cached result comes from another version of flowrun or another platform"
	case Command:
		return "the command changed"
	case Stdin:
		return "the standard input changed"
	case Key:
		return "the key changed"
	case NoMatch:
		if d.Change == Removed {
			return fmt.Sprintf("a file now matches the input pattern %s", d.Name)
		}
		return fmt.Sprintf("no file matches the input pattern %s any more", d.Name)
	case Definition:
		what = d.Name
	case Variable:
		what = "environment variable " + d.Name
	case Output:
		what = "output pattern " + d.Name
	case Input:
		what = "input " + d.Name
	}
	switch d.Change {
	case Added:
		return what + " is new"
	case Removed:
		return what + " was removed"
	}
	return what + " changed"
}

// Diff returns how the current components differ from those of a cached result, in the order of now, followed by
// removed components. Components of now without a known value are left out.
func Diff(was, now []Component) []Difference {
	type id struct {
		kind Kind
		name string
	}
	before := make(map[id]string, len(was))
	for _, c := range was {
		before[id{c.Kind, c.Name}] = c.Hash
	}
	var list []Difference
	known := make(map[id]bool, len(now))
	unknown := map[Kind]bool{}
	for _, c := range now {
		at := id{c.Kind, c.Name}
		known[at] = true
		hash, had := before[at]
		switch {
		case c.Hash == "":
			unknown[c.Kind] = true
		case !had:
			list = append(list, Difference{c.Kind, c.Name, Added})
		case hash != c.Hash:
			list = append(list, Difference{c.Kind, c.Name, Changed})
		}
	}
	for _, c := range was {
		hidden := unknown[c.Kind] || c.Kind == NoMatch && unknown[Input] // it may be one of the unknown components
		if !known[id{c.Kind, c.Name}] && !hidden {
			list = append(list, Difference{c.Kind, c.Name, Removed})
		}
	}
	return list
}
