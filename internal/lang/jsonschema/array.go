package jsonschema

// checkArray checks the keywords for arrays.
func (s *nodeCheck) checkArray() {
	list, ok := s.v.([]any)
	if !ok {
		return
	}
	n := s.n
	s.atLeast("minItems", "elements", len(list), n.minItems)
	s.atMost("maxItems", "elements", len(list), n.maxItems)
	s.checkUnique(list)
	for i, e := range list {
		switch {
		case i < len(n.prefixItems):
			s.applyChild(n.prefixItems[i], e, index(i))
		case n.items != nil:
			s.applyChild(n.items, e, index(i))
		}
	}
	if s.evaluated != nil {
		s.evaluated.leading = max(s.evaluated.leading, len(n.prefixItems))
		s.evaluated.allElements = s.evaluated.allElements || n.items != nil
	}
	s.checkContains(list)
	if n.unevaluatedItems == nil {
		return
	}
	for i, e := range list {
		if !s.evaluated.hasElement(i) {
			s.applyChild(n.unevaluatedItems, e, index(i))
		}
	}
	s.evaluated.allElements = true
}

// checkUnique checks uniqueItems.
func (s *nodeCheck) checkUnique(list []any) {
	if !s.n.unique {
		return
	}
	s.stepsLeft -= size(s.v)
	first := make(map[string]int, len(list))
	for i, e := range list {
		key := string(appendCanonical(nil, e))
		if j, twice := first[key]; twice {
			s.fail("/uniqueItems", "items at %d and %d are equal", j, i)
			return
		}
		first[key] = i
	}
}

// checkContains checks contains: it counts the elements that match the schema. Without minContains at
// least one has to match.
func (s *nodeCheck) checkContains(list []any) {
	if s.n.contains == nil {
		return
	}
	found, least := 0, 1
	for i, e := range list {
		if s.check(s.n.contains, e, &location{s.at, index(i)}, s.in, nil, false) {
			found++
			s.evaluated.addElement(i)
		}
	}
	if s.n.minContains != nil {
		least = *s.n.minContains
	}
	if found < least {
		s.fail("/contains", "has %d matching items, at least %d are needed (contains)", found, least)
	}
	if most := s.n.maxContains; most != nil && found > *most {
		s.fail("/maxContains", "has %d matching items, at most %d are allowed (contains)", found, *most)
	}
}
