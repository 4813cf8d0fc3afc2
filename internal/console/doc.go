// Package console is what people see of runs in a terminal: plain data in, text out.
//
// While a run goes on, Plain, Failures and JSON watch its events (dag.Sink) and write
// narration, one line for each change, and a Prefixer puts the logs of several steps
// into one stream. Afterwards, or of a plan, Draw makes a picture of a graph, Timeline
// one of the times, and Table a list.
//
// Nothing here knows definitions or the history. Text from steps and definitions is
// cleaned before it reaches a terminal; results are none of its business.
package console
