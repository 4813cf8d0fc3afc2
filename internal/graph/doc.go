// Package graph builds the dag.Graph of a plan: every step becomes a node with its runner,
// its condition, its policy, and, where it uses a tool, loops or handles an outcome, with the
// functions that the walk calls for that.
//
// A plan goes in without a graph and has one afterwards (Build). Until and Only cut a plan
// down to some of its steps and build it again. The functions in the nodes render values
// through package call; they decide nothing about the order, which is package dag's.
package graph
