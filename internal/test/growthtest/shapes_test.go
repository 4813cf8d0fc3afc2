package growthtest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// shape is a kind of definition of any size.
type shape struct {
	name  string             // as the page about performance calls it
	step  string             // one of the steps, with $i for its number and $before for that of the one before it
	text  func(n int) string // of the definition, instead of step
	page  bool               // it is a Markdown tool
	wrong bool               // it has errors
	gate  bool               // it is measured in the gate too
}

// shapes are all of them. Steps run nothing if they can do without, because processes are not what is measured.
var shapes = []shape{
	{name: "steps one after another", step: "{name: s$i, run: /bin/true, run-condition: 'false'}", gate: true},
	{name: "parallel steps", step: "{name: s$i, run: /bin/true, run-condition: 'false', parallel: true}"},
	{name: "steps without dependencies", step: "{name: s$i, run: /bin/true, run-condition: 'false', wait-for: []}"},
	{name: "pairs of parallel steps", text: func(n int) string {
		return list(n, func(i int) string {
			return fmt.Sprintf("{name: s%d, run: /bin/true, run-condition: 'false', parallel: %t}", i, i%2 == 1)
		})
	}},
	{name: "layers that wait for two steps", text: func(n int) string {
		return list(n, func(i int) string {
			after := ""
			if i >= 100 {
				after = fmt.Sprintf("s%d, s%d", i-100, i-99)
			}
			return fmt.Sprintf("{name: s%d, run: /bin/true, run-condition: 'false', wait-for: [%s]}", i, after)
		})
	}},
	{name: "one step that waits for all", text: func(n int) string {
		return list(n, func(i int) string { return fmt.Sprintf("{name: s%d, wait: {for: 1ms}, wait-for: []}", i) }) + "  - {name: end, wait: {for: 1ms}}\n"
	}},
	{name: "steps that read the one before", text: func(n int) string {
		return list(n, func(i int) string { return readsBefore(i, "run-condition: 'false'") })
	}},
	{name: "parallel steps that each read the one before", text: func(n int) string {
		return list(n, func(i int) string { return readsBefore(i, "parallel: true, run-condition: 'false'") })
	}},
	{name: "references to nothing", step: "{name: s$i, run: 'echo {prev_step.output} {other$i.output}', run-condition: 'false'}", gate: true},
	{name: "misspelt references", step: "{name: step$ix, run: 'echo {ste$beforex.output}'}", wrong: true},
	{name: "unknown keys", step: "{name: s$i, runn: x}", wrong: true, gate: true},
	{name: "unknown steps in wait-for", step: "{name: s$i, run: 'true', wait-for: [other$i]}", wrong: true},
	{name: "unknown steps in scripts", step: "{name: s$i, js: 'return steps.other$i.output'}", wrong: true},
	{name: "names that are used twice", step: "{name: s, run: 'true'}", wrong: true},
	{name: "groups", step: "{name: g$i, steps: [{name: a$i, wait: {for: 1ms}}, {name: b$i, wait: {for: 1ms}}]}", gate: true},
	{name: "groups in groups", text: func(n int) string {
		const depth = 60
		var b strings.Builder
		b.WriteString("steps:\n")
		for i := range depth {
			fmt.Fprintf(&b, "%s  - name: g%d\n%[1]s    steps:\n", strings.Repeat("    ", i), i)
		}
		for i := range n {
			fmt.Fprintf(&b, "%s  - {name: s%d, run: /bin/true, run-condition: 'false'}\n", strings.Repeat("    ", depth), i)
		}
		return b.String()
	}},
	{name: "loops", step: "{name: s$i, for-each: {items: [a, b]}, wait: {for: 1ms}}"},
	{name: "items of a loop", text: func(n int) string {
		return fmt.Sprintf("steps:\n  - {name: s, for-each: {items: 1..%d}, wait: {for: 1ms}}\n", n)
	}},
	{name: "combinations of a matrix", text: func(n int) string {
		return "steps:\n  - {name: s, matrix: {a: [x, y], b: [" + strings.TrimSuffix(lines(n/2, "$i, "), ", ") + "]}, wait: {for: 1ms}}\n"
	}},
	{name: "handlers", step: "{name: s$i, wait: {for: 1ms}, on-failure: [{name: h$i, run: 'true'}]}"},
	{name: "fallbacks and retries", step: "{name: s$i, run: /bin/true, run-condition: 'false', error-handling: {retry: {attempts: 2}, fallback: 'true'}}"},
	{name: "uses of one tool", step: "{name: s$i, use-tool: ./leaf.yaml, run-condition: 'false'}"},
	{name: "scripts in JavaScript", step: "{name: s$i, js: 'return 1', run-condition: 'false'}"},
	{name: "queries", step: "{name: s$i, sql: {url: 'sqlite:none.db', query: select 1}, run-condition: 'false'}"},
	{name: "requests", step: "{name: s$i, http: {url: 'http://127.0.0.1:1/'}, run-condition: 'false'}"},
	{name: "questions", step: "{name: s$i, approve: {prompt: 'Go on?'}, run-condition: 'false'}"},
	{name: "commands for each system", step: "{name: s$i, commands: {default: echo}, run-condition: 'false'}"},
	{name: "shells and interpreters", text: func(n int) string {
		bodies := []string{"bash: echo", "sh: echo", "cmd: echo", "pwsh: echo", "python: pass", "script: echo, shell: bash"}
		return list(n, func(i int) string {
			return fmt.Sprintf("{name: s%d, %s, run-condition: 'false'}", i, bodies[i%len(bodies)])
		})
	}},
	{name: "declared outputs", step: "{name: s$i, run: 'true', run-condition: 'false', outputs: {a: string}}"},
	{name: "locks", step: "{name: s$i, run: 'true', run-condition: 'false', locks: [l$i]}"},
	{name: "parameters", text: func(n int) string {
		return "parameters:\n" + lines(n, "  P$i: {description: p, default: x}\n") + "bash: echo" + lines(n, " {P$i}") + "\n"
	}},
	{name: "parameters that nothing uses", text: func(n int) string {
		return "parameters:\n" + lines(n, "  P$i: {description: p, default: x}\n") + "bash: echo\n"
	}},
	{name: "environment variables", text: func(n int) string {
		return "environment:\n  variables:\n" + lines(n, "    V$i: x\n") + "bash: echo\n"
	}},
	{name: "lines of a script", text: func(n int) string { return "bash: |\n" + lines(n, "  true $i\n") }},
	{name: "tests", text: func(n int) string {
		return "steps: [{name: w, wait: {for: 1ms}}]\ntests:\n" + lines(n, "  - {name: t$i, expected: {exit-code: 0}}\n")
	}},
	{name: "steps of a page", page: true, text: func(n int) string {
		return "---\ntool: true\nname: many\ndescription: Many units.\ntype: chain\n---\n\n```yaml\nsteps:\n" +
			lines(n, "  - {id: s$i, tool: ./leaf.yaml}\n") + "```\n"
	}},
}

// readsBefore returns step i, which reads the output of the one before it if there is one.
func readsBefore(i int, keys string) string {
	if i == 0 {
		return "{name: s0, bash: echo, " + keys + "}"
	}
	return fmt.Sprintf("{name: s%d, bash: 'echo {s%d.output}', %s}", i, i-1, keys)
}

// list returns a list of n steps.
func list(n int, step func(i int) string) string {
	var b strings.Builder
	b.WriteString("steps:\n")
	for i := range n {
		b.WriteString("  - " + step(i) + "\n")
	}
	return b.String()
}

// lines returns n texts, numbered from 0.
func lines(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(numbered(text, i))
	}
	return b.String()
}

func numbered(text string, i int) string {
	return strings.NewReplacer("$i", fmt.Sprint(i), "$before", fmt.Sprint(max(i-1, 0))).Replace(text)
}

// definition returns the name of a file with n units, and its text.
func (s shape) definition(n int) (file, text string) {
	text = list(n, func(i int) string { return numbered(s.step, i) })
	if s.text != nil {
		text = s.text(n)
	}
	if s.page {
		return "many.md", text
	}
	return "many.yaml", "name: many\ndescription: Many units.\n" + text
}

// TestDefinitions: only those shapes have errors that are wrong on purpose.
func TestDefinitions(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) { s.measure(t, []string{"validate {file}"}, 3) })
	}
}

// TestShapes: each kind of step is in a shape.
func TestShapes(t *testing.T) {
	var all strings.Builder
	for _, s := range shapes {
		_, text := s.definition(12)
		all.WriteString(text)
	}
	code, err := os.ReadFile("../../lang/tool/body.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`Kind += "(.+)"(.*)`).FindAllStringSubmatch(string(code), -1)
	for _, kind := range kinds {
		if onlyElsewhere := strings.Contains(kind[2], "// only in tools"); !onlyElsewhere && !strings.Contains(all.String(), kind[1]+":") {
			t.Errorf("no shape has steps with %s", kind[1])
		}
	}
	if len(kinds) < 10 {
		t.Errorf("there are only the kinds %q", kinds)
	}
}
