package sqlclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// patience is how long a server has to confirm that it stopped a statement.
const patience = 5 * time.Second

// postgres is a connection to PostgreSQL, or to what speaks like it.
type postgres struct{ conn *pgconn.PgConn }

func openPostgres(ctx context.Context, u *url.URL, dial pgconn.DialFunc) (call.Database, error) {
	config, err := pgconn.ParseConfig(u.String())
	if err != nil {
		return nil, withoutPassword(err, u)
	}
	config.Password, _ = u.User.Password() // never that of the environment or of a file
	config.DialFunc = dial
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil } // dial looks it up, once
	config.RuntimeParams["client_encoding"] = "UTF8"
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "flowrun"
	}
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler { // a timeout stops the statement on the server
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: patience}
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		var server *pgconn.PgError
		again := !errors.As(err, &server) || server.Code == "57P03" || server.Code == "53300" // starting, too many connections
		return nil, call.DatabaseError{Err: withoutPassword(err, u), Again: again}
	}
	return &postgres{conn}, nil
}

// withoutPassword hides the password in an error that quotes the address.
func withoutPassword(err error, u *url.URL) error {
	text := strings.ReplaceAll(err.Error(), u.String(), u.Redacted())
	return errors.New(strings.Join(strings.Fields(text), " "))
}

func (p *postgres) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = p.conn.Close(ctx)
}

func (p *postgres) Begin(ctx context.Context) error { return p.simple(ctx, "begin") }

func (p *postgres) Commit(ctx context.Context) error {
	err := p.simple(ctx, "commit")
	if f, ok := errors.AsType[call.DatabaseError](err); ok && p.conn.IsClosed() { // the answer is lost
		f.Unsure, f.Again = true, false
		return f
	}
	return err
}

func (p *postgres) Rollback() {
	if p.conn.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = p.simple(ctx, "rollback")
}

func (p *postgres) simple(ctx context.Context, command string) error {
	return failed(p.conn.Exec(ctx, command).Close())
}

// failed says what an error of the server means.
func failed(err error) error {
	if err == nil {
		return nil
	}
	var server *pgconn.PgError
	if !errors.As(err, &server) {
		return call.DatabaseError{Err: err, Again: true}
	}
	words := []string{fmt.Sprintf("%s (SQLSTATE %s)", server.Message, server.Code)}
	for _, more := range []string{server.Detail, server.Hint} {
		if more != "" {
			words = append(words, more)
		}
	}
	if server.Code == "42P18" { // indeterminate_datatype
		words = append(words, "say the type of the value, as in {X}::text")
	}
	return call.DatabaseError{Err: errors.New(strings.Join(words, "; ")), Again: passes(server.Code), NoTransaction: server.Code == "25001"}
}

// passes reports whether an error of a class of SQLSTATE can pass: the connection, a conflict with another transaction, a
// shortage, a server that stops, a lock.
func passes(code string) bool {
	switch code[:min(2, len(code))] {
	case "08", "40", "53", "57", "58":
		return true
	}
	return code == "55P03"
}

func (p *postgres) Execute(ctx context.Context, sql call.Statement, values []any, rows call.Rows) (int64, error) {
	prepared, err := p.conn.Prepare(ctx, "", sql('$'), nil)
	if err != nil {
		return 0, failed(err)
	}
	if len(prepared.ParamOIDs) != len(values) {
		return 0, call.DatabaseError{Err: fmt.Errorf("the statement has %d parameters, but %d values: write values as {NAME}, not as $1", len(prepared.ParamOIDs), len(values))}
	}
	parameters := make([][]byte, len(values))
	for i, v := range values {
		if parameters[i], err = parameter(v, prepared.ParamOIDs[i]); err != nil {
			return 0, call.DatabaseError{Err: err}
		}
	}
	result := p.conn.ExecPrepared(ctx, "", parameters, nil, nil)
	names, types := make([]string, len(prepared.Fields)), make([]uint32, len(prepared.Fields))
	for i, f := range prepared.Fields {
		names[i], types[i] = f.Name, f.DataTypeOID
	}
	if len(names) > 0 {
		err = rows.Head(names)
	}
	cells := make([]call.Cell, len(names))
	for err == nil && result.NextRow() {
		for i, v := range result.Values() {
			cells[i] = cellOf(v, types[i])
		}
		err = rows.Row(cells)
	}
	if err != nil { // of the receiver: the rest is not wanted
		stopped, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = p.conn.CancelRequest(stopped)
		_, _ = result.Close()
		return 0, err
	}
	done, err := result.Close()
	if done.Select() {
		return 0, failed(err)
	}
	return done.RowsAffected(), failed(err)
}

// The types of PostgreSQL that are more than text in a result.
const (
	typeBool, typeInt8, typeInt2, typeInt4, typeOID, typeJSON, typeJSONB = 16, 20, 21, 23, 26, 114, 3802
	typeFloat4, typeFloat8, typeNumeric                                  = 700, 701, 1700
)

func cellOf(v []byte, oid uint32) call.Cell {
	if v == nil {
		return call.Cell{}
	}
	s := string(v)
	switch oid {
	case typeBool:
		return call.Cell{Kind: call.LiteralCell, Text: strconv.FormatBool(s == "t")}
	case typeInt2, typeInt4, typeInt8, typeOID, typeFloat4, typeFloat8, typeNumeric:
		if json.Valid(v) { // not so NaN and Infinity
			return call.Cell{Kind: call.LiteralCell, Text: s}
		}
	case typeJSON, typeJSONB:
		return call.Cell{Kind: call.LiteralCell, Text: s}
	}
	return call.Cell{Kind: call.TextCell, Text: s}
}

// parameter writes a value as PostgreSQL reads it for a type, nil for NULL.
func parameter(v any, oid uint32) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	if list, ok := v.([]any); ok && oid != typeJSON && oid != typeJSONB {
		return array(list)
	}
	if s, ok := v.(string); ok && (oid == typeJSON || oid == typeJSONB) && !json.Valid([]byte(s)) {
		return json.Marshal(s)
	}
	s, ok := v.(string)
	if !ok {
		s = valuetext.JSON(v)
	}
	if strings.IndexByte(s, 0) >= 0 {
		return nil, errors.New("a value contains a NUL byte, which PostgreSQL does not store; encode it first, as in {X:base64encode}")
	}
	return []byte(s), nil
}

// array writes a list as an array of PostgreSQL.
func array(list []any) ([]byte, error) {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		switch one := v.(type) {
		case nil:
			b.WriteString("NULL")
		case []any:
			inner, err := array(one)
			if err != nil {
				return nil, err
			}
			b.Write(inner)
		default:
			s, err := parameter(v, 0)
			if err != nil {
				return nil, err
			}
			b.WriteString(`"` + quoted.Replace(string(s)) + `"`)
		}
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}
