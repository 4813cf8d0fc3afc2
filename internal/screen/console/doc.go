// Package console shows runs and plans on a terminal. It gets plain data and writes text.
//
// During a run, sinks (dag.Sink) get its events. Plain, Failures, GitHub and JSON write one line
// for each change. View draws the run as a tree that is updated in place (tree.go applies the
// events, frame.go draws what fits, view.go updates the terminal). A Prefixer joins the logs of
// several steps into one stream. After a run, or for a plan, Draw draws a graph, Timeline a
// chart of times, Table a list, and Diff the changes of a file. Approval is the question before
// a call that a person must allow.
//
// The package does not depend on definitions or the history. Text from steps and definitions is
// cleaned before it reaches a terminal: Clean for text that is only read, Sanitize where escape
// sequences must be removed as well, Visible where a person bases a decision on the text. The
// package does not print the results of runs.
package console
