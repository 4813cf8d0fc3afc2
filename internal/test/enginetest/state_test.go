package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
)

// stateTable returns the rows of the table in docs/reference/state.md whose first column has that title.
func stateTable(t *testing.T, title string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("docs/reference/state.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n| "+title+" |")
	if !ok {
		t.Fatalf("the page has no table %q", title)
	}
	for _, line := range strings.Split(rest, "\n")[2:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

// stateOf returns the values of the tool under test.
func (b *bed) stateOf(p *engine.Plan) map[string]string {
	b.Helper()
	list, err := b.config.Store.State(context.Background(), p.StateID())
	if err != nil {
		b.Fatal(err)
	}
	m := map[string]string{}
	for _, v := range list {
		m[v.Key] = string(v.Value)
	}
	return m
}

func (b *bed) setState(p *engine.Plan, key, value string) {
	b.Helper()
	err := b.config.Store.SetState(context.Background(), []dag.StateChange{{Tool: p.StateID().Tool, File: p.StateID().File, Key: key, Value: json.RawMessage(value)}})
	if err != nil {
		b.Fatal(err)
	}
}

// The rows of the table about two runs at once, each with a run during which somebody else sets the value.
func TestStateMerge(t *testing.T) {
	t.Parallel()
	for _, row := range stateTable(t, "type") {
		typ, merge, read, other, sets, status, kept := row[0], row[1], row[2], row[3], row[4], row[5], row[6]
		t.Run(strings.Join(row, " "), func(t *testing.T) {
			b := newBed(t)
			b.config.Store = history.NewMemory()
			if merge != "" {
				merge = ", merge: " + merge
			}
			text := fmt.Sprintf("state:\n  V: {type: %s%s}\nsteps:\n  - name: a\n    bash: echo '{state.V}'\n", typ, merge)
			if sets != "" {
				text = fmt.Sprintf("state:\n  V: {type: %s%s}\nsteps:\n  - name: a\n    bash: |\n      echo '{\"V\": %s}' >> $FLOWRUN_STATE\n", typ, merge, sets)
			}
			p := b.compile(text)
			b.setState(p, "V", read)
			sink := dag.SinkFunc(func(e dag.Event) {
				if e.Kind == dag.StepStarted && other != "" {
					b.setState(p, "V", other)
				}
			})
			b.config.Sinks = []dag.Sink{sink}
			res := b.run(context.Background(), text, nil)
			got := res.Status.String()
			if res.Status == dag.Failed {
				got += " (" + res.Reason + ")"
			}
			if got != status || b.stateOf(p)["V"] != kept {
				t.Errorf("%s, %s is kept: %s", got, b.stateOf(p)["V"], res.Message)
			}
			if res.Status == dag.Failed && !strings.Contains(res.Message, "has changed it in the meantime; run the tool again, or give the key a merge") {
				t.Error(res.Message)
			}
		})
	}
}

// setsValues is a command that sets both values.
const setsValues = `bash: echo 'RUN=new' >> $FLOWRUN_STATE; echo 'STEP=new' >> $FLOWRUN_STATE`

// stateCases has a definition for each row of the table about what happens to a value.
var stateCases = map[string]string{
	"the step succeeds":                                                        "  - name: a\n    SET\n",
	"the step succeeds, a later step fails":                                    "  - name: a\n    SET\n  - name: b\n    bash: exit 1\n",
	"the step succeeds, the run is cancelled":                                  "  - name: a\n    SET\n  - name: b\n    bash: sleep 300\n",
	"the step fails":                                                           "  - name: a\n    SET; exit 1\n",
	"the step fails, continue-on-error":                                        "  - name: a\n    continue-on-error: true\n    SET; exit 1\n",
	"the first attempt fails, the second succeeds":                             "  - name: a\n    error-handling: {retry: {attempts: 1, delay: 1}}\n    SET; test $FLOWRUN_ATTEMPT = 2\n",
	"the step fails, its fallback sets the value":                              "  - name: a\n    error-handling: {fallback: \"echo 'RUN=new' >> $FLOWRUN_STATE; echo 'STEP=new' >> $FLOWRUN_STATE\"}\n    bash: exit 1\n",
	"the step is in a nested tool that succeeds":                               "  - name: a\n    use-tool: inner\n",
	"the step is in a nested tool that fails, continue-on-error":               "  - name: a\n    continue-on-error: true\n    use-tool: failing\n",
	"the step is an item of a loop that succeeds":                              "  - name: a\n    for-each: {items: [1, 2]}\n    SET\n",
	"the step is an item that succeeds, another item fails, continue-on-error": "  - name: a\n    for-each: {items: [0, 1]}\n    continue-on-error: true\n    SET; exit {item}\n",
	"the step is a handler on-success":                                         "  - name: a\n    bash: echo\non-success:\n  - name: h\n    SET\n",
	"the step is a handler on-failure":                                         "  - name: a\n    bash: exit 1\non-failure:\n  - name: h\n    SET\n",
}

const stateKeys = "state:\n  RUN: {default: old}\n  STEP: {default: old, commit: step, merge: last}\n"

func TestStateOutcome(t *testing.T) {
	t.Parallel()
	rows := stateTable(t, "case")
	if len(rows) != len(stateCases) {
		t.Errorf("the page has %d rows, the test %d", len(rows), len(stateCases))
	}
	for _, row := range rows {
		t.Run(row[0], func(t *testing.T) {
			body, ok := stateCases[row[0]]
			if !ok {
				t.Fatal("the test has no definition for this row")
			}
			b := newBed(t)
			b.config.Store = history.NewMemory()
			nested := "description: x\n" + stateKeys + "steps:\n  - name: a\n    " + setsValues + "\n"
			b.file("inner.yaml", "name: inner\n"+nested)
			b.file("failing.yaml", "name: failing\n"+nested+"  - name: b\n    bash: exit 1\n")
			text := stateKeys + "steps:\n" + strings.ReplaceAll(body, "SET", setsValues)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			b.config.Sinks = []dag.Sink{dag.SinkFunc(func(e dag.Event) {
				if e.Kind == dag.StepStarted && e.Node == "b" && strings.Contains(row[0], "cancelled") {
					cancel()
				}
			})}
			res := b.run(ctx, text, nil)
			values, err := b.config.Store.State(context.Background(), history.StateID{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{"RUN": "old", "STEP": "old"}
			for _, v := range values {
				if string(v.Value) == `"new"` {
					got[v.Key] = "kept"
				}
			}
			want := map[string]string{"RUN": row[2], "STEP": row[3]}
			if diff := cmp.Diff(want, got); diff != "" || res.Status.String() != row[1] {
				t.Errorf("the run %s: %s\n%s", res.Status, res.Message, diff)
			}
		})
	}
}

// Wrong values fail the step, with the place and what was expected.
func TestStateWrong(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"N=x":               `line 1 of $FLOWRUN_STATE: N: expected an integer, got "x"`,
		"N=1.5":             `line 1 of $FLOWRUN_STATE: N: expected an integer, got "1.5"`,
		"N=":                `line 1 of $FLOWRUN_STATE: N: expected an integer, got ""`,
		"M=1":               `line 1 of $FLOWRUN_STATE: "M" is not declared; the declared names are N, L, S, MAX`,
		"N=1\\nn=2":         `line 2 of $FLOWRUN_STATE: "n" is not declared`,
		"N 1":               `line 1 of $FLOWRUN_STATE: expected NAME=value, NAME<<EOF or a JSON object`,
		"N = 1":             `line 1 of $FLOWRUN_STATE: "N " is not a name`,
		"L=1":               `line 1 of $FLOWRUN_STATE: L: expected an array, got "1"`,
		`{"L": {}}`:         `line 1 of $FLOWRUN_STATE: L: expected an array, got an object`,
		`{"N": "5"}`:        `line 1 of $FLOWRUN_STATE: N: expected an integer, got "5"`,
		`{"N": 1`:           `line 1 of $FLOWRUN_STATE: invalid JSON: the object has no end`,
		`{"N": 1} x`:        `line 1 of $FLOWRUN_STATE: expected the end of the line after a JSON object`,
		"S<<EOF\\nx":        `line 1 of $FLOWRUN_STATE: the value is not ended: no line consists of "EOF"`,
		"S<<\\nx":           `line 1 of $FLOWRUN_STATE: expected a word after <<`,
		"MAX=true":          `line 1 of $FLOWRUN_STATE: MAX: expected a number, got "true"`,
		"S=the secret-word": `cannot keep S: the value contains a secret; keep secrets outside of flowrun`,
		"S=\\377":           `line 1 of $FLOWRUN_STATE: the line is not UTF-8`,
		"S=\\000":           `line 1 of $FLOWRUN_STATE: the line has a NUL byte`,
	} {
		t.Run(written, func(t *testing.T) {
			b := newBed(t)
			b.config.Store = history.NewMemory()
			text := "state:\n  N: {type: integer}\n  L: {type: array}\n  S: {}\n  MAX: {type: number, merge: max}\n" +
				"environment:\n  variables: {WORD: secret-word}\n  secrets: [WORD]\n" +
				"steps:\n  - name: a\n    bash: |\n      printf '" + written + "' >> $FLOWRUN_STATE\n"
			res := b.run(context.Background(), text, nil)
			s := res.Step("a")
			if s.Status != dag.Failed || s.Reason != "state" || !strings.Contains(s.Message, want) || strings.Contains(s.Message, "secret-word") {
				t.Errorf("%s %s: %s", s.Status, s.Reason, s.Message)
			}
			if got := b.stateOf(b.compile(text)); len(got) > 0 {
				t.Error(got)
			}
		})
	}
}

// The other things that fail a step: a file that is gone, or a value that is too large, and a list that grows too large.
func TestStateLimits(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"rm $FLOWRUN_STATE":                                                    "the step has removed or replaced the file in $FLOWRUN_STATE; write into it",
		"rm $FLOWRUN_STATE; mkdir $FLOWRUN_STATE":                              "the step has replaced the file in $FLOWRUN_STATE; write into it",
		"rm $FLOWRUN_STATE; ln -s /etc/hostname $FLOWRUN_STATE":                "the step has removed or replaced the file in $FLOWRUN_STATE; write into it",
		"echo \"S=$(head -c 70000 /dev/zero | tr '\\0' x)\" >> $FLOWRUN_STATE": "cannot keep S: it has 70002 bytes, and a value can have at most 65536",
		"head -c 1100000 /dev/zero | tr '\\0' x >> $FLOWRUN_STATE":             "the file has more than 1048576 bytes",
	} {
		b := newBed(t)
		b.config.Store = history.NewMemory()
		res := b.run(context.Background(), "state: {S: {}}\nbash: "+body+"\n", nil)
		if s := res.Steps[0]; s.Reason != "state" || !strings.Contains(s.Message, want) {
			t.Errorf("%s: %s %s: %s", body, s.Status, s.Reason, s.Message)
		}
	}
	b := newBed(t)
	b.config.Store = history.NewMemory()
	grow := "state:\n  L: {type: array, merge: append}\nsteps:\n  - name: a\n    bash: |\n      echo \"L=[\\\"$(head -c 40000 /dev/zero | tr '\\0' x)\\\"]\" >> $FLOWRUN_STATE\n"
	if res := b.run(context.Background(), grow, nil); res.Status != dag.Succeeded {
		t.Fatal(res.Message)
	}
	if res := b.run(context.Background(), grow, nil); res.Status != dag.Failed || res.Reason != "state" || !strings.Contains(res.Message, "cannot keep L of tool under-test: it has 80007 bytes, and a value can have at most 65536") {
		t.Error(res.Status, res.Reason, res.Message)
	}
	if res := b.run(context.Background(), strings.Replace(grow, "    bash", "    for-each: {items: [1, 2]}\n    bash", 1), nil); res.Reason != "state" {
		t.Error(res.Status, res.Reason, res.Message)
	}
}

// Without a Store, nothing could be kept.
func TestStateNeedsStore(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	p := b.compile("state: {N: {type: integer}}\nbash: echo {state.N}\n")
	_, err := engine.New(b.config).Run(context.Background(), p, nil)
	if refused, ok := errors.AsType[*outcome.NoStateError](err); !ok || refused.Tool != "under-test" {
		t.Error(err)
	}
}

// A value whose type was changed in the definition is not passed on.
func TestStateOfAnotherType(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.config.Store = history.NewMemory()
	p := b.compile("state: {N: {type: integer}}\nbash: echo {state.N}\n")
	b.setState(p, "N", `"; rm -rf /"`)
	res, err := engine.New(b.config).Run(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "cannot read the state of tool under-test: N is kept as text, but its type is integer; set it with flowrun state set"
	if res.Status != dag.Failed || res.Reason != dag.ReasonNotStarted || res.Message != want {
		t.Errorf("the run is %s, %s: %s", res.Status, res.Reason, res.Message)
	}
}

// A resumed run sees what it has read when it started, and a retry what the retried run has read.
func TestStateContinued(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.config.Store = history.NewMemory()
	text := "state:\n  N: {type: integer}\nsteps:\n  - name: a\n    bash: echo N=$(( {state.N} + 1 )) >> $FLOWRUN_STATE\n  - name: b\n    bash: test -e fixed && echo {state.N}\n"
	res := b.run(context.Background(), text, nil)
	p := b.compile(text)
	if res.Status != dag.Failed || len(b.stateOf(p)) > 0 {
		t.Fatal(res.Status, b.stateOf(p))
	}
	b.file("fixed", "")
	ctx := context.Background()
	recorded, err := engine.LoadRun(ctx, b.config.Store, b.lib, res.ID)
	if err != nil {
		t.Fatal(err)
	}
	more, err := recorded.Resume(b.lib, engine.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err = engine.New(b.config).Continue(ctx, more)
	if err != nil || res.Status != dag.Succeeded || b.stateOf(p)["N"] != "1" {
		t.Fatal(err, res.Status, res.Message, b.stateOf(p))
	}

	os.Remove(filepath.Join(b.dir, "fixed"))
	res = b.run(ctx, text, nil)
	b.file("fixed", "")
	b.setState(p, "N", "50")
	if recorded, err = engine.LoadRun(ctx, b.config.Store, b.lib, res.ID); err != nil {
		t.Fatal(err)
	}
	if more, err = recorded.Retry(b.lib, engine.RetryOptions{}); err != nil {
		t.Fatal(err)
	}
	res, err = engine.New(b.config).Continue(ctx, more)
	if err != nil || res.Status != dag.Failed || res.Reason != "state-conflict" || b.stateOf(p)["N"] != "50" {
		t.Error(err, res.Status, res.Reason, res.Message, b.stateOf(p))
	}
	if out := strings.TrimSpace(res.Step("b").Output); out != "1" {
		t.Errorf("the retry reads %q", out)
	}
}
