// Package history is what a Store keeps of runs, and the rules that every Store follows.
//
// A Record is what a run was asked to do. A Ledger is the journal of one run, held by its
// owner; a Store hands out one owner at a time, counted by epochs. RunInfo and Query list
// runs, Question and Answer are what a step asks a person and what is answered. Line holds
// the runs that wait for locks, and Line.Next is the pure rule which of them may start.
//
// Memory is a Store that lasts as long as the program; the flowrun command keeps a SQLite
// file. Whoever writes another Store imports this package and dag, and checks it against
// the contract in internal/storetest.
//
// The package knows events (package dag) and definitions (package tool). It does not know
// how a run is compiled or executed. Package flowrun has all of these names as well.
package history
