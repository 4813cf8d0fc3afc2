package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/test/pgtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/steps/sqlclient"
)

// runSQL runs a definition with the databases of the command line.
func runSQL(t *testing.T, dir, text string, params map[string]any, env ...string) *runresult.Result {
	t.Helper()
	res, err := engine.New(engine.Config{Database: sqlclient.Open}).Run(context.Background(), compile(t, dir, text), params, engine.WithRunEnv(world(dir, env...)))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// worstValues end a text, a name, a comment, a statement or a number, if something takes them for more than values.
var worstValues = []string{
	"", "'", "''", `"`, "`", `\`, `\'`, "'; drop table victim; --", `"; drop table victim; --`, "1; drop table victim", "1) ; drop table victim; --",
	"x' or '1'='1", "1 or 1=1", "') union select secret from victim --", "$1", "?1", "$$; drop table victim; $$", "-- ", "/*", "*/ drop table victim /*",
	"{V}", "{env.HOME}", "%s", "a\nb; drop table victim;\n", "E'\\''", "U&'\\0027'", "\u2019; drop table victim; --", "\uff07; drop table victim; --",
	"0x27; drop table victim", "null", "now()", "pg_sleep(9)", "attach database 'pwn.db' as p", strings.Repeat("'", 999),
}

// statements have a value at every kind of place in which a database takes one.
var statements = []string{
	"select {V}", "select {V} as a, {V} as b", "select * from victim where secret = {V}", "select * from victim where secret like {V}", "select * from victim where secret in ({V}, 'x')",
	"select * from victim where secret between {V} and 'z'", "select * from victim where not secret = {V}", "select count(*) from victim where secret <> {V} group by id having count(*) > 0",
	"select case when secret = {V} then 1 else 2 end from victim", "select coalesce(secret, {V}) from victim", "select secret || {V} || 'x' from victim",
	"select * from victim order by case when secret = {V} then 1 else 2 end", "select length({V})", "select upper(({V}))", "insert into notes values ({V})",
	"insert into notes select {V}", "update notes set note = {V} where note = {V}", "delete from notes where note = {V}", "with w as (select {V} as x) select * from w",
	"select * from (select {V} as x) as s where x = {V}",
}

// TestSQLValuesAreValues: whatever a value is, the database runs the written statements and no other, and a value comes back
// as it was.
func TestSQLValuesAreValues(t *testing.T) {
	t.Parallel()
	values := sizetest.Of(worstValues[6:9], worstValues, worstValues)
	var b strings.Builder
	b.WriteString("name: under-test\ndescription: d\nparameters: {V: {description: A value.}}\nsteps:\n")
	step := func(query string) {
		fmt.Fprintf(&b, "  - name: s%d\n    continue-on-error: true\n    sql: {url: \"{env.DB}\", query: %q}\n", strings.Count(b.String(), "name: s"), query)
	}
	for _, s := range statements {
		step(strings.ReplaceAll(s, "{V}", "({V})"))
	}
	b.WriteString("  - name: back\n    sql: {url: \"{env.DB}\", query: \"select ({V}) as v, (select count(*) from victim) as n\"}\n")
	text := b.String()
	before := "name: before\ndescription: d\nsteps:\n  - name: a\n    sql:\n      url: \"{env.DB}\"\n      query: [\"create table victim (id integer, secret text)\", \"create table notes (note text)\", \"insert into victim values (1, 'hidden')\"]\n"
	test := func(t *testing.T, db string) {
		dir := t.TempDir()
		if res := runSQL(t, dir, before, nil, "DB="+db); res.Status != dag.Succeeded {
			t.Fatal(res.Message)
		}
		for _, v := range values {
			res := runSQL(t, dir, text, map[string]any{"V": v}, "DB="+db)
			back := res.Step("back")
			encoded, _ := json.Marshal(v)
			if back == nil || back.Status != dag.Succeeded {
				t.Fatalf("%q: %s", v, res.Message)
			}
			if got, want := strings.TrimSpace(back.Output), fmt.Sprintf(`[{"v":%s,"n":1}]`, encoded); got != want {
				t.Errorf("%q came back as %s, want %s", v, got, want)
			}
		}
		if found, _ := filepath.Glob(filepath.Join(dir, "pwn*")); len(found) > 0 {
			t.Error("a value opened a database")
		}
	}
	t.Run("sqlite", func(t *testing.T) { test(t, "sqlite:"+filepath.Join(t.TempDir(), "data.db")) })
	t.Run("postgres", func(t *testing.T) {
		server := pgtest.Start(t)
		test(t, server.URL)
		var got []string
		for line := range strings.Lines(server.Log(t)) {
			_, statement, ok := strings.Cut(line, "LOG:  execute <unnamed>: ")
			if !ok {
				_, statement, ok = strings.Cut(line, "LOG:  statement: ")
			}
			if ok {
				got = append(got, strings.TrimSpace(statement))
			}
		}
		slices.Sort(got)
		got = slices.Compact(got)
		want := []string{"begin", "commit", "create table notes (note text)", "create table victim (id integer, secret text)", "insert into victim values (1, 'hidden')", "select ($1) as v, (select count(*) from victim) as n"}
		for _, s := range statements {
			parts := strings.Split(s, "{V}")
			text := parts[0]
			for i, p := range parts[1:] {
				text += fmt.Sprintf("($%d)", i+1) + p
			}
			want = append(want, text)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the server ran other statements (-want +got):\n%s", diff)
		}
	})
}

// TestSQLFile: rows that are saved are streamed to a file that gets its name at the end; output has a limit.
func TestSQLFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	many := "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) select i, 'a text of some length' as t from n"
	definition := func(more string) string {
		return "name: under-test\ndescription: d\nsteps:\n  - name: a\n    sql: {url: \"sqlite:x.db\", format: csv, query: \"" + many + "\"" + more + "}\n"
	}
	res := runSQL(t, dir, definition(", save-as: all.csv"), nil)
	text, err := os.ReadFile(filepath.Join(dir, "all.csv"))
	if err != nil || res.Status != dag.Succeeded || strings.Count(string(text), "\n") != 200001 {
		t.Errorf("%s: %v, %d lines", res.Message, err, strings.Count(string(text), "\n"))
	}
	res = runSQL(t, dir, strings.Replace(definition(""), "    sql:", "    output: {buffer-limit: 1MB}\n    sql:", 1), nil)
	if res.Status != dag.Failed || !strings.Contains(res.Message+res.Step("a").Message, "save them with save-as") {
		t.Errorf("%s: %s", res.Status, res.Step("a").Message)
	}
	os.Remove(filepath.Join(dir, "all.csv"))
	res = runSQL(t, dir, strings.Replace(definition(", save-as: all.csv"), "select i,", "select abs(-9223372036854775808 + (i < 1000)) as x, i,", 1), nil)
	if left, _ := filepath.Glob(filepath.Join(dir, "all.csv*")); res.Status != dag.Failed || len(left) > 0 {
		t.Errorf("%s: %v is left", res.Step("a").Message, left)
	}
}

// TestSQLEnforced: a tool whose permissions are enforced reaches only the files and hosts that they name.
func TestSQLEnforced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, tt := range map[string]struct{ permission, sql, says string }{
		"the file":            {"filesystem:write:data.db", `{url: "sqlite:data.db", query: "select 1"}`, ""},
		"another file":        {"filesystem:write:data.db", `{url: "sqlite:other.db", query: "select 1"}`, "filesystem:write:"},
		"a file in it":        {"filesystem:write:data.db", `{url: "sqlite:data.db", query: "attach 'other.db' as o"}`, "too many attached databases"},
		"a copy":              {"filesystem:write:data.db", `{url: "sqlite:data.db", query: "vacuum into 'other.db'"}`, "too many attached databases"},
		"a host":              {"filesystem:write:data.db", `{url: "postgres://127.0.0.1:1/x", query: "select 1"}`, "network:local:127.0.0.1:1"},
		"a host that is down": {"network:local:127.0.0.1:1", `{url: "postgres://127.0.0.1:1/x", query: "select 1"}`, "refused"},
		"a socket":            {"network", `{url: "postgres:///x?host=/run/none", query: "select 1"}`, "permissions cannot allow a socket"},
	} {
		res := runSQL(t, dir, "name: under-test\ndescription: d\nsecurity: {enforce: true, required-permissions: [\""+tt.permission+"\"]}\nsteps:\n  - name: a\n    sql: "+tt.sql+"\n", nil)
		if says := res.Step("a").Message; tt.says != "" && !strings.Contains(says, tt.says) || tt.says == "" && res.Status != dag.Succeeded {
			t.Errorf("%s: %s: %s, want %q", name, res.Status, says, tt.says)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "other.db")); err == nil {
		t.Error("a statement wrote a file that no permission names")
	}
}
