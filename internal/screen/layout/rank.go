package layout

import "math"

// maxWidth returns how many nodes a rank may have, for a drawing about twice as wide as
// high.
func maxWidth(nodes int) int { return max(12, int(math.Sqrt(float64(nodes)*0.6))) }

// rankNodes returns the rank of each node: below all upstream nodes, and as high as
// possible. A node that others wait for and that waits for none moves down to them.
func rankNodes(g *Graph, in, out [][]int32) []int32 {
	n, most := len(g.Nodes), maxWidth(len(g.Nodes))
	rank, count := make([]int32, n), make([]int, n+1)
	for i := range n {
		r := int32(0)
		for _, up := range in[i] {
			r = max(r, rank[up]+1)
		}
		for count[r] >= most {
			r++
		}
		rank[i] = r
		count[r]++
	}
	for i := n - 1; i >= 0; i-- {
		if len(in[i]) > 0 || len(out[i]) == 0 {
			continue
		}
		low := int32(n)
		for _, down := range out[i] {
			low = min(low, rank[down]-1)
		}
		if low > rank[i] && count[low] < most {
			count[rank[i]]--
			count[low]++
			rank[i] = low
		}
	}
	number := make([]int32, n+1)
	used := int32(0)
	for r := range number {
		number[r] = used
		if count[r] > 0 {
			used++
		}
	}
	for i := range rank {
		rank[i] = number[rank[i]]
	}
	return rank
}
