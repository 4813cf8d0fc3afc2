// Package sqlclient connects steps of kind sql to databases: PostgreSQL through pgconn, which sends values apart from
// statements, and SQLite through zombiezen.com/go/sqlite, which is the SQLite of the history. Neither converts a value: a
// cell has the text that the database writes.
package sqlclient

import (
	"context"

	"github.com/flowrun/flowrun/internal/engine/call"
)

// Open connects to a database.
func Open(ctx context.Context, r call.DatabaseRequest) (call.Database, error) {
	if r.URL != nil {
		return openPostgres(ctx, r.URL, r.Dial)
	}
	return openSQLite(r.Path, r.Alone)
}
