package layout

import (
	"cmp"
	"slices"
)

const (
	maxSweeps  = 12 // over all ranks
	maxWorse   = 4  // sweeps in a row that improve nothing
	maxSwapped = 8_000
	maxPairs   = 2_000 // pairs of edges that are compared to decide about one swap
)

// order sorts the items of each rank so that few edges cross: by the middle of their
// neighbours, downwards and upwards in turn, and by swapping neighbours. The best order is
// kept.
func (l *layers) order() {
	best, fewest := l.snapshot(), l.crossings()
	for sweep, worse := 0, 0; sweep < maxSweeps && worse < maxWorse && fewest > 0; sweep++ {
		l.sweep(sweep%2 == 0)
		l.swap()
		if n := l.crossings(); n < fewest {
			best, fewest, worse = l.snapshot(), n, 0
		} else {
			worse++
		}
	}
	for r := range l.ranks {
		copy(l.ranks[r], best[r])
		l.number(r)
	}
}

func (l *layers) snapshot() [][]int32 {
	all := make([][]int32, len(l.ranks))
	for r := range all {
		all[r] = slices.Clone(l.ranks[r])
	}
	return all
}

// number sets the positions of the items of a rank.
func (l *layers) number(r int) {
	for pos, i := range l.ranks[r] {
		l.items[i].pos = int32(pos)
	}
}

// sweep sorts every rank by the neighbours above, from the top, or by those below, from the
// bottom.
func (l *layers) sweep(down bool) {
	for k := range l.ranks {
		r := k
		if !down {
			r = len(l.ranks) - 1 - k
		}
		for _, i := range l.ranks[r] {
			it := &l.items[i]
			it.order = float64(it.pos)
			if near := it.near(down); len(near) > 0 {
				sum := 0.0
				for _, j := range near {
					sum += float64(l.items[j].pos)
				}
				it.order = sum / float64(len(near))
			}
		}
		slices.SortStableFunc(l.ranks[r], func(a, b int32) int { return cmp.Compare(l.items[a].order, l.items[b].order) })
		l.number(r)
	}
}

// swap swaps neighbours in a rank as long as fewer edges cross then.
func (l *layers) swap() {
	if len(l.items) > maxSwapped {
		return
	}
	for range 3 {
		better := false
		for _, list := range l.ranks {
			for k := range len(list) - 1 {
				a, b := &l.items[list[k]], &l.items[list[k+1]]
				if now, then := l.pairCrossings(a, b), l.pairCrossings(b, a); then < now {
					list[k], list[k+1] = list[k+1], list[k]
					a.pos, b.pos = b.pos, a.pos
					better = true
				}
			}
		}
		if !better {
			return
		}
	}
}

// pairCrossings returns how many edges of two items cross if a stands left of b.
func (l *layers) pairCrossings(a, b *item) (n int) {
	for _, near := range [2][2][]int32{{a.up, b.up}, {a.down, b.down}} {
		if len(near[0])*len(near[1]) > maxPairs {
			continue
		}
		for _, i := range near[0] {
			for _, j := range near[1] {
				if l.items[i].pos > l.items[j].pos {
					n++
				}
			}
		}
	}
	return n
}

// crossings returns how many edges cross between neighbouring ranks.
func (l *layers) crossings() (n int) {
	var ends []int32
	for r := range len(l.ranks) - 1 {
		tree := make([]int, len(l.ranks[r+1])+1) // counts of the ends seen so far, as a Fenwick tree
		seen := 0
		for _, i := range l.ranks[r] {
			ends = ends[:0]
			for _, j := range l.items[i].down {
				ends = append(ends, l.items[j].pos)
			}
			for _, end := range ends { // the edges of one item do not cross each other
				left := 0
				for k := end + 1; k > 0; k &= k - 1 {
					left += tree[k]
				}
				n += seen - left
			}
			for _, end := range ends {
				for k := int(end) + 1; k < len(tree); k += k & -k {
					tree[k]++
				}
			}
			seen += len(ends)
		}
	}
	return n
}
