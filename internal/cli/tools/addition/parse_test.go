package addition

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParse: the words of a command line and the definition that they say.
func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		words []string
		want  string
	}{
		"one command": {[]string{"hello", "--description", "Says hello.", "--bash", "echo hello"},
			"description: Says hello.\nbash: echo hello\n"},
		"a value in the word of its option": {[]string{"--bash=echo a=b", "hello"}, "bash: echo a=b\n"},
		"a name behind --":                  {[]string{"--bash", "true", "--", "hello"}, "bash: \"true\"\n"},
		"steps and their options": {[]string{"hello", "--step", "a", "true", "--parallel", "--step", "b", "false", "--wait-for", "a, c,"}, `steps:
  - name: a
    bash: "true"
    parallel: true
  - name: b
    bash: "false"
    wait-for: [a, c]
`},
		"the type of a parameter decides about its other values, wherever it is": {[]string{"hello", "--parameter", "N", "How many.", "default=5", "type=number"}, `parameters:
  N:
    type: number
    description: How many.
    default: 5
`},
		"a test has values of the types of the parameters": {[]string{"hello", "--parameter", "N", "n", "type=number", "--test", "t", "It counts.", "--test-param", "N=5", "--expect-exit-code", "0"}, `parameters:
  N:
    type: number
    description: n

tests:
  - name: t
    description: It counts.
    parameters:
      N: 5
    expected:
      exit-code: 0
`},
		"one text, or a list": {[]string{"hello", "--test", "t", "d", "--expect-output", "a", "--test", "u", "d", "--expect-output", "a", "--expect-output", "b"}, `tests:
  - name: t
    description: d
    expected:
      output-contains: a
  - name: u
    description: d
    expected:
      output-contains: [a, b]
`},
		"nested keys": {[]string{"hello", "--command-linux", "ls", "--env-var", "A=1", "--env-var", "B=x=y", "--inherit-env", "false"}, `commands:
  platforms:
    linux: ls

environment:
  variables:
    A: "1"
    B: x=y
  inherit: false
`},
	} {
		t.Run(name, func(t *testing.T) {
			a := Parse(c.words)
			if a.Name != "hello" || len(a.Problems) > 0 {
				t.Errorf("name %q, problems %q", a.Name, a.Problems)
			}
			text, err := a.Tool.YAML()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(text)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestParseProblems: every mistake of a command line is reported, each with a way out.
func TestParseProblems(t *testing.T) {
	for _, c := range []struct {
		words string // separated by |
		want  []string
	}{
		{"hello|world", []string{`unexpected argument "world": the tool's name is "hello"; put values with spaces in quotes`}},
		{"hello|--bsah|true", []string{`unknown option --bsah; did you mean --bash?`}},
		{"hello|--default=5", []string{`unknown option --default=5; after --parameter NAME "DESC" write default=VALUE, without dashes`}},
		{"hello|--bash", []string{`--bash needs COMMAND; write it as --bash "COMMAND"`}},
		{"hello|--parallel=yes", []string{"--parallel takes no value"}},
		{"hello|--parameter|N|default=5", []string{`--parameter N needs a description before default=5`}},
		{"hello|--parameter|N|n|--parameter|N|n", []string{`the parameter "N" is given twice`}},
		{"hello|--parameter|N|n|typ=number", []string{`parameter N: unknown option typ; did you mean type?`}},
		{"hello|--parameter|N|n|type=number|default=many", []string{"a number"}},
		{"hello|--parallel", []string{"--parallel"}},
		{"hello|--inherit-env|maybe|--retry-attempts|2", []string{`--inherit-env: "maybe" is not true or false`, "--retry-attempts"}},
		{"hello|--run|true|--test-param|A=1", []string{"--test-param must follow the --test"}},
		{"hello|--run|a|--run|b|--override=yes", []string{"--run is given twice", "--override takes no value"}},
		{"hello|--parameter|A|a|type=nmber|required=yes|min-length=x|default=1|default=2", []string{
			`parameter A, type: "nmber" is not one of string, number, boolean, array, object; did you mean "number"?`, `parameter A, required: "yes" is not true or false`,
			`parameter A, min-length: "x" is not a whole number`, "parameter A, default is given twice"}},
		{"hello|--step|a|true|--step|a|false|--step-command-linux|b|1|--step-command-linux|b|2|--env-var|X", []string{
			`the step "a" is given twice`, `the step "b" has a command for linux twice`, `--env-var: "X" is not NAME=VALUE`}},
		{"hello|--bash|a\xff", []string{"is not UTF-8"}},
	} {
		got := Parse(strings.Split(c.words, "|")).Problems
		if len(got) != len(c.want) {
			t.Errorf("%q: got %q, want %q", c.words, got, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%q: got %q, want %q", c.words, got[i], want)
			}
		}
	}
}

// TestOptions: every option of the table has a form that can be parsed, and each name once.
func TestOptions(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Options() {
		if seen[o.Name] {
			t.Errorf("--%s is in the table twice", o.Name)
		}
		seen[o.Name] = true
		if found, _, _ := optionOf("--" + o.Name); found == nil || found.Name != o.Name {
			t.Errorf("--%s is not found", o.Name)
		}
		if o.Section != "" && o.Help == "" {
			t.Errorf("--%s has no help", o.Name)
		}
	}
}
