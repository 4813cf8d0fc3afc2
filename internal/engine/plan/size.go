package plan

// MaxSize is the largest size that is counted: products of larger numbers could overflow.
const MaxSize = 1 << 31

// Known returns how many items the loop has, or 1 if only a run can tell.
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

// known returns how many values a list without references has, 1 for other lists.
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
