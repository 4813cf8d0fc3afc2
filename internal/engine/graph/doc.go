// Package graph builds the dag.Graph of a plan. Every step becomes a node with its runner, its condition and its
// policy. For nested tools, loops and handlers, the node also has the functions that package dag calls during the run.
//
// Build adds the graph to a plan. Until and Only reduce a plan to some of its steps and build its graph again. The
// functions in the nodes render values through package call. They do not decide the order of the steps: that is up to
// package dag.
package graph
