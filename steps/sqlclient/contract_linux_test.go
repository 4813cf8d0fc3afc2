package sqlclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/test/pgtest"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/steps/sqlclient"
)

// database opens connections to one database.
type database func() call.Database

// TestContract: what steps expect of each kind of database. Each test has a schema, or a file, of its own.
func TestContract(t *testing.T) {
	server, err := url.Parse(pgtest.Start(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(t *testing.T, kind string, open database){
		"cells": testCells, "parameters": testParameters, "lists": testLists, "errors": testErrors, "cancelled": testCancelled,
	} {
		t.Run(name+" sqlite", func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data.db")
			test(t, "sqlite", func() call.Database { return open(t, call.DatabaseRequest{Path: path}) })
		})
		t.Run(name+" postgres", func(t *testing.T) {
			request := call.DatabaseRequest{URL: server, Dial: new(net.Dialer).DialContext}
			if _, _, err := run(t.Context(), open(t, request), "create schema "+name); err != nil {
				t.Fatal(err)
			}
			own := *server
			own.RawQuery = "search_path=" + name
			request.URL = &own
			test(t, "postgres", func() call.Database { return open(t, request) })
		})
	}
	t.Run("a lost commit", func(t *testing.T) { testLostCommit(t, server) })
	t.Run("the password of the address", func(t *testing.T) { testPasswordOfTheAddress(t, server) })
}

func open(t *testing.T, r call.DatabaseRequest) call.Database {
	t.Helper()
	db, err := sqlclient.Open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// written are rows as a test compares them: a text in quotes, everything else as the database writes it.
type written []string

func (w *written) Head(names []string) error {
	*w = append(*w, strings.Join(names, " "))
	return nil
}

func (w *written) Row(cells []call.Cell) error {
	var fields []string
	for _, c := range cells {
		switch c.Kind {
		case call.Null:
			c.Text = "null"
		case call.TextCell:
			c.Text = fmt.Sprintf("%q", c.Text)
		}
		fields = append(fields, c.Text)
	}
	*w = append(*w, strings.Join(fields, " "))
	return nil
}

// run runs a statement in which ? stands for a value.
func run(ctx context.Context, db call.Database, statement string, values ...any) (written, int64, error) {
	var w written
	n, err := db.Execute(ctx, func(sign byte) string {
		text := ""
		for i, part := range strings.Split(statement, "?") {
			if i > 0 {
				text += fmt.Sprintf("%c%d", sign, i)
			}
			text += part
		}
		return text
	}, values, &w)
	return w, n, err
}

// testCells: each value of a row is what the database holds, with all its digits. "" means that the database has no such
// expression.
func testCells(t *testing.T, kind string, open database) {
	db := open()
	for _, tt := range []struct{ expression, postgres, sqlite string }{
		{"7", "7", "7"},
		{"-9223372036854775807", "-9223372036854775807", "-9223372036854775807"},
		{"1.5", "1.5", "1.5"},
		{"0.1 + 0.2", "0.3", "0.30000000000000004"},
		{"12345678901234567890.10", "12345678901234567890.10", "12345678901234567000"},
		{"3.10::numeric(5, 2)", "3.10", ""},
		{"'3.10'", `"3.10"`, `"3.10"`},
		{"null", "null", "null"},
		{"''", `""`, `""`},
		{"'it''s'", `"it's"`, `"it's"`},
		{"'äöü 😀'", `"äöü 😀"`, `"äöü 😀"`},
		{"true", "true", "1"},
		{"'NaN'::numeric", `"NaN"`, ""},
		{"9e999", "", `"+Inf"`},
		{`'\x00ff'::bytea`, `"\\x00ff"`, ""},
		{"x'00ff'", "", `"\\x00ff"`},
		{`'{"a": 1.50}'::json`, `{"a": 1.50}`, ""},
		{"'[1, 2]'::jsonb", "[1, 2]", ""},
		{"'2026-02-03'::date", `"2026-02-03"`, ""},
		{"date('2026-02-03', '+1 day')", "", `"2026-02-04"`},
		{"array[1, 2]", `"{1,2}"`, ""},
		{"cast(x'ff' as text)", "", `"\xff"`},
	} {
		want := tt.postgres
		if kind == "sqlite" {
			want = tt.sqlite
		}
		if want == "" {
			continue
		}
		rows, _, err := run(t.Context(), db, "select "+tt.expression+" as v")
		got := fmt.Sprint(err)
		if err == nil {
			got = strings.Join(rows[1:], "\n")
		}
		if got != want {
			t.Errorf("%s is %s, want %s", tt.expression, got, want)
		}
	}
}

// TestTypesOfColumns: what a column is declared as changes no text in it.
func TestTypesOfColumns(t *testing.T) {
	t.Parallel()
	db := open(t, call.DatabaseRequest{Path: filepath.Join(t.TempDir(), "data.db")})
	for _, statement := range []string{"create table t (a date, b datetime, c timestamp, d boolean, e integer)",
		"insert into t values ('03.02.2026', '2026-02-03T04:05:06.7Z', '2026-02-03 04:05', 'yes', '9x')"} {
		if _, _, err := run(t.Context(), db, statement); err != nil {
			t.Fatal(err)
		}
	}
	rows, _, err := run(t.Context(), db, "select * from t")
	if diff := cmp.Diff(written{"a b c d e", `"03.02.2026" "2026-02-03T04:05:06.7Z" "2026-02-03 04:05" "yes" "9x"`}, rows); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// testParameters: each value of a definition arrives as it is, whatever the type of the column is.
func testParameters(t *testing.T, kind string, open database) {
	db := open()
	if _, _, err := run(t.Context(), db, "create table t (n integer, f double precision, d numeric(30, 10), s text, b boolean)"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		column           string
		value            any
		postgres, sqlite string
	}{
		{"n", 7, "7", "7"},
		{"n", "7", "7", "7"},
		{"n", json.Number("2147483647"), "2147483647", "2147483647"},
		{"n", nil, "null", "null"},
		{"f", 1.5, "1.5", "1.5"},
		{"d", json.Number("12345678901234567890.25"), "12345678901234567890.2500000000", "12345678901234567000"},
		{"s", json.Number("3.10"), `"3.10"`, `"3.10"`},
		{"s", "x'); drop table t; --", `"x'); drop table t; --"`, `"x'); drop table t; --"`},
		{"s", "", `""`, `""`},
		{"s", "$1 ?1 {N} \\ \n", `"$1 ?1 {N} \\ \n"`, `"$1 ?1 {N} \\ \n"`},
		{"s", map[string]any{"a": json.Number("1.50")}, `"{\"a\":1.50}"`, `"{\"a\":1.50}"`},
		{"b", true, "true", "1"},
		{"b", false, "false", "0"},
	} {
		want := tt.postgres
		if kind == "sqlite" {
			want = tt.sqlite
		}
		n, changed := int64(0), int64(0)
		var rows written
		_, _, err := run(t.Context(), db, "delete from t")
		if err == nil {
			_, n, err = run(t.Context(), db, "insert into t ("+tt.column+") values (?)", tt.value)
		}
		if err == nil {
			rows, changed, err = run(t.Context(), db, "select "+tt.column+" from t")
		}
		if diff := cmp.Diff(written{tt.column, want}, rows); err != nil || diff != "" || n != 1 || changed != 0 {
			t.Errorf("%v in %s: %v, %d and %d changed (-want +got):\n%s", tt.value, tt.column, err, n, changed, diff)
		}
	}
}

// testLists: a list is an array for PostgreSQL, and JSON where that is asked for.
func testLists(t *testing.T, kind string, open database) {
	list := []any{json.Number("1"), json.Number("2"), nil}
	texts := []any{"a", `b"c`, `d\e`, "{f,g}", ""}
	db := open()
	statements := map[string]string{"select ?::jsonb as v": "[1, 2, null]", "select array_to_json(?::int[]) as v": "[1,2,null]", "select 2 = any(?) as v": "true"}
	of, want := "select array_to_json(?::text[]) as v", `["a","b\"c","d\\e","{f,g}",""]`
	if kind == "sqlite" {
		statements = map[string]string{"select count(*) as v from json_each(?)": "3", "select 2 in (select value from json_each(?)) as v": "1"}
		of, want = "select json(?) as v", `"[\"a\",\"b\\\"c\",\"d\\\\e\",\"{f,g}\",\"\"]"`
	}
	for statement, want := range statements {
		rows, _, err := run(t.Context(), db, statement, list)
		if diff := cmp.Diff(written{"v", want}, rows); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", statement, err, diff)
		}
	}
	rows, _, err := run(t.Context(), db, of, texts)
	if diff := cmp.Diff(written{"v", want}, rows); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got):\n%s", of, err, diff)
	}
}

// testErrors: an error says whether the same statement can succeed later, and a transaction takes back what it did.
func testErrors(t *testing.T, kind string, open database) {
	db, other := open(), open()
	for _, statement := range []string{"create table t (a integer primary key)", "insert into t values (1)"} {
		if _, _, err := run(t.Context(), db, statement); err != nil {
			t.Fatal(err)
		}
	}
	check := func(statement string, again, noTransaction bool, values ...any) {
		t.Helper()
		_, _, err := run(t.Context(), db, statement, values...)
		e, ok := errors.AsType[call.DatabaseError](err)
		if !ok || e.Again != again || e.NoTransaction != noTransaction || e.Unsure {
			t.Errorf("%s: %v (%+v), want again %v, no transaction %v", statement, err, e, again, noTransaction)
		}
	}
	check("selec 1", false, false)
	check("select * from missing", false, false)
	check("insert into t values (1)", false, false)
	check("select ?", false, false)
	check("insert into t values (?) returning $2", false, false, 1)
	if err := db.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t.Context(), db, "insert into t values (2)"); err != nil {
		t.Fatal(err)
	}
	check("vacuum", false, true)
	db.Rollback()
	rows, _, err := run(t.Context(), other, "select count(*) as n from t")
	if diff := cmp.Diff(written{"n", "1"}, rows); err != nil || diff != "" {
		t.Errorf("after a rollback: %v (-want +got):\n%s", err, diff)
	}
	if _, _, err := run(t.Context(), db, "vacuum"); err != nil {
		t.Errorf("vacuum outside a transaction: %v", err)
	}
}

// testCancelled: a statement ends on the server when its context ends.
func testCancelled(t *testing.T, kind string, open database) {
	long := "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	ended := make(chan error)
	go func() {
		db := open()
		close(began)
		_, _, err := run(ctx, db, long)
		ended <- err
	}()
	<-began
	cancel()
	if err := <-ended; err == nil {
		t.Error("the statement has ended")
	}
	if kind == "postgres" {
		db := open()
		waittest.Until(t, "nothing runs on the server", func() bool {
			rows, _, err := run(t.Context(), db, "select count(*) as n from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()")
			return err == nil && len(rows) == 2 && rows[1] == "0"
		})
	}
}

// TestNoServer: the error says which server, never its password, and that it may be there later.
func TestNoServer(t *testing.T) {
	t.Parallel()
	u, _ := url.Parse("postgres://ada:secret-word-9@127.0.0.1:1/data")
	_, err := sqlclient.Open(t.Context(), call.DatabaseRequest{URL: u, Dial: new(net.Dialer).DialContext})
	e, ok := errors.AsType[call.DatabaseError](err)
	if !ok || !e.Again || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("%+v", err)
	}
}

// cutting is a connection that breaks when a text is sent.
type cutting struct {
	net.Conn
	at string
}

func (c cutting) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if strings.Contains(string(b), c.at) {
		c.Close()
	}
	return n, err
}

// testLostCommit: if the connection breaks during a commit, nobody knows whether it happened; before it, nothing has.
func testLostCommit(t *testing.T, u *url.URL) {
	for _, at := range []string{"commit", "insert"} {
		db := open(t, call.DatabaseRequest{URL: u, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			return cutting{c, at}, err
		}})
		err := db.Begin(t.Context())
		if err == nil {
			_, _, err = run(t.Context(), db, "create table if not exists t (a int)")
		}
		if err == nil {
			_, _, err = run(t.Context(), db, "insert into t values (1)")
		}
		if at == "commit" {
			if err != nil {
				t.Fatal(err)
			}
			err = db.Commit(t.Context())
		}
		e, ok := errors.AsType[call.DatabaseError](err)
		if !ok || e.Unsure != (at == "commit") || e.Again == e.Unsure {
			t.Errorf("a connection that breaks at %s: %+v", at, err)
		}
	}
}

// testPasswordOfTheAddress: a password comes from the address alone.
func testPasswordOfTheAddress(t *testing.T, u *url.URL) {
	t.Setenv("PGPASSWORD", pgtest.Password)
	without := *u
	without.User = url.User(u.User.Username())
	if _, err := sqlclient.Open(t.Context(), call.DatabaseRequest{URL: &without, Dial: new(net.Dialer).DialContext}); err == nil {
		t.Error("the password of the environment was used")
	}
}
