// Package gostep runs steps that are written in Go. A GoTool describes such a tool. Its StepFunc does the work: it
// gets a StepInput and returns a text, a value, a *Content for a model and a person, or a *Command that takes over
// the work.
//
// Typed, TypedTool and ParametersOf build tools from functions over Go types. Runner is the runner of such a step: it
// turns a panic into a failure of the step, and masks secrets in the result. Package flowrun exports these types and
// functions for embedders.
package gostep
