// Package layout computes where the nodes and edges of a graph are drawn: in layers, from
// top to bottom.
//
// # The model
//
// A Graph has nodes with sizes and edges between them. A node can hold another Graph, which
// is drawn inside it. Layout sets the positions of the nodes and the points of the edges. It
// works on one Graph after another, the inner ones first, in five stages:
//
//	reduce.go  edges that follow from others are removed
//	rank.go    each node gets a rank (its layer), below everything that it waits for
//	chain.go   an edge over several ranks gets a point in each rank between its ends
//	order.go   the order within each rank is changed until few edges cross
//	place.go   each node gets its place from left to right, close to its neighbours
//	route.go   edges become horizontal and vertical lines between the ranks
//
// Nodes do not overlap and edges do not run through nodes. A graph that is very wide gets
// more ranks. Where a graph has so many long edges that their points would outnumber the
// nodes many times, the longest run behind the nodes. The result depends on the order of the
// nodes, and not on the order of the edges.
//
// The package knows nothing of steps and runs, and uses the standard library alone.
package layout
