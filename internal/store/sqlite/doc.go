// Package sqlite keeps the history of runs in one SQLite file. It is the history.Store of
// the flowrun command.
//
// # What is kept
//
// A row of runs has the status of a run, its owner, and what a list shows. A row of records
// has what the run was asked to do. The definitions of a run are kept by digest, once for
// all runs. A row of turns has one turn of the event loop, its events as package eventcode
// writes them. The key of a turn combines the number of the run and the number of the last event in one
// integer. So the turns of a run are neighbours and need no index.
//
// A commit writes at least one page to the WAL, for a few dozen bytes of events. So the pages
// are small: 1 KiB. A history keeps the size of its pages; earlier versions made them 4 KiB.
//
// # Types
//
// A db is the file with its connections: opening, transactions, syncs. A Store has the runs, their
// ledgers and the queue. It hands out the rest, which needs only the db: Schedules, Firings, Audit,
// Digests, Retention, and File for the state of the file.
//
// # Durability
//
// A turn is one commit. The file is in WAL mode with synchronous=NORMAL. A commit is
// written to the operating system, so it survives the end of the process, but it is not on
// disk yet. Therefore the package syncs the WAL file itself: immediately for Ledger.Sync,
// otherwise within 50 ms. One sync covers all commits before it. Another goroutine moves the
// commits from the WAL to the main file, so that runs do not wait for that.
//
// # Ownership
//
// A run has one owner, counted by an epoch. Every write of a ledger checks its epoch in the
// same statement. So the writes of a former owner change nothing, and it gets ErrFenced. An
// owner is identified by its process (boot, process id, start time) and holds a lease,
// which it renews. A run may be claimed if its owner gave it up, is dead, or let the lease
// expire. Leases use the clock of the boot, which does not jump when the wall clock is set.
//
// # Opening
//
// There are two files beside history.db. One process at a time holds history.lock while it
// opens or migrates the history. history.id marks that there is a history: if it exists, a
// missing or empty history.db is an error and not a new history.
//
// A new history is not made by the migrations. It is a copy of a file in the program
// (empty.db.zlib, which a test compares with what the migrations make) that is synced before it
// gets its name. The first sync of a commit also makes the names durable, then writes
// history.id. Later processes sync the name of a WAL file only if it may be new.
//
// Only SQLite may open and close history.db and its -shm file. To close any other
// descriptor of these files would release the locks that this process holds on them.
package sqlite
