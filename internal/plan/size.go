package plan

// MaxSize is where counting ends: products of larger numbers do not fit.
const MaxSize = 1 << 31

// Known is how many items the loop has, 1 where only a run knows.
func (l *Loop) Known() int64 {
	if l.Matrix == nil {
		return l.Items.known()
	}
	n := int64(1)
	for _, a := range l.Matrix.Axes {
		n = min(n*a.Values.known(), MaxSize)
	}
	return n
}

// known is how many values a list has that names nothing, 1 for another.
func (l ItemList) known() int64 {
	switch {
	case l.ValueTemplate != nil && l.ValueTemplate.IsList:
		return int64(len(l.ValueTemplate.list))
	case l.Over != nil && len(l.Over.Refs()) == 0:
		if list, err := l.List(nil); err == nil {
			return int64(len(list))
		}
	}
	return 1
}
