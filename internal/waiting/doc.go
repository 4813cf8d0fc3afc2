// Package waiting has the steps that wait: Pause for a time, Poller for a file, a port or an
// address, Approval for a person. Such a step returns a dag.Wait and holds nothing while it
// waits.
//
// Broker takes the questions of one run to those who answer, and the answers back to the
// run: it hears events as a sink, keeps answers in the store, where the first one counts,
// and passes on what the ledger reports.
package waiting
