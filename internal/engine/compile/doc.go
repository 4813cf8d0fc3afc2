// Package compile turns a definition into a plan. A text becomes a template or a condition (package expr), a reference
// to another step becomes an edge, and each tool that a step uses gets a plan of its own.
//
// A compiler is one call of Tool or Definition. It walks through the definition once, collects problems with their
// positions instead of stopping at the first one, and orders the steps (order.go). A sequenceCompiler compiles a list
// of steps, a stepCompiler one step. The runner of each kind of step is in the package that executes this kind.
//
// To add a kind of step, add a file kind_NAME.go and a line in kind_table.go, the body in internal/lang/tool/body.go and the keys in
// internal/lang/tool/keys.go.
//
// What is wrong with a definition as a whole is found by package check, when its plan is made.
//
// No other package below package engine knows all kinds of steps. This package runs nothing.
package compile
