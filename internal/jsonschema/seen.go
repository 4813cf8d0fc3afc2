package jsonschema

// seen is what schemas have looked at in one value, for unevaluatedProperties and
// unevaluatedItems. Its methods may be called on nil, where nobody asks.
type seen struct {
	names    map[string]bool // of properties
	first    int             // so many elements from the beginning
	elements bool            // all of them
	single   map[int]bool
}

// seen is an empty one, or nil.
func (s *Schema) seen() *seen {
	if !s.tracks {
		return nil
	}
	return &seen{}
}

func (s *seen) name(name string) bool { return s.names[name] }

func (s *seen) element(i int) bool { return s.elements || i < s.first || s.single[i] }

func (s *seen) addName(name string) {
	if s == nil {
		return
	}
	if s.names == nil {
		s.names = map[string]bool{}
	}
	s.names[name] = true
}

func (s *seen) addElement(i int) {
	if s == nil {
		return
	}
	if s.single == nil {
		s.single = map[int]bool{}
	}
	s.single[i] = true
}

func (s *seen) add(other *seen) {
	if s == nil || other == nil {
		return
	}
	for name := range other.names {
		s.addName(name)
	}
	for i := range other.single {
		s.addElement(i)
	}
	s.first = max(s.first, other.first)
	s.elements = s.elements || other.elements
}
