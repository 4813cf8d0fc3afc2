package compile_test

import "testing"

// TestBadQueries: what no database could bind, and what the step cannot do, is reported before anything runs.
func TestBadQueries(t *testing.T) {
	t.Parallel()
	step := func(query string) string {
		return "parameters:\n  X: {description: A value.}\n  BY: {description: A name., validation: {enum: [a, b.c]}}\n  WORDS: {description: Words., validation: {enum: [\"a b\"]}}\nsteps:\n  - name: q\n    sql:\n      url: sqlite:x.db\n      query: " + query
	}
	keys := func(sql string) string { return "steps:\n  - name: q\n    sql: " + sql }
	testWrong(t, nil, map[string]wrong{
		"a table":               {step("select * from {X}"), []string{"11:28 unbindable"}, "fixed text, or give the parameter an enum"},
		"a column":              {step("select * from t order by {X}"), []string{"11:39 unbindable"}, "name or a word of SQL"},
		"in quotes":             {step("select '{X}'"), []string{"11:22 unbindable"}, "take the quotes away"},
		"in a quoted name":      {step(`select "{X}" from t`), []string{"11:22 unbindable"}, "quoted name"},
		"in a comment":          {step("select 1 -- {X}"), []string{"11:26 unbindable"}, "comment"},
		"in a word":             {step("select * from t_{X}"), []string{"11:30 unbindable"}, "part of a word"},
		"two beside each other": {step("select {X}{X}"), []string{"11:21 unbindable", "11:24 unbindable"}, "part of a word"},
		"a list of phrases":     {step("select * from t order by {WORDS}"), []string{"11:39 unbindable"}, "enum of the possible names"},
		"a second statement":    {step("delete from t; drop table t"), []string{"11:14 two-bodies"}, "a list of statements"},
		"an empty query":        {step(`"-- nothing"`), []string{"11:15 no-body"}, "the query is empty"},
		"no query":              {keys("{url: \"sqlite:x.db\"}"), []string{"5:10 no-body"}, "the step has no query"},
		"no url":                {keys("{query: select 1}"), []string{"5:10 bad-address"}, "add url"},
		"an unknown database":   {keys("{url: \"mysql://db/x\", query: select 1}"), []string{"5:17 bad-address"}, "postgres://USER:PASSWORD@HOST:PORT/NAME"},
		"another format":        {keys("{url: \"sqlite:x.db\", query: select 1, format: xml}"), []string{"5:56 bad-choice"}, "json, jsonl, csv"},
		"artifacts":             {keys("{url: \"sqlite:x.db\", query: select 1}\n    artifacts: [x.csv]"), []string{"6:17 no-effect"}, "save-as"},
		"a working directory":   {keys("{url: \"sqlite:x.db\", query: select 1}\n    working-directory: x"), []string{"6:24 no-effect"}, "use the keys of sql"},
		"a cache":               {keys("{url: \"sqlite:x.db\", query: select 1}\n    cache: {inputs: [x]}"), []string{"6:12 cannot-cache"}, "when the data changes"},
	})
}
