package sqlite

import (
	"context"
	"errors"
)

// write calls f in a transaction. No other write of this Store or another process comes in
// between.
func (s *Store) write(ctx context.Context, op string, f func(ctx context.Context, c *conn) error) error {
	if s.conn == nil {
		return &Error{ReadOnly, s.file, op, errors.New("it is open for reading only")}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed(op, s.transact(context.WithoutCancel(ctx), f))
}

// transact does the work of write. The caller holds mu.
func (s *Store) transact(ctx context.Context, f func(ctx context.Context, c *conn) error) error {
	if _, err := s.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := f(ctx, s.conn)
	var n uint64
	if err == nil {
		err = s.conn.QueryRowContext(ctx, countCommitSQL).Scan(&n)
	}
	if err == nil {
		_, err = s.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		s.conn.ExecContext(ctx, "ROLLBACK") // its error adds nothing to err
		return err
	}
	s.wal.last.Store(n)
	s.wal.committed()
	return nil
}
