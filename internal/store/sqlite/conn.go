package sqlite

import (
	"context"
	"database/sql"
)

// conn is the connection that writes. It compiles each statement once, because that takes longer
// than to execute it. It does not keep statements whose text is made when they are executed: use
// the Conn itself for these.
type conn struct {
	*sql.Conn
	compiled map[string]*sql.Stmt
}

// compile returns the compiled statement.
func (c *conn) compile(ctx context.Context, text string) (*sql.Stmt, error) {
	if s := c.compiled[text]; s != nil {
		return s, nil
	}
	s, err := c.PrepareContext(ctx, text)
	if err == nil {
		c.compiled[text] = s
	}
	return s, err
}

func (c *conn) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	s, err := c.compile(ctx, text)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// change executes a statement and returns how many rows it changed.
func (c *conn) change(ctx context.Context, text string, args ...any) (rows int64, err error) {
	res, err := c.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (c *conn) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	s, err := c.compile(ctx, text)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

func (c *conn) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	s, err := c.compile(ctx, text)
	if err != nil {
		return c.Conn.QueryRowContext(ctx, text, args...) // has the error
	}
	return s.QueryRowContext(ctx, args...)
}

// Close also closes the statements: SQLite keeps the file open while there is one.
func (c *conn) Close() error {
	for _, s := range c.compiled {
		s.Close()
	}
	return c.Conn.Close()
}
