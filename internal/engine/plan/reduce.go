package plan

import (
	"slices"

	"github.com/flowrun/flowrun/dag"
)

// reducer removes from lists of nodes those that are upstream of another node in the list. Nodes are numbers in plan
// order, so a node's upstream nodes have lower numbers.
//
// Two numbers of a node decide nearly every question: all nodes below its prefix are upstream of it, and a node of the
// same depth is not. The rest is computed with one bit for each pair, for a block of nodes at a time, so that the memory
// stays small.
type reducer struct {
	after  [][]int32 // by node: what it waits for, sorted
	prefix []int32   // by node: all nodes with a lower number than this are upstream of it
	depth  []int32   // by node: the length of the longest way to it
}

func newReducer(nodes []dag.Node) *reducer {
	index := make(map[dag.ID]int32, len(nodes))
	r := &reducer{after: make([][]int32, len(nodes)), prefix: make([]int32, len(nodes)), depth: make([]int32, len(nodes))}
	for i := range nodes {
		list := make([]int32, 0, len(nodes[i].After))
		for _, id := range nodes[i].After {
			if up, known := index[id]; known {
				list = append(list, up)
			}
		}
		index[nodes[i].ID] = int32(i)
		list = sortedOnce(list)
		for _, up := range list {
			r.prefix[i] = max(r.prefix[i], r.prefix[up])
			r.depth[i] = max(r.depth[i], r.depth[up]+1)
		}
		for _, up := range list {
			if up == r.prefix[i] {
				r.prefix[i]++
			}
		}
		r.after[i] = list
	}
	return r
}

// Size of a block: the nodes whose bits are computed together.
const (
	blockWords = 8
	blockNodes = 64 * blockWords
)

// block has one bit for each node of a block.
type block [blockWords]uint64

func (b *block) has(k int32) bool { return b[k/64]>>(k%64)&1 == 1 }

// reduce returns the lists without the nodes that are upstream of another node in the same list. The lists are sorted.
func (r *reducer) reduce(lists [][]int32) [][]int32 {
	out := make([][]int32, len(lists))
	open := map[int32][]int{} // by block: the lists with nodes in it that prefix and depth do not decide
	for k, list := range lists {
		var prefix, depth int32
		for _, n := range list {
			prefix, depth = max(prefix, r.prefix[n]), max(depth, r.depth[n])
		}
		from, _ := slices.BinarySearch(list, prefix)
		out[k] = list[from:]
		last := int32(-1)
		for _, n := range out[k] {
			if b := n / blockNodes; r.depth[n] < depth && b != last {
				open[b], last = append(open[b], k), b
			}
		}
	}
	redundant := map[int][]int32{} // by list
	bits := make([]block, 0)
	for b, ks := range open {
		bits = r.upstreamIn(b, lastOf(out, ks), bits)
		for _, k := range ks {
			if gone := r.redundantIn(b, out[k], bits); len(gone) > 0 {
				redundant[k] = append(redundant[k], gone...)
			}
		}
	}
	for k, gone := range redundant {
		slices.Sort(gone)
		out[k] = slices.DeleteFunc(slices.Clone(out[k]), func(n int32) bool {
			_, found := slices.BinarySearch(gone, n)
			return found
		})
	}
	return out
}

// lastOf returns the highest node in some of the lists.
func lastOf(lists [][]int32, ks []int) (last int32) {
	for _, k := range ks {
		last = max(last, lists[k][len(lists[k])-1])
	}
	return last
}

// upstreamIn returns for the nodes from the begin of block b to last which nodes of that block are upstream of them. It
// uses the memory of bits.
func (r *reducer) upstreamIn(b, last int32, bits []block) []block {
	begin := b * blockNodes
	bits = bits[:0]
	for n := begin; n <= last; n++ {
		var set block
		for _, up := range r.after[n] {
			if up < begin {
				continue
			}
			for w, word := range bits[up-begin] {
				set[w] |= word
			}
			if at := up - begin; at < blockNodes {
				set[at/64] |= 1 << (at % 64)
			}
		}
		bits = append(bits, set)
	}
	return bits
}

// redundantIn returns the nodes of a list that are in block b and upstream of another node in the list.
func (r *reducer) redundantIn(b int32, list []int32, bits []block) (gone []int32) {
	var set block
	begin := b * blockNodes
	from, _ := slices.BinarySearch(list, begin)
	for _, n := range list[from:] {
		for w, word := range bits[n-begin] {
			set[w] |= word
		}
	}
	for _, n := range list[from:] {
		if at := n - begin; at < blockNodes && set.has(at) {
			gone = append(gone, n)
		}
	}
	return gone
}
