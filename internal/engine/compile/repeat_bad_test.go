package compile_test

import (
	"testing"
)

// TestBadRepeat: what is wrong with repeat is reported before anything runs, with its place.
func TestBadRepeat(t *testing.T) {
	t.Parallel()
	repeat := func(keys string) string {
		return "steps:\n  - name: a\n    run: echo\n    repeat: {" + keys + "}"
	}
	until := func(cond string) string { return repeat(`until: "` + cond + `"`) }
	testWrong(t, nil, map[string]wrong{
		"both conditions":         {repeat(`until: "{a.output} == 'x'", while: "{a.output} == 'y'"`), []string{"6:42 bad-repeat"}, "keep one of the two"},
		"a number":                {"steps:\n  - {name: a, run: echo, repeat: 3}", []string{"4:34 wrong-type"}, "expected a mapping"},
		"a list":                  {"steps:\n  - {name: a, run: echo, repeat: [1]}", []string{"4:34 wrong-type"}, "expected a mapping"},
		"an empty condition":      {until(""), []string{"6:22 expr-syntax"}, "empty"},
		"no rounds":               {repeat(`until: "{a.output} == 'x'", max: 0`), []string{"6:47 out-of-range"}, "from 1 to 1000000"},
		"fewer than none":         {repeat(`until: "{a.output} == 'x'", max: -1`), []string{"6:47 out-of-range"}, "from 1 to 1000000"},
		"rounds that are a word":  {repeat(`until: "{a.output} == 'x'", max: many`), []string{"6:47 wrong-type"}, "many"},
		"a pause that is none":    {repeat(`until: "{a.output} == 'x'", every: soon`), []string{"6:49 bad-duration"}, "soon"},
		"a pause below zero":      {repeat(`until: "{a.output} == 'x'", every: -1`), []string{"6:49 bad-duration"}, "-1"},
		"a time that is none":     {repeat(`until: "{a.output} == 'x'", timeout: later`), []string{"6:51 bad-duration"}, "later"},
		"no second round":         {repeat(`until: "{a.output} == 'x'", every: 1m, timeout: 30s`), []string{"6:42 bad-repeat"}, "never have a second round"},
		"an unknown jitter":       {repeat(`until: "{a.output} == 'x'", jitter: some`), []string{"6:50 bad-choice"}, "full"},
		"a key of retry":          {repeat(`until: "{a.output} == 'x'", attempts: 3`), []string{"6:42 unknown-key"}, "attempts"},
		"a misspelt key":          {repeat(`untill: "{a.output} == 'x'"`), []string{"6:13 bad-repeat", "6:14 unknown-key"}, `did you mean "until"`},
		"another step":            {"steps:\n  - {name: b, run: echo}\n  - {name: a, run: echo, repeat: {until: \"{b.output} == 'x'\"}}", []string{"5:43 bad-repeat"}, "does not refer to the step itself"},
		"a parameter only":        {"parameters: {N: {description: d, type: number}}\nsteps:\n  - {name: a, run: \"echo {N}\", repeat: {until: \"{N} > 3\"}}", []string{"5:49 bad-repeat"}, "{a.output}"},
		"always true":             {until("true"), []string{"6:22 bad-repeat"}, "can never change"},
		"a function of outcomes":  {until("failure() || {a.output} == 'x'"), []string{"6:22 bad-repeat"}, "{a.status}"},
		"after a cancel":          {until("cancelled() || {a.output} == 'x'"), []string{"6:22 bad-repeat"}, "say nothing about a round"},
		"an unknown step":         {until("{nope.output} == 'x'"), []string{"6:22 expr-unknown"}, "nope"},
		"a misspelt field":        {until("{a.exitcode} == 0"), []string{"6:22 expr-field"}, "exit-code"},
		"the last attempt":        {until("{last.exit-code} == 0"), []string{"6:22 expr-unknown"}, "last"},
		"a number and text":       {until("{a.exit-code} == 'ok'"), []string{"6:22 expr-type"}, "with text"},
		"no truth value":          {until("{a.exit-code}"), []string{"6:22 expr-syntax"}, ""},
		"half an expression":      {until("{a.exit-code} =="), []string{"6:37 expr-syntax"}, ""},
		"a later step that waits": {"steps:\n  - {name: a, run: echo, repeat: {until: \"{a.output} == {b.output}\"}}\n  - {name: b, run: \"echo {a.output}\"}", []string{"5:26 cycle"}, "wait for each other"},
		"into a group":            {"steps:\n  - {name: g, steps: [{name: a, run: echo}], repeat: {until: \"{a.output} == 'x'\"}}", []string{"4:63 expr-unknown"}, "in another list"},
		"a wait":                  {"steps:\n  - {name: a, wait: {for: 1s}, repeat: {until: \"{a.output} == 'x'\"}}", []string{"4:40 bad-repeat"}, "runs once"},
		"a question":              {"steps:\n  - {name: a, approve: Go, repeat: {until: \"{a.output} == 'x'\"}}", []string{"4:36 bad-repeat"}, "runs once"},
		"a cache":                 {"steps:\n  - {name: a, run: echo, cache: {}, repeat: {until: \"{a.output} == 'x'\"}}", []string{"4:45 bad-repeat"}, "same in every round"},
		"on a tool":               {"run: echo\nrepeat: {max: 3}", []string{"4:1 unknown-key"}, "repeat"},
		"in error-handling":       {"steps:\n  - {name: a, run: echo, error-handling: {repeat: {max: 3}}}", []string{"4:43 unknown-key"}, "repeat"},
	})
}
