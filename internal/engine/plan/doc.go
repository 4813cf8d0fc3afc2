// Package plan holds a compiled tool as data: its steps in plan order, with their commands, conditions, values and
// policies as parsed templates, and the settings of the whole tool.
//
// Package compile builds a Plan from a definition, package graph builds a graph from its steps, and package call
// binds parameters to it. After that a Plan does not change, so any number of runs can share it. Its methods answer
// questions about the tool: which step has this path, which tools are used inside, which names are secret.
//
// The package knows definitions, templates and commands. It does not know calls, values or runs.
package plan
