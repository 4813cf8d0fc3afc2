package sqlstep

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/call"
)

// TestFormats: the rows of one result in each format.
func TestFormats(t *testing.T) {
	rows := [][]call.Cell{
		{{Kind: call.LiteralCell, Text: "12345678901234567890.10"}, {Kind: call.TextCell, Text: "a \"b\"\n,c"}},
		{{Kind: call.Null}, {Kind: call.LiteralCell, Text: `{"x": [1, 2]}`}},
		{{Kind: call.Null}, {Kind: call.LiteralCell, Text: "{\n  \"x\": 1.50\n}"}},
	}
	for _, tt := range []struct {
		format string
		rows   [][]call.Cell
		want   string
	}{
		{"json", rows, "[{\"id\":12345678901234567890.10,\"the name\":\"a \\\"b\\\"\\n,c\"},\n {\"id\":null,\"the name\":{\"x\": [1, 2]}},\n {\"id\":null,\"the name\":{\"x\":1.50}}]\n"},
		{"json", nil, "[]\n"},
		{"jsonl", rows, "{\"id\":12345678901234567890.10,\"the name\":\"a \\\"b\\\"\\n,c\"}\n{\"id\":null,\"the name\":{\"x\": [1, 2]}}\n{\"id\":null,\"the name\":{\"x\":1.50}}\n"},
		{"jsonl", nil, ""},
		{"csv", rows, "id,the name\n12345678901234567890.10,\"a \"\"b\"\"\n,c\"\n,\"{\"\"x\"\": [1, 2]}\"\n,\"{\n  \"\"x\"\": 1.50\n}\"\n"},
		{"csv", nil, "id,the name\n"},
	} {
		var b bytes.Buffer
		table := newTable(tt.format, &b)
		if err := table.Head([]string{"id", "the name"}); err != nil {
			t.Fatal(err)
		}
		for _, r := range tt.rows {
			if err := table.Row(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.end(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, b.String()); diff != "" {
			t.Errorf("%s of %d rows (-want +got):\n%s", tt.format, len(tt.rows), diff)
		}
	}
	if err := (&counted{table: discard{}, names: []string{"a"}}).Row([]call.Cell{{Kind: call.TextCell, Text: "\xff"}}); err == nil {
		t.Error("a text that is not UTF-8 has no form")
	}
	if err := newTable("json", new(bytes.Buffer)).Head([]string{"a", "b", "a"}); err == nil {
		t.Error("an object has the same key twice")
	}
}

// TestAddresses: what names a database, and what does not, without its password.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://ada:pw@db:5433/sales?sslmode=require":  "db",
		"postgresql://db/sales":                            "db",
		"postgres:///sales?host=/run/postgresql&port=5433": "",
		"sqlite:data.db":                                   "data.db",
		"sqlite:///srv/data.db":                            "/srv/data.db",
		"sqlite:":                                          "error",
		"":                                                 "error",
		"data.db":                                          "error",
		"mysql://ada:pw@db/sales":                          "error",
		"postgres://":                                      "error",
		"postgres://a,b/sales":                             "error",
		"postgres://ada:p w@db/sales":                      "error",
		"postgres://db/sales?host=other":                   "error",
		"postgres://db/sales?password=pw":                  "error",
		"postgres:///sales?host=other":                     "error",
		"postgres://db/sales?passfile=/etc/shadow":         "error",
	} {
		u, path, err := ParseURL(address)
		got := path
		switch {
		case err != nil:
			got = "error"
			if bytes.Contains([]byte(err.Error()), []byte("p w")) {
				t.Errorf("%s: the error has the password: %v", address, err)
			}
		case u != nil:
			got = u.Hostname()
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", address, got, err, want)
		}
	}
}

// TestShownAddress: a dry run shows which database is asked, without its password.
func TestShownAddress(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://ada:p%40ss@db:5433/sales?sslmode=require": "postgres://ada:***@db:5433/sales?sslmode=require",
		"postgres://ada@db/sales":                             "postgres://ada@db/sales",
		"sqlite:data.db":                                      "sqlite:data.db",
		"{env.DATABASE_URL}":                                  "{env.DATABASE_URL}",
	} {
		if got := withoutPassword(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}
