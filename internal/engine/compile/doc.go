// Package compile turns a definition into a plan. A text becomes a template or a condition (package expr), a reference
// to another step becomes an edge, and each tool that a step uses gets a plan of its own.
//
// A compiler is one call of Tool or Definition: it finds the tools, and a toolCompiler fills the plan of each. A
// sequenceCompiler compiles a list of steps and orders them (order.go), a stepCompiler one step. Package texts parses
// their texts and collects problems with their positions instead of stopping at the first one; package check finds what
// is wrong with a definition as a whole. The runner of each kind of step is in the package that executes this kind.
//
// To add a kind of step, add a file kind_NAME.go and a line in kind_table.go, the body in internal/lang/tool/body.go and the keys in
// internal/lang/tool/keys.go.
//
// No other package below package engine knows all kinds of steps. This package runs nothing.
package compile
