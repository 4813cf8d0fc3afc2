package enginetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

const declaresV = "outputs: {v: {type: integer}}, "

func writes(lines string) string { return fmt.Sprintf("bash: \"printf '%s' >> $FLOWRUN_OUTPUT", lines) }

// outputCases are the steps of the table in docs/reference/outputs.md: what stands before step a in the list, and step a itself.
var outputCases = map[string]struct{ before, step string }{
	"wrote 1":                                                {"", declaresV + writes("v=1") + `"`},
	"wrote 1, then 2":                                        {"", declaresV + writes(`v=1\\nv=2\\n`) + `"`},
	"printed, and wrote nothing":                             {"", declaresV + `bash: "echo v=1"`},
	"wrote nothing, with `required: false`":                  {"", `outputs: {v: {type: integer, required: false}}, bash: "echo v=1"`},
	"wrote text":                                             {"", declaresV + writes("v=many") + `"`},
	"wrote 1, and a name that is not declared":               {"", declaresV + writes(`v=1\\nw=2`) + `"`},
	"wrote 1, and a line that cannot be read":                {"", declaresV + writes(`v=1\\nw`) + `"`},
	"removed the file":                                       {"", declaresV + writes("v=1") + `; rm $FLOWRUN_OUTPUT"`},
	"put another file in its place":                          {"", declaresV + writes("v=1") + `; cp $FLOWRUN_OUTPUT x; mv x $FLOWRUN_OUTPUT"`},
	"removed the file, and wrote 1 to a new one":             {"", declaresV + writes("v=1") + `; rm $FLOWRUN_OUTPUT; echo v=1 > $FLOWRUN_OUTPUT"`},
	"wrote 1, then failed":                                   {"", declaresV + writes("v=1") + `; exit 3"`},
	"wrote text, then failed":                                {"", declaresV + writes("v=many") + `; exit 3"`},
	"wrote 1, then failed with `continue-on-error`":          {"", "continue-on-error: true, " + declaresV + writes("v=1") + `; exit 3"`},
	"wrote 1, then exceeded its timeout":                     {"", "timeout: 3s, " + declaresV + writes("v=1") + `; sleep 60"`},
	"wrote 1 and failed, then wrote 2 in its next attempt":   {"", retried + declaresV + writes("v=") + `$FLOWRUN_ATTEMPT >> $FLOWRUN_OUTPUT; echo $FLOWRUN_ATTEMPT >> $FLOWRUN_OUTPUT; [ $FLOWRUN_ATTEMPT = 2 ]"`},
	"wrote text, then 2 in its next attempt":                 {"", retried + declaresV + `bash: "if [ $FLOWRUN_ATTEMPT = 1 ]; then echo v=many; else echo v=2; fi >> $FLOWRUN_OUTPUT"`},
	"wrote 1 and failed, and its fallback wrote 2":           {"", `error-handling: {fallback: "echo v=2 >> $FLOWRUN_OUTPUT"}, ` + declaresV + writes("v=1") + `; exit 3"`},
	"did not run: its condition is false":                    {"", `run-condition: "false", ` + declaresV + writes("v=1") + `"`},
	"did not run: an upstream step failed":                   {`{name: up, bash: "exit 3"}`, declaresV + writes("v=1") + `"`},
	"wrote 1, in JavaScript":                                 {"", declaresV + `js: "return {v: 1, more: 2}"`},
	"returned another type, in JavaScript":                   {"", declaresV + `js: "return {v: '1'}"`},
	"is a loop of two items, which wrote 1 and 2":            {"", "for-each: {items: [1, 2]}, " + declaresV + `bash: "echo v={item} >> $FLOWRUN_OUTPUT"`},
	"is a loop of two items, of which the second is skipped": {"", `for-each: {items: [1, 2]}, run-condition: "{item} == 1", ` + declaresV + `bash: "echo v={item} >> $FLOWRUN_OUTPUT"`},
	"is a loop without items":                                {"", "for-each: {items: []}, " + declaresV + `bash: "echo v={item} >> $FLOWRUN_OUTPUT"`},
	"is a group whose step wrote 1":                          {"", `outputs: {v: "{in.outputs.w}"}, steps: [{name: in, outputs: {w: integer}, bash: "echo w=1 >> $FLOWRUN_OUTPUT"}]`},
	"is a group whose step has no value":                     {"", `outputs: {v: "{in.outputs.w}"}, steps: [{name: in, outputs: {w: {type: integer, required: false}}, bash: "true"}]`},
	"uses a tool that has the output 1":                      {"", `use-tool: ./one.yaml`},
	"uses a tool that has no value for a required output":    {"", `use-tool: ./none.yaml`},
	"wrote 1, and is kept by a resume":                       {"", declaresV + `bash: "echo v=1 >> $FLOWRUN_OUTPUT; echo >> times; [ $(wc -l < times) = 1 ]"`},
	"wrote 1, and is reused from the cache":                  {"", "cache: {}, " + declaresV + `bash: "echo v=1 >> $FLOWRUN_OUTPUT; echo >> times; [ $(wc -l < times) = 1 ]"`},
}

const retried = "error-handling: {retry: {attempts: 1, delay: 1}}, "

// TestOutputsPage runs every row of the table in docs/reference/outputs.md.
func TestOutputsPage(t *testing.T) {
	t.Parallel()
	rows := 0
	for _, cells := range tableRows(t, "docs/reference/outputs.md", "| step `a` |") {
		c, ok := outputCases[cells[0]]
		if !ok {
			t.Errorf("the row %q has no case", cells[0])
			continue
		}
		rows++
		t.Run(cells[0], func(t *testing.T) {
			t.Parallel()
			step, read, isNull := outputsOf(t, cells[0], c.before, c.step)
			got := []string{cells[0], strings.TrimSpace(step.Status.String() + " " + step.Reason), read, fmt.Sprint(isNull)}
			if diff := cmp.Diff(cells, got); diff != "" {
				t.Errorf("%s\n%s", diff, step.Message)
			}
		})
	}
	if rows != len(outputCases) {
		t.Errorf("%d rows, want %d", rows, len(outputCases))
	}
}

// tableRows returns the cells of the table whose head begins with that text, without quotes of code around them.
func tableRows(t *testing.T, page, head string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n"+head)
	if !found {
		t.Fatalf("%s has no table %s", page, head)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i, c := range cells {
			c = strings.TrimSpace(c)
			if i > 0 {
				c = strings.Trim(c, "`")
			}
			cells[i] = c
		}
		rows = append(rows, cells)
	}
	return rows
}

// outputsOf runs a step in the way of a row, and returns its result and what later steps read.
func outputsOf(t *testing.T, row, before, step string) (a *runresult.StepResult, read string, isNull bool) {
	h := newKeptRuns(t)
	h.file("one.yaml", "name: one\ndescription: d\noutputs: {v: {type: integer}}\nbash: echo v=1 >> $FLOWRUN_OUTPUT\n")
	h.file("none.yaml", "name: none\ndescription: d\noutputs: {v: '{in.outputs.w}'}\nsteps: [{name: in, outputs: {w: {type: integer, required: false}}, bash: 'true'}]\n")
	if before != "" {
		before = "  - " + before + "\n"
	}
	text := "steps:\n" + before + "  - {name: a, " + step + "}\n" +
		"  - {name: read, run-condition: always(), bash: \"echo {a.outputs.v}\"}\n" +
		"  - {name: none, run-condition: \"always() && {a.outputs.v} == null\", bash: \"true\"}\n"
	if strings.Contains(row, "resume") {
		text += "  - {name: late, bash: \"echo >> late; [ $(wc -l < late) = 2 ]\"}\n"
	}
	res := h.run(context.Background(), text, nil)
	if strings.Contains(row, "resume") {
		res = h.resume(engine.ResumeOptions{})
	}
	if strings.Contains(row, "cache") {
		res = h.run(context.Background(), text, nil)
	}
	return res.Step("a"), strings.TrimSuffix(res.Step("read").Output, "\n"), res.Step("none").Status == dag.Succeeded
}

// A run that was cut off at any write of its journal ends with the same outputs as one that was not.
func TestOutputsResumeEverywhere(t *testing.T) {
	t.Parallel()
	inner := "name: inner\ndescription: d\ntags: [read]\noutputs: {sum: {type: integer, value: '{one.outputs.n}'}}\nsteps:\n" +
		"  - {name: one, outputs: {n: integer}, bash: \"echo n=7 >> $FLOWRUN_OUTPUT\"}\n"
	text := `tags: [read]
outputs: {all: '{each.outputs.k}', sum: '{nest.outputs.sum}', text: '{a.outputs.s}/{g.outputs.m}'}
steps:
  - {name: a, outputs: {s: string, list: array}, bash: "printf 's=x y\\nlist=[1,2]\\n' >> $FLOWRUN_OUTPUT"}
  - {name: nest, use-tool: ./inner.yaml}
  - {name: each, for-each: {items: "{a.outputs.list}"}, outputs: {k: integer}, js: "return {k: item + steps.nest.outputs.sum}"}
  - {name: g, outputs: {m: "{in.outputs.m}"}, steps: [{name: in, outputs: {m: object}, bash: "echo '{\"m\": {\"b\": [{nest.outputs.sum}], \"a\": null}}' >> $FLOWRUN_OUTPUT"}]}
  - {name: end, run-condition: "{nest.outputs.sum} == 7 && len({each.outputs.k}) == 2", bash: "echo {each.outputs.k} {a.outputs.s} {g.outputs.m}"}
`
	const want = `8 9 x y {"a":null,"b":[7]}`
	everyCut(t, 10, map[string]string{"inner.yaml": inner}, text, func(h *keptRuns, res *runresult.Result) {
		if s := res.Step("end"); strings.TrimSpace(s.Output) != want {
			h.Errorf("end printed %q", s.Output)
		}
		if got := fmt.Sprint(res.Outputs); got != `map[all:[8 9] sum:7 text:x y/{"a":null,"b":[7]}]` {
			h.Error(got)
		}
	})
}

// The same with outputs that contain a secret: the record does not have them, so a step whose outputs are still needed
// runs again, also one whose tool is only one command.
func TestSecretOutputsResumeEverywhere(t *testing.T) {
	t.Parallel()
	const inner = "name: inner\ndescription: d\ntags: [read]\nenvironment: {secrets: [{name: TOKEN, command: echo of-the-run}]}\n" +
		"outputs: {t: string}\nbash: echo t=$TOKEN-1 >> $FLOWRUN_OUTPUT\n"
	text := `tags: [read]
steps:
  - {name: one, use-tool: ./inner.yaml}
  - {name: each, for-each: {items: [1, 2]}, use-tool: ./inner.yaml}
  - {name: end, bash: "printf %s {one.outputs.t}{each.outputs.t[1]} | wc -c"}
`
	everyCut(t, 4, map[string]string{"inner.yaml": inner}, text, func(h *keptRuns, res *runresult.Result) {
		if s := res.Step("end"); strings.TrimSpace(s.Output) != "24" {
			h.Errorf("end printed %q", s.Output)
		}
	})
}

// What a step in Go returns in place of its outputs is masked in the message.
func TestOutputsOfGo(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for v, want := range map[any]string{
		3:              "",
		"of-the-run":   `wrong outputs: the returned object: n: expected an integer, got "***"`,
		true:           "wrong outputs: the returned object: n: expected an integer, got a boolean",
		float64(1) / 2: "wrong outputs: the returned object: n: expected an integer, got a number",
	} {
		step := gostep.GoStep("a", func(context.Context, *gostep.StepInput) (any, error) { return map[string]any{"n": v, "more": 1}, nil })
		step.Outputs = []*tool.DeclaredOutput{{Name: "n", Type: "integer"}}
		step.Environment.Secrets = []tool.Secret{{Name: diagnostic.Plain("TOKEN"), Command: new(diagnostic.Plain("echo of-the-run"))}}
		p, err := engine.CompileDefinition(b.lib, &tool.Definition{Name: "of-go", Steps: []*tool.Step{step}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := engine.New(b.config).Run(context.Background(), p, nil, engine.WithRunEnv(b.world))
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Step("a").Message; got != want {
			t.Errorf("%v: %s", v, got)
		}
	}
}

// retry.when reads the outputs of the attempt that has just failed, with their types.
func TestRetryReadsOutputs(t *testing.T) {
	t.Parallel()
	const step = `outputs: {n: {type: integer, required: false}, o: {type: object, required: false}}
    bash: echo '{"n":'$((8 + FLOWRUN_ATTEMPT))',"o":{"x":"y"}}' >"$FLOWRUN_OUTPUT"; exit 3
    error-handling: {retry: {attempts: 5, delay: 1, when: "%s"}}`
	for _, c := range []struct {
		step, when string
		attempts   int
	}{
		{step, "{last.outputs.n} < {LIMIT}", 3},
		{step, "{last.outputs.n} == null", 1},
		{step, "{last.outputs.n} == 9 && {last.outputs.o.x} == 'y'", 2},
		{"for-each: {items: [10]}\n    " + step, "{last.outputs.n} < {item}", 2},
		{strings.Replace(step, `"n":'`, `"n":"x'`, 1), "{last.outputs.n} == null", 6}, // a text in JSON is not converted
	} {
		t.Run(c.when, func(t *testing.T) {
			text := "parameters: {LIMIT: {type: number, description: d}}\nsteps:\n  - name: a\n    " + fmt.Sprintf(c.step, c.when) + "\n"
			res := newKeptRuns(t).run(context.Background(), text, map[string]any{"LIMIT": 11})
			s := res.Step("a")
			if one := res.Step("a[0]"); one != nil {
				s = one
			}
			if s.Attempts != c.attempts || s.Status != dag.Failed {
				t.Errorf("%s after %d attempts, want %d: %s", s.Status, s.Attempts, c.attempts, s.Message)
			}
		})
	}
	for when, want := range map[string]string{
		"{last.outputs.m} == 1":     `the step has no output "m"`,
		"{last.outputs.n} == 'x'":   "cannot compare {last.outputs.n} (a number) with text",
		"{last.outputs.n.x} == 1":   `output "n" of the step has the type integer, which has no parts`,
		"{a.outputs.n} == 1":        `retry.when cannot refer to step "a"`,
		"{nothing.outputs.n} == 1":  "unknown reference {nothing.outputs.n}",
		"{last.outputs.o.y.z} == 1": "",
	} {
		file := filepath.Join(t.TempDir(), "under-test.yaml")
		source := "name: under-test\ndescription: d\nsteps:\n  - name: a\n    " + fmt.Sprintf(step, when) + "\n"
		if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := engine.Compile(library.New(library.Config{}), file)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", when, err)
		}
	}
}
