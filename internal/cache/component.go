package cache

import "fmt"

// Kind says what a Component is about.
type Kind string

// The kinds, in the order in which they stand in a list.
const (
	Format     Kind = "format"     // of the cache, and the platform
	Definition Kind = "definition" // one part of the step's definition, by its key
	Output     Kind = "output"     // one pattern of outputs
	Command    Kind = "command"    // the resolved command
	Stdin      Kind = "stdin"      // what it reads
	Variable   Kind = "variable"   // an environment variable, set by the definition or named by it
	Key        Kind = "key"        // the author's own text
	Input      Kind = "input"      // one input file
	Nothing    Kind = "nothing"    // one pattern of inputs that nothing matches
)

// Component is one of the things that decide whether a result can be used again.
type Component struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name,omitempty"`
	// Hash stands for the value. "" is a value that is not known; no kept result
	// has one.
	Hash string `json:"hash"`
}

// Component is one of that kind and name whose value is the given texts.
func (s *Store) Component(k Kind, name string, value ...string) Component {
	return Component{Kind: k, Name: name, Hash: s.Sum(append([]string{string(k), name}, value...)...)}
}

// Key is the name of the result that a list of components leads to. Their names are
// for people: the hashes alone decide.
func (s *Store) Key(list []Component) string {
	texts := make([]string, 0, 2*len(list))
	for _, c := range list {
		texts = append(texts, string(c.Kind), c.Hash)
	}
	return s.Sum(texts...)
}

// Change says how a component came to differ.
type Change string

// The changes.
const (
	Changed Change = "changed"
	Added   Change = "added"
	Removed Change = "removed"
)

// Difference is a component that is not the same in two lists.
type Difference struct {
	Kind   Kind
	Name   string
	Change Change
}

// String is the difference in words.
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
	case Nothing:
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

// Diff is what differs between the components of a kept result and those of now, in
// the order of now; what is gone comes behind. Components of now whose value is not
// known are left out.
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
		hidden := unknown[c.Kind] || c.Kind == Nothing && unknown[Input] // it may be what is not known
		if !known[id{c.Kind, c.Name}] && !hidden {
			list = append(list, Difference{c.Kind, c.Name, Removed})
		}
	}
	return list
}
