package fold

// List is a list of steps in the order in which they were added. Readers iterate from First
// by Next, or from Last by Prev.
type List[T any] struct {
	First, Last *Step[T]
	Len         int
}

// append moves a step to the end of the list.
func (l *List[T]) append(s *Step[T]) { l.insertAfter(l.Last, s) }

// insert moves a step into a list that is kept in plan order.
func (l *List[T]) insert(s *Step[T]) {
	before := l.Last
	for before != nil && (before == s || before.Order > s.Order) {
		before = before.Prev
	}
	l.insertAfter(before, s)
}

func (l *List[T]) insertAfter(before, s *Step[T]) {
	if before == s {
		return
	}
	s.unlink()
	s.List, s.Prev = l, before
	next := &l.First
	if before != nil {
		next = &before.Next
	}
	if s.Next, *next = *next, s; s.Next != nil {
		s.Next.Prev = s
	} else {
		l.Last = s
	}
	l.Len++
}

func (s *Step[T]) unlink() {
	l := s.List
	if l == nil {
		return
	}
	if s.Prev != nil {
		s.Prev.Next = s.Next
	} else {
		l.First = s.Next
	}
	if s.Next != nil {
		s.Next.Prev = s.Prev
	} else {
		l.Last = s.Prev
	}
	l.Len--
	s.List, s.Prev, s.Next = nil, nil, nil
}
