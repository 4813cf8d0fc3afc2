package call

import (
	"context"
	"net"
	"net/url"
)

// DatabaseRequest asks for a connection to a database, for a step of kind sql.
type DatabaseRequest struct {
	URL  *url.URL // of PostgreSQL; nil for SQLite
	Path string   // absolute, of a file of SQLite, which is made if it does not exist
	// Alone means that no statement may open another file.
	Alone bool
	// Dial connects to an address of the server, if the step may reach it. It looks up the host.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Database is a connection to a database. One goroutine uses it at a time. Its errors are of type DatabaseError, unless they
// come from what it calls.
type Database interface {
	// Begin begins a transaction; Commit or Rollback ends it.
	Begin(ctx context.Context) error
	Commit(ctx context.Context) error
	Rollback()
	// Execute runs one statement with the values of its parameters, and returns how many rows it has changed.
	Execute(ctx context.Context, s Statement, values []any, rows Rows) (changed int64, err error)
	Close()
}

// Statement returns the text of a statement whose parameters are a sign and their number, such as $1 or ?1.
type Statement func(sign byte) string

// Rows receives the rows of a statement: once the names of the columns, if it has any, and then each row. The cells of a
// row are valid during the call.
type Rows interface {
	Head(names []string) error
	Row(cells []Cell) error
}

// Cell is a value of a row, as the database writes it.
type Cell struct {
	Kind CellKind
	Text string
}

// CellKind is what the text of a Cell is.
type CellKind int

// The kinds of cells.
const (
	Null CellKind = iota
	TextCell
	LiteralCell // a number, true, false, an object or an array of JSON
)

// DatabaseError is an error of a database.
type DatabaseError struct {
	Err           error
	Again         bool // the same statements may succeed later
	NoTransaction bool // the statement does not run in a transaction
	Unsure        bool // it is not known whether the transaction was committed
}

// Error implements error.
func (e DatabaseError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the database.
func (e DatabaseError) Unwrap() error { return e.Err }
