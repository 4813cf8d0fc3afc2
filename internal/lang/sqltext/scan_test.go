package sqltext_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/sqltext"
)

// TestPlaces: a value stands where ? is written; the letters after the statement are the places of its values.
func TestPlaces(t *testing.T) {
	letters := map[sqltext.Place]string{sqltext.Value: "v", sqltext.Name: "n", sqltext.InText: "t", sqltext.InName: "q", sqltext.InComment: "c", sqltext.InWord: "w"}
	for statement, want := range map[string]string{
		"select * from users where id = ? and name like ?": "vv",
		"select * from ?":                   "n",
		"select * from a, ?":                "n",
		"select * from a join ? on a.x = ?": "nv",
		"select ?, count(?) from t":         "vv",
		"select ?.name from t":              "n",
		"select t.? from t":                 "n",
		"select ?(1)":                       "n",
		"select x::? from t":                "n",
		"select ?::int":                     "v",
		"select cast(? as ?)":               "vn",
		"select * from t order by ?":        "n",
		"select * from t order by a, ?":     "n",
		"select * from t order by a ?":      "n",
		"select * from t order by case when a = ? then ? else b end":       "vv",
		"select * from t group by ?":                                       "n",
		"select * from t limit ? offset ?":                                 "vv",
		"select * from t where a in (?, ?)":                                "vv",
		"select * from t where a between ? and ?":                          "vv",
		"select * from t where a ? b":                                      "n",
		"select * from t where a is distinct from ?":                       "v",
		"select extract(epoch from ?)":                                     "v",
		"select * from unnest(?, ?)":                                       "vv",
		"select * from (select * from u where x > ?) s where y = ?":        "vv",
		"select * from t where at < now() - (?)::interval":                 "v",
		"select * from t where at < now() - interval ?":                    "n",
		"select * from t where at at time zone ? > now()":                  "v",
		"insert into ? values (?)":                                         "nv",
		"insert into t (a, ?) values (?, ?)":                               "nvv",
		"insert into t (a) select ?":                                       "v",
		"insert into t (a) values (?) on conflict (a) do update set b = ?": "vv",
		"update ? set a = ? where b = ?":                                   "nvv",
		"update t set ? = 1":                                               "n",
		"delete from t where a = ?":                                        "v",
		"create table ? (a int)":                                           "n",
		"create table t (? int)":                                           "n",
		"truncate ?":                                                       "n",
		"with ? as (select 1) select 1":                                    "n",
		"?":                                                                "n",
		"select '?' , 'it''s ?', ?":                                        "ttv",
		`select e'\'?', ?`:                                                 "tv",
		`select '\', ?`:                                                    "v",
		`select "?", "a""?", ?`:                                            "qqv",
		"select `?`, ?":                                                    "qv",
		"select $$ ? $$, $x$ $$ ? $x$, ?":                                  "ttv",
		"select $1, ?":                                                     "v",
		"select 1 -- ?\n, ?":                                               "cv",
		"select 1 /* ? /* ? */ ? */, ?":                                    "cccv",
		"select * from table_?":                                            "w",
		"select ?px":                                                       "w",
		"select ??":                                                        "ww",
		"select a || ? || b":                                               "v",
		"select data->>? from t":                                           "v",
		"select array[?, ?]":                                               "vv",
		"select * from t where (a, b) = (?, ?)":                            "vv",
		"select a -? from t":                                               "v",
		"values (?, ?)":                                                    "vv",
	} {
		var got strings.Builder
		for _, p := range sqltext.Scan(strings.Split(statement, "?")).Places {
			got.WriteString(letters[p])
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", statement, diff)
		}
	}
}

// TestStatements: what a statement is, and whether another one follows.
func TestStatements(t *testing.T) {
	for statement, want := range map[string][3]any{
		"select 1":                           {"select", true, false},
		"  -- a comment\n SELECT 1;":         {"select", true, false},
		"(select 1) union select 2":          {"select", true, false},
		"with a as (select 1) select 1":      {"with", true, false},
		"with a as (delete from t) select 1": {"with", false, false},
		"select 1 into t":                    {"select", false, false},
		"explain analyze delete from t":      {"explain", false, false},
		"insert into t values (';')":         {"insert", false, false},
		"select 1; ":                         {"select", true, false},
		"select 1; -- the end":               {"select", true, false},
		"select 1; select 2":                 {"select", true, true},
		"select 1; ?":                        {"select", true, true},
		"delete from t;;drop table t":        {"delete", false, true},
		"create trigger a after insert on t begin delete from u; delete from v; end;": {"create", false, false},
		"create table t (a int); drop table u":                                        {"create", false, true},
		"":                                                                            {"", false, false},
		";":                                                                           {"", false, false},
	} {
		got := sqltext.Scan(strings.Split(statement, "?"))
		if diff := cmp.Diff(want, [3]any{got.Verb, got.Reads(), got.More}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", statement, diff)
		}
	}
}

// FuzzScan: any text has one place for each value.
func FuzzScan(f *testing.F) {
	f.Add("select '?' from $a$ ? $a$ -- ?\n where /* ? */ x = ?; ??")
	f.Fuzz(func(t *testing.T, statement string) {
		texts := strings.Split(statement, "?")
		if got := len(sqltext.Scan(texts).Places); got != len(texts)-1 {
			t.Errorf("%q: %d places, want %d", statement, got, len(texts)-1)
		}
	})
}

// TestIsName: what may become part of a statement.
func TestIsName(t *testing.T) {
	for text, want := range map[string]bool{
		"name": true, "_a1": true, "public.users": true, "desc": true, "": false, ".": false, "a.": false, "1a": false, "a b": false, "a;b": false, "a-b": false,
		`"a"`: false, "a'": false, "ä": false, "a\n": false, "a,b": false, "a(b)": false, "Ȃ": false,
	} {
		if got := sqltext.IsName(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
