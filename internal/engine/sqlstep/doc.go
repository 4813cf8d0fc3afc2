// Package sqlstep runs steps of kind sql. A Runner renders a list of statements in which values are parameters, connects
// to a database, runs the statements in one transaction, and writes the rows of the last one as JSON, lines of JSON or
// CSV: into the output of the step, which is bounded, or into a file, which is streamed.
//
// A connection is one of PostgreSQL (pgconn) or SQLite (the SQLite of the history, through zombiezen.com/go/sqlite); both
// hand over each value of a row as a cell, as the database writes it, so that no digit and no text changes on the way.
package sqlstep
