// Package gostep runs steps that are written in Go. A GoTool describes such a tool, a
// StepFunc is its work: it is given a StepInput and returns a text, a value, a *Content for a
// model and a person, or a *Command that then does the work.
//
// Typed, TypedTool and ParametersOf make tools of functions over Go types. Runner is the
// step's runner: it keeps a panic from ending the run and masks secrets in what is returned.
// Package flowrun has these names for embedders.
package gostep
