// Package waiting contains the steps that wait: Pause for a time, Poller for a file, a port or an
// address, Approval for a person. Pause and Approval return a dag.Wait and hold no resources while
// they wait.
//
// Broker delivers the questions of one run to those who can answer, and the answers to the run. It
// receives events as a sink, writes answers to the store, where the first one wins, and passes on
// what the ledger reports.
package waiting
