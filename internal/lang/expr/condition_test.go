package expr_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

func condition(t testing.TB, src string) *expr.Condition {
	t.Helper()
	c, problems := expr.ParseCondition(src, names{})
	if errs := errorsOf(problems); len(errs) > 0 {
		t.Fatalf("%s: %v", src, errs)
	}
	return c
}

func TestConditions(t *testing.T) {
	sc := scope{
		"{a.exit-code}": {V: int64(0)}, "{b.exit-code}": {V: nil}, "{a.output}": output("ok"), "{b.output}": output(" 42 \n"),
		"{a.json}": {V: map[string]any{"n": json.Number("3"), "list": []any{json.Number("1"), "x"}}}, "{a.json.n}": {V: json.Number("3")},
		"{P}": caller("prod"), "{N}": caller(json.Number("5")), "{DEBUG}": caller(true), "{LIST}": caller([]any{"x", "y"}), "{A}": {Absent: true},
		"{env.CI}": output("1"), "{a.status}": {V: "succeeded"}, "{OS}": {V: "linux"}, "{item}": caller("v"),
	}
	for _, test := range []struct {
		src  string
		want bool
	}{
		{"true", true}, {"{a.exit-code} == 0", true}, {"{a.exit-code} === 0", true}, {"{a.exit-code} !== 0", false}, {"!({a.exit-code} != 0)", true},
		{"{b.exit-code} == 0", false}, {"{b.exit-code} != 0", true}, {"{b.exit-code} < 1", false}, {"{b.exit-code} >= 0", false},
		{"{b.exit-code} == nil", true}, {"{b.exit-code} == null", true}, {"null != {a.exit-code}", true},
		{"'{a.output}' == 'ok'", true}, {`"{a.output}" == "ok"`, true}, {"{a.output} == 'ok'", true}, {"'{a.exit-code}' == '0'", true}, {"{a.exit-code} == '0'", true},
		{"{b.output} == 42", true}, {"{b.output} > 41.5 && {b.output} < 43", true}, {`{b.output} + '' == ' 42 \n'`, true},
		{"{a.json.n} == 3", true}, {"{a.json}.n + 1 == 4", true}, {"'x' in {a.json}.list", true}, {"1 in {a.json}.list", true},
		{"{P} == 'prod' and {N} > 4", true}, {"{P} in ['dev', 'prod']", true}, {"{P} not in ['dev']", true}, {"{P} matches '^pr'", true},
		{"{P} contains 'ro'", true}, {"{P} startsWith 'x'", false}, {"{b.exit-code} in [0, 1]", false}, {"{a.exit-code} in [0, 2]", true},
		{"{DEBUG}", true}, {"not {DEBUG}", false}, {"{DEBUG} == true", true}, {"{A} == nil", true}, {"{A} == 'x'", false},
		{"len({LIST}) == 2", true}, {"all({LIST}, # != 'z')", true}, {"any({LIST}, {# == 'y'})", true}, {"{env.CI} == 1", true}, {"{env.CI} == '1'", true},
		{"success()", true}, {"failure()", false}, {"always()", true}, {"cancelled()", false}, {"failure() || {a.exit-code} == 0", true},
		{"{a.status} == 'succeeded'", true}, {"{OS} == 'linux' ? {DEBUG} : false", true}, {"{item} == 'v'", true}, {"upper({P}) == 'PROD'", true},
		{"{N} % 2 == 1", true}, {"'{{P}}' == 'x'", false}, {"'a { b' != '}'", true}, {"{P} == 'é' || {N} == 5", true},
		{"any(1..{b.output}, # == 42)", true}, {"any({N}..{b.output}, # < 5)", false}, {"len(1..'{N}') == 5", true}, {"{len: 1}.len == 1", true},
		// the right side has no value, and is not evaluated
		{"{a.exit-code} != 0 && {try-ssh.exit-code} == 0", false}, {"{a.exit-code} == 0 || {try-ssh.exit-code} == 0", true},
	} {
		got, err := condition(t, test.src).Eval(sc, expr.Status{})
		if err != nil || got != test.want {
			t.Errorf("%s: got %v, %v", test.src, got, err)
		}
	}
}

// TestFlagship runs the specification's three-term condition in all eight
// combinations of success and failure, and with a skipped step.
func TestFlagship(t *testing.T) {
	const src = "(({try-https.exit-code} == 0) || ({try-ssh.exit-code} == 0)) && ({check-deps.exit-code} == 0)"
	c := condition(t, src)
	for bits := range 8 {
		https, ssh, deps := bits&1, bits>>1&1, bits>>2&1
		sc := scope{"{try-https.exit-code}": {V: https}, "{try-ssh.exit-code}": {V: ssh}, "{check-deps.exit-code}": {V: deps}}
		want := (https == 0 || ssh == 0) && deps == 0
		if got, err := c.Eval(sc, expr.Status{}); got != want || err != nil {
			t.Errorf("%03b: got %v, %v", bits, got, err)
		}
		if https == 0 {
			sc["{try-ssh.exit-code}"] = expr.Value{V: nil}
			if got, err := c.Eval(sc, expr.Status{}); got != want || err != nil {
				t.Errorf("%03b, ssh skipped: got %v, %v", bits, got, err)
			}
		}
	}
}

func TestValuesAreNotCode(t *testing.T) {
	c := condition(t, "{a.output} == 'no'")
	for _, v := range []string{"0 || true", "' || true || '", "'", "{P}", "no' || 'a' == 'a"} {
		if got, err := c.Eval(same(output(v)), expr.Status{}); got || err != nil {
			t.Errorf("%q: %v %v", v, got, err)
		}
	}
}

func TestConditionErrorsAtRunTime(t *testing.T) {
	for _, test := range []struct {
		src  string
		v    expr.Value
		want string
	}{
		{"{a.output} == 5", output("five"), `cannot compare 'five' with 5: 'five' is not a number`},
		{"{item} == 5", caller("5"), "'5' is text, not a number"},
		{"{a.json}", expr.Value{V: "x"}, "neither true nor false"},
		{"{a.json} > [1]", expr.Value{V: []any{}}, "cannot compare"},
		{"{a.json} && true", expr.Value{V: 1}, "neither true nor false"},
		{"all(1..100000, true)", expr.Value{}, "memory budget"},
		{"len(1..{a.output}) == 1", output("many"), "cannot make a range from or to 'many': both ends must be whole numbers"},
		{"len({P}..5) == 1", caller("1.5"), "cannot make a range from or to '1.5'"},
		{"len(1..{a.json}) == 1", expr.Value{}, "cannot make a range from or to null"},
	} {
		c, problems := expr.ParseCondition(test.src, names{})
		if len(problems) > 0 {
			if !strings.Contains(problems[0].Message, test.want) {
				t.Errorf("%s: %v", test.src, problems)
			}
			continue
		}
		if _, err := c.Eval(same(test.v), expr.Status{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.src, err)
		}
	}
}

func TestUses(t *testing.T) {
	for src, want := range map[string]expr.Uses{
		"{a.exit-code} == 0": expr.UsesNone, "success()": expr.UsesOutcome, "failure() && true": expr.UsesOutcome,
		"always()": expr.UsesCancel, "failure() || cancelled()": expr.UsesCancel, "'always()' == 'x'": expr.UsesNone,
	} {
		if got := condition(t, src).Uses(); got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}

func TestExplain(t *testing.T) {
	sc := scope{"{P}": caller("x"), "{a.exit-code}": {V: 0}, "{a.output}": output("it's")}
	for _, test := range []struct {
		src     string
		verdict expr.Verdict
		why     string
	}{
		{"{P} == 'x'", expr.True, "'x' == 'x'"},
		{"{a.exit-code} != 0", expr.False, "0 != 0"},
		{"'{a.output}' == 'ok'", expr.False, `"it's" == 'ok'`},
		{"{b.exit-code} == 0", expr.NotYet, "{b.exit-code} is not known yet"},
		{"{b.exit-code} == 0 && {P} == 'y'", expr.False, "{b.exit-code} == 0 && 'x' == 'y'"},
		{"{b.exit-code} == 0 || {P} == 'x'", expr.True, "{b.exit-code} == 0 || 'x' == 'x'"},
		{"!({b.exit-code} == {b.output})", expr.NotYet, "{b.exit-code}, {b.output} are not known yet"},
		{"always()", expr.True, "always()"},
		{"failure()", expr.NotYet, "it depends on the results of upstream steps"},
		{"failure() || {P} == 'x'", expr.True, "failure() || 'x' == 'x'"},
		{"success() && {P} == 'y'", expr.False, "success() && 'x' == 'y'"},
		{"cancelled() || {b.exit-code} == 0", expr.NotYet, "{b.exit-code} is not known yet"},
	} {
		verdict, why := condition(t, test.src).Explain(sc, expr.Status{Ahead: true})
		if verdict != test.verdict || why != test.why {
			t.Errorf("%s: got %v, %q", test.src, verdict, why)
		}
	}
}

func ExampleCondition_Explain() {
	c, _ := expr.ParseCondition("{a.exit-code} == 0 && {P} == 'prod'", names{})
	verdict, why := c.Explain(scope{"{P}": {V: "dev"}}, expr.Status{})
	fmt.Println(verdict == expr.False, why)
	// Output: true {a.exit-code} == 0 && 'dev' == 'prod'
}

// TestConditionsConcurrently parses conditions in several goroutines, because the tables of expr-lang are shared.
func TestConditionsConcurrently(t *testing.T) {
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for range 50 {
				c := condition(t, "len({LIST}) == 1 && all({LIST}, # == 'x') && {a.exit-code} == 0")
				if yes, err := c.Eval(scope{"{LIST}": caller([]any{"x"}), "{a.exit-code}": {V: 0}}, expr.Status{}); !yes || err != nil {
					t.Errorf("%v %v", yes, err)
				}
				if tmpl, problems := expr.ParseTemplate("p {P} \"{N}\"", expr.Sh, names{}); len(problems) > 0 || len(tmpl.Refs()) != 2 {
					t.Error(problems)
				}
			}
		})
	}
}
