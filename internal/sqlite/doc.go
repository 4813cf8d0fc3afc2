// Package sqlite keeps the history of runs in one SQLite file. It is the
// history.Store of the flowrun command.
//
// # What is kept
//
// A row of runs says where a run stands, what a list shows, and who owns it. A row
// of records is what the run was asked to do; the definitions it ran are kept by
// digest, once for all runs. A row of turns is one turn of the event loop: its
// events as JSON lines. A turn's number is the run's number and the last event's,
// in one integer, so a run's turns lie side by side and need no index.
//
// # When it is safe
//
// A turn is one commit. The file is in WAL mode with synchronous=NORMAL: a commit
// is written to the operating system, which the end of the process cannot undo, but
// it is not on the disk. For that the package syncs the WAL file itself: at once for
// Ledger.Sync, else within 50 ms. One sync covers every commit before it.
//
// # Who may write
//
// A run has one owner, counted by an epoch. Every write of a ledger names its epoch
// in the same statement, so what a former owner still writes changes nothing and is
// answered with ErrFenced. An owner is known by its process (boot, process id, start
// time) and holds a lease that it renews. A run may be claimed when its owner gave
// it up, is dead, or let the lease run out. Leases are told by the clock of the
// boot, which no change of the wall clock moves.
//
// # Opening
//
// Beside history.db stand history.lock, which one process at a time holds while it
// opens or migrates, and history.id, which says that there is a history: where it
// stands, a missing or emptied history.db is an error and not a new history.
//
// Nothing here opens or closes history.db or its -shm file except SQLite: closing
// any descriptor of theirs would drop the locks this process holds on them.
package sqlite
