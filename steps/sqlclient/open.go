// Package sqlclient connects steps of kind sql to databases: PostgreSQL through pgconn, which sends values apart from
// statements, and SQLite through zombiezen.com/go/sqlite, which is the SQLite of the history. Neither converts a value: a
// cell has the text that the database writes.
//
// A Go program whose tools ask databases imports it for flowrun.Config.Database; others do not link its drivers.
package sqlclient

import (
	"context"

	"github.com/flowrun/flowrun/internal/engine/call"
)

// Open connects to a database. It is meant for flowrun.Config.Database, and safe for concurrent use.
func Open(ctx context.Context, r call.DatabaseRequest) (call.Database, error) {
	if r.URL != nil {
		return openPostgres(ctx, r.URL, r.Dial)
	}
	return openSQLite(r.Path, r.Alone)
}
