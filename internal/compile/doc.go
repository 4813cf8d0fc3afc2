// Package compile turns a definition into a plan. Every text becomes a template or a
// condition (package expr), every mention of another step an edge, every tool that a step
// uses a plan of its own.
//
// A compiler is one call of Tool or Definition. It goes through the definition once,
// collects problems with their places instead of stopping at the first, and orders the steps
// (order.go). A sequenceCompiler compiles a list of steps, a stepCompiler one step; each
// kind of step has its runner from the package that runs it.
//
// A new kind of step is one file here, kind_NAME.go, and one line in kind_table.go, beside
// its body (tool/body.go) and its keys (tool/keys.go).
//
// It is the one package below the root that knows all kinds of steps. It runs nothing.
package compile
