package sqlite

import (
	"context"
	"database/sql"
)

// querier is a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// list returns the rows of a query, none if there is no history yet. scan reads one row.
func list[T any](ctx context.Context, d *db, op string, scan func(*sql.Rows, *T) error, query string, args ...any) ([]T, error) {
	if d.reads == nil {
		return nil, nil
	}
	all, err := rowsOf(ctx, d.reads, scan, query, args...)
	return all, d.failed(op, err)
}

func rowsOf[T any](ctx context.Context, q querier, scan func(*sql.Rows, *T) error, query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var v T
		if err := scan(rows, &v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// scanColumn reads the only column of a row.
func scanColumn[T any](rows *sql.Rows, v *T) error { return rows.Scan(v) }
