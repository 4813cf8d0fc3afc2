package jsonschema

// array is what is about arrays.
func (s *spot) array() {
	list, ok := s.v.([]any)
	if !ok {
		return
	}
	n := s.n
	s.atLeast("minItems", "elements", len(list), n.minItems)
	s.atMost("maxItems", "elements", len(list), n.maxItems)
	s.distinct(list)
	for i, e := range list {
		switch {
		case i < len(n.prefix):
			s.below(n.prefix[i], e, index(i))
		case n.items != nil:
			s.below(n.items, e, index(i))
		}
	}
	if s.seen != nil {
		s.seen.first = max(s.seen.first, len(n.prefix))
		s.seen.elements = s.seen.elements || n.items != nil
	}
	s.contains(list)
	if n.unevaluatedItems == nil {
		return
	}
	for i, e := range list {
		if !s.seen.element(i) {
			s.below(n.unevaluatedItems, e, index(i))
		}
	}
	s.seen.elements = true
}

// distinct is uniqueItems.
func (s *spot) distinct(list []any) {
	if !s.n.unique {
		return
	}
	s.left -= size(s.v)
	first := make(map[string]int, len(list))
	for i, e := range list {
		key := string(appendKey(nil, e))
		if j, twice := first[key]; twice {
			s.fail("/uniqueItems", "items at %d and %d are equal", j, i)
			return
		}
		first[key] = i
	}
}

// contains counts the elements that keep to a schema; without minContains there has to
// be one.
func (s *spot) contains(list []any) {
	if s.n.contains == nil {
		return
	}
	found, least := 0, 1
	for i, e := range list {
		if s.check(s.n.contains, e, &way{s.at, index(i)}, s.in, nil, false) {
			found++
			s.seen.addElement(i)
		}
	}
	if s.n.minContains != nil {
		least = *s.n.minContains
	}
	if found < least {
		s.fail("/contains", "contains: %d items match, want at least %d", found, least)
	}
	if most := s.n.maxContains; most != nil && found > *most {
		s.fail("/maxContains", "contains: %d items match, want at most %d", found, *most)
	}
}
