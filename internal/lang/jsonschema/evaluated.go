package jsonschema

// evaluated records which properties and elements of one value were evaluated by schemas, for
// unevaluatedProperties and unevaluatedItems. The methods that add may be called on nil and then do
// nothing.
type evaluated struct {
	names       map[string]bool // names of properties
	leading     int             // so many elements at the start
	allElements bool            // all elements
	indexes     map[int]bool
}

// newEvaluated returns an empty record, nil if no node of the schema needs one.
func (s *Schema) newEvaluated() *evaluated {
	if !s.tracksEvaluated {
		return nil
	}
	return &evaluated{}
}

func (s *evaluated) hasName(name string) bool { return s.names[name] }

func (s *evaluated) hasElement(i int) bool { return s.allElements || i < s.leading || s.indexes[i] }

func (s *evaluated) addName(name string) {
	if s == nil {
		return
	}
	if s.names == nil {
		s.names = map[string]bool{}
	}
	s.names[name] = true
}

func (s *evaluated) addElement(i int) {
	if s == nil {
		return
	}
	if s.indexes == nil {
		s.indexes = map[int]bool{}
	}
	s.indexes[i] = true
}

func (s *evaluated) add(other *evaluated) {
	if s == nil || other == nil {
		return
	}
	for name := range other.names {
		s.addName(name)
	}
	for i := range other.indexes {
		s.addElement(i)
	}
	s.leading = max(s.leading, other.leading)
	s.allElements = s.allElements || other.allElements
}
