package layout

import (
	"math"
	"slices"
)

const placeSweeps = 6

// Weights of items while they are placed: a long edge should be in one line.
const (
	weightLone = 0.0001 // without neighbours, or beside a line
	weightNode = 1
	weightLine = 8
)

// placeX sets the places of the items from left to right. In each sweep over the ranks,
// every item goes to the middle of its neighbours in the rank before, as far as the others
// of its rank allow. The last sweep goes downwards: what has one upstream node is exactly
// below it.
func (l *layers) placeX() {
	for _, list := range l.ranks {
		x := 0.0
		for k, i := range list {
			if k > 0 {
				x += l.distance(list[k-1], i)
			}
			l.items[i].x = x
		}
		for _, i := range list {
			l.items[i].x -= x / 2
		}
	}
	for sweep := range placeSweeps {
		for k := range l.ranks {
			if down := sweep%2 == 1; down {
				l.placeRank(l.ranks[k], down)
			} else {
				l.placeRank(l.ranks[len(l.ranks)-1-k], down)
			}
		}
	}
	for i := range l.items {
		l.items[i].x = math.Round(l.items[i].x)
	}
	for _, list := range l.ranks {
		l.straighten(list)
	}
	left, right := math.Inf(1), math.Inf(-1)
	for _, it := range l.items {
		left, right = min(left, it.x-float64(it.w/2)), max(right, it.x+float64(it.w-it.w/2))
	}
	if len(l.items) > 0 {
		l.W = int(right - left)
	}
	for i := range l.items {
		it := &l.items[i]
		it.x -= left
		if it.node >= 0 {
			l.Nodes[i].X = int(it.x) - it.w/2
		}
	}
}

// straighten moves items exactly below the one above where they nearly are, and lines as
// far as there is room. Gaps may become a little smaller.
func (l *layers) straighten(list []int32) {
	for k, i := range list {
		it := &l.items[i]
		if it.line[0] == 0 && len(it.up) != 1 {
			continue
		}
		x := l.items[it.near(true)[0]].x
		switch {
		case it.line[0] == 0 && math.Abs(x-it.x) > edgeGap,
			k > 0 && x < l.items[list[k-1]].x+l.distance(list[k-1], i)-edgeGap/2,
			k < len(list)-1 && x > l.items[list[k+1]].x-l.distance(i, list[k+1])+edgeGap/2:
		default:
			it.x = x
		}
	}
}

// distance returns how far the middles of two neighbours in a rank should be apart.
func (l *layers) distance(a, b int32) float64 {
	gap := nodeGap
	if l.items[a].node < 0 || l.items[b].node < 0 {
		gap = edgeGap
	}
	return float64((l.items[a].w+1)/2 + (l.items[b].w+1)/2 + gap)
}

// block is a part of a rank whose items touch each other: where its first item wants to be.
type block struct {
	x, weight float64
	items     int
}

// placeRank places the items of a rank as close as possible to where they want to be,
// measured by the weighted squares of the distances. Items that want to overlap form a
// block, which goes to their mean.
func (l *layers) placeRank(list []int32, down bool) {
	blocks, offset := make([]block, 0, len(list)), make([]float64, len(list))
	for k, i := range list {
		if k > 0 {
			offset[k] = offset[k-1] + l.distance(list[k-1], i)
		}
		x, weight := l.wanted(&l.items[i], down)
		b := block{x - offset[k], weight, 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].x >= b.x {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			sum := last.weight + b.weight
			b = block{(last.x*last.weight + b.x*b.weight) / sum, sum, last.items + b.items}
		}
		blocks = append(blocks, b)
	}
	k := 0
	for _, b := range blocks {
		for range b.items {
			l.items[list[k]].x = b.x + offset[k]
			k++
		}
	}
}

// wanted returns where an item wants to be, and how much.
func (l *layers) wanted(it *item, down bool) (x, weight float64) {
	near, side := it.near(down), 1
	if down {
		side = 0
	}
	switch {
	case len(near) == 0:
		return it.x, weightLone
	case it.line[side] > 0:
		return l.items[near[0]].x, weightLine
	case len(near) == 1 && l.items[near[0]].line[1-side] > 0: // the line goes straight on, and this one leaves it
		return l.items[near[0]].x, weightLone
	case len(near) == 1:
		return l.items[near[0]].x, weightNode
	}
	all := make([]float64, len(near))
	for k, i := range near {
		all[k] = l.items[i].x
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2, weightNode
}
