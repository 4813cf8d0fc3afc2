package sqlclient

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/lang/sqltext"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// busy is how long SQLite waits for another program that writes.
const busy = 10 * time.Second

// lite is a connection to a file of SQLite.
type lite struct{ conn *sqlite.Conn }

// openSQLite opens a file, which is made if it does not exist. In an alone connection no statement can open another file.
func openSQLite(path string, alone bool) (call.Database, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, call.DatabaseError{Err: fmt.Errorf("cannot open the database: %w", err)}
	}
	conn.SetBusyTimeout(busy)
	if alone {
		conn.Limit(sqlite.LimitAttached, 0)
	}
	return &lite{conn}, nil
}

func (l *lite) Close()                           { _ = l.conn.Close() }
func (l *lite) Begin(ctx context.Context) error  { return l.simple(ctx, "begin immediate") }
func (l *lite) Commit(ctx context.Context) error { return l.simple(ctx, "commit") }
func (l *lite) Rollback()                        { _ = l.simple(context.Background(), "rollback") }

func (l *lite) simple(ctx context.Context, command string) error {
	_, err := l.Execute(ctx, func(byte) string { return command }, nil, nil)
	return err
}

func (l *lite) Execute(ctx context.Context, sql call.Statement, values []any, rows call.Rows) (int64, error) {
	l.conn.SetInterrupt(ctx.Done())
	defer l.conn.SetInterrupt(nil)
	text := sql('?')
	s, rest, err := l.conn.PrepareTransient(text)
	if err != nil {
		return 0, failure(err)
	}
	defer s.Finalize()
	if sqltext.Scan([]string{text[len(text)-rest:]}).Verb != "" {
		return 0, call.DatabaseError{Err: errors.New("a second statement follows; write a list of statements")}
	}
	if s.BindParamCount() != len(values) {
		return 0, call.DatabaseError{Err: fmt.Errorf("the statement has %d parameters, but %d values: write values as {NAME}, not as ?", s.BindParamCount(), len(values))}
	}
	for i, v := range values {
		bind(s, i+1, v)
	}
	names := make([]string, s.ColumnCount())
	for i := range names {
		names[i] = s.ColumnName(i)
	}
	if len(names) > 0 {
		if err := rows.Head(names); err != nil {
			return 0, err
		}
	}
	before := l.changes()
	cells := make([]call.Cell, len(names))
	for {
		more, err := s.Step()
		if err != nil {
			return 0, failure(err)
		}
		if !more {
			return l.changes() - before, nil
		}
		for i := range cells {
			cells[i] = column(s, i)
		}
		if err := rows.Row(cells); err != nil {
			return 0, err
		}
	}
}

// changes returns how many rows the connection has changed.
func (l *lite) changes() int64 {
	s, _, err := l.conn.PrepareTransient("select total_changes()")
	if err != nil {
		return 0
	}
	defer s.Finalize()
	_, _ = s.Step()
	return s.ColumnInt64(0)
}

// failure says what an error of SQLite means.
func failure(err error) error {
	code := sqlite.ErrCode(err).ToPrimary()
	return call.DatabaseError{Err: err, Again: code == sqlite.ResultBusy || code == sqlite.ResultLocked,
		NoTransaction: strings.Contains(err.Error(), "within a transaction")}
}

func column(s *sqlite.Stmt, i int) call.Cell {
	switch s.ColumnType(i) {
	case sqlite.TypeInteger:
		return call.Cell{Kind: call.LiteralCell, Text: strconv.FormatInt(s.ColumnInt64(i), 10)}
	case sqlite.TypeFloat:
		b, err := json.Marshal(s.ColumnFloat(i))
		if err != nil { // infinite
			return call.Cell{Kind: call.TextCell, Text: strconv.FormatFloat(s.ColumnFloat(i), 'g', -1, 64)}
		}
		return call.Cell{Kind: call.LiteralCell, Text: string(b)}
	case sqlite.TypeText:
		return call.Cell{Kind: call.TextCell, Text: s.ColumnText(i)}
	case sqlite.TypeBlob:
		b := make([]byte, s.ColumnLen(i))
		s.ColumnBytes(i, b)
		return call.Cell{Kind: call.TextCell, Text: `\x` + hex.EncodeToString(b)}
	}
	return call.Cell{}
}

// bind gives a parameter its value. A number that SQLite cannot hold exactly is bound as text.
func bind(s *sqlite.Stmt, i int, v any) {
	switch v := v.(type) {
	case nil:
		s.BindNull(i)
		return
	case bool:
		s.BindBool(i, v)
		return
	case string:
		s.BindText(i, v)
		return
	}
	plain := valuetext.JSON(v)
	if n, err := strconv.ParseInt(plain, 10, 64); err == nil && strconv.FormatInt(n, 10) == plain {
		s.BindInt64(i, n)
		return
	}
	if f, err := strconv.ParseFloat(plain, 64); err == nil && strconv.FormatFloat(f, 'f', -1, 64) == plain {
		s.BindFloat(i, f)
		return
	}
	s.BindText(i, plain)
}
