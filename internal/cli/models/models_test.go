package models

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
	"github.com/flowrun/flowrun/registry"
)

// terminal returns an invocation without a person, and what it prints on stdout.
func terminal(stdin string) (*ui.Env, *bytes.Buffer) {
	var out bytes.Buffer
	return &ui.Env{Terminal: ui.Terminal{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: io.Discard}}, &out
}

// TestUsage: a wrong command line of call is also answered with a document.
func TestUsage(t *testing.T) {
	for line, want := range map[string]string{
		"call":                        "missing argument: give the name of a tool",
		"call x a b":                  "the text of the model must be one argument",
		"call x --timeout 0s":         "--timeout must be greater than 0",
		"call x --auto-approve write": "--auto-approve: invalid pattern",
	} {
		env, out := terminal("")
		root := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(callCommand(env))
		root.SetArgs(strings.Fields(line))
		err := root.Execute()
		var doc struct {
			Error struct{ Code, Message, Hint string }
		}
		if bad := json.Unmarshal(out.Bytes(), &doc); bad != nil || err != error(ui.CodeError(outcome.ExitUsage)) {
			t.Errorf("%s: %v, %v, %s", line, err, bad, out)
		}
		if doc.Error.Code != outcome.AnswerUsage || !strings.Contains(doc.Error.Message, want) || doc.Error.Hint == "" {
			t.Errorf("%s: %+v", line, doc.Error)
		}
	}
}

// TestArgumentsText holds where the text of the model comes from.
func TestArgumentsText(t *testing.T) {
	ended, stop := context.WithCancelCause(t.Context())
	stop(io.ErrClosedPipe)
	reading, _ := io.Pipe()
	for _, c := range []struct {
		ctx   context.Context
		stdin io.Reader
		words []string
		want  string
		err   error
	}{
		{t.Context(), strings.NewReader("no"), nil, "{}", nil},
		{t.Context(), strings.NewReader("no"), []string{"{A: 1"}, "{A: 1", nil},
		{t.Context(), strings.NewReader("{A: 2"), []string{"-"}, "{A: 2", nil},
		{t.Context(), strings.NewReader(strings.Repeat("x", maxArguments+9)), []string{"-"}, strings.Repeat("x", maxArguments), nil}, // too long in any case
		{ended, reading, []string{"-"}, "", io.ErrClosedPipe},
	} {
		env := &ui.Env{Terminal: ui.Terminal{Stdin: c.stdin}}
		if got, err := argumentsText(c.ctx, env, c.words); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q: %d bytes, %v", c.words, len(got), err)
		}
	}
}

// TestNotCalled holds the answers and exit codes of calls that did not reach their tool.
func TestNotCalled(t *testing.T) {
	ended, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		ctx    context.Context
		err    error
		code   string
		status string
		exit   int
	}{
		{t.Context(), ui.Usagef(nil, "x"), outcome.AnswerUsage, "error", outcome.ExitUsage},
		{t.Context(), errors.New("x"), outcome.AnswerNotRun, "error", outcome.ExitFailed},
		{t.Context(), fmt.Errorf("x: %w", history.ErrNoRun), outcome.AnswerNotRun, "error", outcome.ExitNotFound},
		{ended, errors.New("x"), outcome.AnswerCancelled, "cancelled", outcome.ExitInterrupted},
	} {
		env, _ := terminal("")
		answer := notCalledAnswer(c.ctx, c.err)
		if answer.Error.Code != c.code || string(answer.Status) != c.status || answer.Error.Message != c.err.Error() {
			t.Errorf("%v: %s, %+v", c.err, answer.Status, answer.Error)
		}
		sig := env.Signals(func(error) {})
		if got := callCode(env, sig, answer); got != c.exit {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.exit)
		}
		sig.Stop()
	}
}

// TestAdvice holds the advice to a person about a refused call.
func TestAdvice(t *testing.T) {
	ignored := config.Value{Key: "approvals.allow", Value: "tool:x", List: true, Ignored: true}
	plan := func(text string, s tool.Scope) *engine.Plan {
		p := recordedtest.Plan(t, "name: deploy\ndescription: Asks\n"+text+"steps:\n  - {name: ask, approve: \"Sure?\"}\n")
		p.Definition.Scope = s
		return p
	}
	for _, c := range []struct {
		name     string
		plan     *engine.Plan
		written  string
		settings config.Config
		want     string // beginning and end
	}{
		{"by name", plan("", tool.ScopeUser), "", config.Config{}, "Allow it with --auto-approve tool:deploy, or approvals.allow in config.yaml. ... At a terminal flowrun asks you."},
		{"by path", plan("", tool.ScopeFile), "./tool.yaml", config.Config{}, "Allow it with --auto-approve tool:./tool.yaml, ... asks you."},
		{"project", plan("", tool.ScopeLocal), "", config.Config{}, "Allow it with --auto-approve tool:/x/tool.yaml, ... flowrun trust makes the settings of the project apply, and the names and tags of its tools count."},
		{"elevated", plan("security: {execution-privilege: elevated}\n", tool.ScopeUser), "", config.Config{}, "Make the call at a terminal, ... where flowrun asks you."},
		{"ignored", plan("", tool.ScopeUser), "", config.Config{Trust: config.Trust{Folder: "/p", Needed: []config.Value{ignored}}}, "Allow it ... approvals.allow of /p is ignored because the project is not trusted."},
		{"denied", plan("", tool.ScopeUser), "", config.Config{Values: []config.Value{{Key: "approvals.deny", Value: "*", List: true}}}, " ... "},
	} {
		f := callFlags{}
		f.EntryPoint, f.Settings = "call", &c.settings
		d := &approver{flags: f, plan: c.plan, request: registry.Request{Tool: c.written}}
		begin, end, _ := strings.Cut(c.want, " ... ")
		if got := d.advice(); !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) || begin == "" && got != "" {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// TestDiff: colours are only where they are on, and nothing else of the text reaches the terminal.
func TestDiff(t *testing.T) {
	file := &gostep.FileDiff{FileDiff: "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\x1b[31m\n same\n"}
	for mode, want := range map[string]string{
		"never":  "  --- a\n  +++ b\n  @@ -1 +1 @@\n  -old\n  +new<U+001B>[31m\n   same\n",
		"always": "  \x1b[1m--- a\x1b[0m\n  \x1b[1m+++ b\x1b[0m\n  \x1b[36m@@ -1 +1 @@\x1b[0m\n  \x1b[31m-old\x1b[0m\n  \x1b[32m+new<U+001B>[31m\x1b[0m\n   same\n",
	} {
		t.Setenv("FLOWRUN_COLOR", mode)
		env, _ := terminal("")
		if got := (&approver{env: env}).diff(file); got != want {
			t.Errorf("%s: %q", mode, got)
		}
	}
}

// TestRepairLines: every line is answered, in order, with its id as it was written.
func TestRepairLines(t *testing.T) {
	number := `"tool_parameters":{"p":{"type":"number","required":true},"d":{"type":"number","default":100}}`
	for _, c := range []struct{ in, want string }{
		{`{"id":1,` + number + `,"input":"{\"p\":10}"}`, `{"id":1,"ok":true,"value":{"d":100,"p":10},"repaired":false,"repairs":[],"coercions":[],"defaults_applied":["d"],"error":null}`},
		{"\ufeff" + `{"id":{"a":[1.50,"<"]},` + number + `,"input":{"p":12345678901234567890}}`, `{"id":{"a":[1.50,"<"]},"ok":true,"value":{"d":100,"p":12345678901234567890}`},
		{`{` + number + `,"input":"{p=10,}"}`, `{"id":null,"ok":true,"value":{"d":100,"p":10},"repaired":true`},
		{`{"id":2,` + number + `,"input":[1]}`, `{"id":2,"ok":false,"value":null,"repaired":false,"repairs":[],"coercions":[],"defaults_applied":[],"error":{"code":"not-arguments"`},
		{`{"id":2,` + number + `,"input":"{\"p\": 1"}`, `{"id":2,"ok":false,"value":null,"repaired":false,"repairs":[],"coercions":[],"defaults_applied":[],"error":{"code":"truncated"`},
		{`nonsense`, bad("null", `the line is not a JSON object like {\"id\", \"tool_parameters\", \"input\"}: invalid character`)},
		{`[1]`, bad("null", `the line is not a JSON object like {\"id\", \"tool_parameters\", \"input\"}: it is a JSON array`)},
		{"\xff", bad("null", "the line is not UTF-8")},
		{`{"id":"x"}`, bad(`"x"`, "tool_parameters is missing")},
		{`{"id":"x","tool_parameters":{}}`, bad(`"x"`, "input is missing")},
		{`{"id":"x","tool_parameters":[],"input":{}}`, bad(`"x"`, "tool_parameters: ")},
		{`{"id":"x","tool_parameters":{"p":5},"input":{}}`, bad(`"x"`, "tool_parameters: ")},
		{`{"id":"x","tool_parameters":{"p":{"type":"numbr"}},"input":{}}`, bad(`"x"`, "tool_parameters: ")},
		{`{"id":"x","tool_parameters":{"p":{"validation":{"maxlength":5}}},"input":{}}`, bad(`"x"`, `tool_parameters: parameter \"p\": unknown validation rule \"maxlength\"; did you mean \"maxLength\"?`)},
		{`{"id":"x","tool_parameters":{"o":{"type":"object","properties":{"a":{"items":{"validation":{"x":1}}}}}},"input":{}}`, bad(`"x"`, `tool_parameters: parameter \"o\": property \"a\": items: unknown validation rule \"x\"`)},
		{`{"id":"x","tool_parameters":{"p":{"validation":{"pattern":"("}}},"input":{}}`, bad(`"x"`, `tool_parameters: properties.p.pattern: invalid pattern`)},
		{strings.Repeat("x", maxRepairLine), bad("null", "the line is longer than 16 MiB")},
	} {
		env, out := terminal("")
		next := `{"id":"next",` + number + `,"input":{"p":1}}`
		if err := repairLines(env, strings.NewReader(c.in+"\n\n"+next)); err != nil {
			t.Error(err)
		}
		first, rest, _ := strings.Cut(strings.ReplaceAll(out.String(), `{"schema":"flowrun/repaired.v1",`, "{"), "\n")
		if !strings.HasPrefix(first, c.want) || !strings.HasPrefix(rest, `{"id":"next","ok":true`) || strings.Count(rest, "\n") != 1 {
			t.Errorf("%.200s:\n%s\n%s\nwant\n%s", c.in, first, rest, c.want)
		}
	}
	env, _ := terminal("")
	if err := repairLines(env, bufio.NewReader(io.MultiReader(strings.NewReader("{}\n"), brokenReader{}))); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a broken input: %v", err)
	}
}

// bad is the beginning of the answer to a line that is not a valid request.
func bad(id, message string) string {
	return `{"id":` + id + `,"ok":false,"value":null,"repaired":false,"repairs":[],"coercions":[],"defaults_applied":[],"error":{"code":"bad-line","message":"` + message
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestRules holds which values the rules of parameters allow, as in a call.
func TestRules(t *testing.T) {
	for _, c := range []struct{ parameters, input, problem string }{
		{`{"n":{"type":"number","validation":{"maximum":5}}}`, `{"n":5}`, ""},
		{`{"n":{"type":"number","validation":{"maximum":5}}}`, `{"n":6}`, "parameter n: 6 is above the maximum of 5"},
		{`{"n":{"type":"number","maximum":5}}`, `{"n":6}`, "parameter n: 6 is above the maximum of 5"}, // as in JSON Schema
		{`{"n":{"type":"number","default":9,"validation":{"maximum":5}}}`, `{}`, ""},                   // the author knows
		{`{"a":{"type":"array","validation":{"minLength":2}}}`, `{"a":["xx","y"]}`, "parameter a[1]: has 1 characters, at least 2 are needed"},
		{`{"a":{"type":"array","validation":{"maxItems":1}}}`, `{"a":["x","y"]}`, "parameter a: "},
		{`{"a":{"type":"array","items":{"type":"number","minimum":3}}}`, `{"a":[3,2]}`, "parameter a[1]: 2 is below the minimum of 3"},
		{`{"o":{"type":"object","properties":{"n":{"type":"integer","required":true,"validation":{"minimum":3}}}}}`, `{"o":{"n":2}}`, "parameter o.n: 2 is below the minimum of 3"},
		{`{"o":{"type":"object","properties":{"n":{"type":"integer","required":true}}}}`, `{"o":{}}`, "n"},
		{`{"o":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}`, `{"o":{}}`, "n"},
		{`{"o":{"type":"object","additionalProperties":false,"properties":{"n":{}}}}`, `{"o":{"n":1,"x":1}}`, "x"},
		{`{"n":{"type":"number","validation":{"minimum":50}}}`, `{"n":"1e999"}`, "out of range"},
		{`{"n":{"type":["Number","null"]}}`, `{"n":null}`, ""},
		{`{"n":{"type":"numbr"}}`, `{}`, "numbr"},
		{`{"n":{"type":"any"}}`, `{"n":[1]}`, ""},
		{`{"n":{"validation":{"enum":["red"]}}}`, `{"n":"blue"}`, "blue"},
	} {
		env, out := terminal("")
		line := `{"tool_parameters":` + c.parameters + `,"input":` + c.input + `}`
		if err := repairLines(env, strings.NewReader(line)); err != nil {
			t.Error(err)
		}
		var answer struct {
			OK    bool
			Error struct{ Message string }
		}
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil || answer.OK != (c.problem == "") || !strings.Contains(answer.Error.Message, c.problem) {
			t.Errorf("%s: %v %s", line, err, out)
		}
	}
}
