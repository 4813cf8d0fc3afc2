// Package plan is a compiled tool as data: the steps in the order in which they can run,
// with their commands, conditions, values and policies as parsed templates, and what holds
// for all of them.
//
// Package compile makes a Plan of a definition, package graph makes a graph of its steps, and
// package call binds parameters to it. After that nothing in it changes, so that any number
// of runs can share it. Its methods answer questions about the tool: which step has this
// path, which tools are used inside, which names are secret.
//
// It knows definitions, templates and commands. It does not know calls, values or runs.
package plan
