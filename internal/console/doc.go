// Package console is what people see of runs in a terminal: plain data in, text out.
//
// While a run goes on, sinks (dag.Sink) watch its events. Plain, Failures, GitHub and JSON
// write narration, one line for each change; View draws the run as a tree that changes in
// place (tree.go folds the events, frame.go draws what fits, view.go keeps the terminal),
// and a Prefixer puts the logs of several steps into one stream. Afterwards, or of a plan,
// Draw makes a picture of a graph, Timeline one of the times, Table a list and Diff what
// changed in a file. Approval is the question before a call that somebody must allow.
//
// Nothing here knows definitions or the history. Text from steps and definitions is
// cleaned before it reaches a terminal: Clean for reading, Harmless where escape sequences
// would be left as rubbish, Visible where a person decides by what it says. Results are
// none of its business.
package console
