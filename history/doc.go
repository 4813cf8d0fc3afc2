// Package history defines what a Store keeps of runs, and the rules that every Store
// follows.
//
// A Record is what a run was asked to do. A Ledger is the journal of one run. It belongs to
// the owner of the run; a Store gives each run one owner at a time and counts the owners by
// epochs. RunInfo and Query serve to list runs. A Question is what a step asks a person, an
// Answer is the reply. A Queue holds the runs that wait for locks; Queue.Next is a pure
// function that decides which of them may start.
//
// Memory is a Store that lasts as long as the program. Package history/sqlite has a Store in a
// SQLite file, which the flowrun command uses too. To write another Store, import this
// package and package dag, and test it with flowruntest.TestStore.
//
// The package knows events (package dag) and definitions (package tool). It does not know
// how a run is compiled or executed. Package flowrun exports all of these names too.
package history
