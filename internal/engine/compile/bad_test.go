package compile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// badDefinitions makes definitions that are wrong in one way each, by class
// (the first 22 bad inputs of the reliability study, and more of their kind).
func badDefinitions() map[string]string {
	bad := map[string]string{}
	add := func(class string, texts ...string) {
		for i, text := range texts {
			bad[fmt.Sprintf("%s-%02d", class, i)] = text
		}
	}
	head := "name: x\ndescription: y\n"
	step := head + "steps:\n  - name: a\n    bash: echo\n"
	each := func(format string, words ...string) (list []string) {
		for _, w := range words {
			list = append(list, fmt.Sprintf(format, w))
		}
		return list
	}
	add("unknown-key", each(head+"bash: echo\n%s: 1\n", "tiemout", "tagz", "Name", "step", "params", "environement", "outputs", "on_failure", "resource", "platform")...)
	add("unknown-step-key", each(step+"    %s: 1\n", "tiemout", "waitfor", "wait_for", "run_condition", "runcondition", "paralel", "retry", "depends", "cmds", "shel")...)
	add("unknown-param-key", each(head+"bash: echo {P}\nparameters:\n  P:\n    description: d\n    %s: 1\n", "typ", "requird", "min", "enum", "pattern", "defualt", "formats", "example")...)
	add("bad-timeout", each(head+"bash: echo\ntimeout: %s\n", "-1", "0", "1e30", `"5 minutes"`, "[]", "{}", "true", `""`, `"5x"`, "99999999999999999999")...)
	add("bad-step-timeout", each(step+"    timeout: %s\n", "-1", "0", "1e30", `"soon"`, "[1]", "null")...)
	add("bad-size", each(step+"    output: {buffer-limit: %s}\n", "512mbit", "-1", "1EB9", `"10 apples"`, "[]", "true", "0.5.5MB")...)
	add("bad-memory", each(head+"bash: echo\nresources: {max-memory: %s}\n", "-1", `"lots"`, "1ZiB", "[]")...)
	add("bad-boolean", each(step+"    parallel: %s\n", "yes", "no", "1", `"true"`, "[]", "maybe")...)
	add("bad-retry", each(step+"    error-handling: {retry: %s}\n", "{}", "{delay: 5}", "{attempts: -1}", "{attempts: many}", "{attempts: 1, backoff: wild}", "{attempts: 1, jitter: some}", "{attempts: 1, delay: never}", "3", "[1]", `{attempts: 1, when: "{last.nothing} == 1"}`, `{attempts: 1, when: "{last.outputs.n} == 1"}`, `{attempts: 1, when: "{a.exit-code} == 1"}`)...)
	add("bad-condition", each(step+"  - name: b\n    bash: echo\n    run-condition: %s\n", `"{nope.exit-code} == 0"`, `"{a.exitcode} == 0"`, `"{a.exit-code} =="`, `"{a.exit-code} == 'ok'"`, `"((("`, `"{a.exit-code} ="`, `"now() > 1"`, `"undeclared == 1"`, `"1 + 1"`, `"'text'"`, `"{a}"`, `""`, "[]", `"{a.exit-code} == 0 &&"`, `"successs()"`)...)
	add("bad-wait-for", each(step+"  - name: b\n    bash: echo\n    wait-for: %s\n", "[nope]", "[b]", "{a: 1}", "[[a]]", "[1]", "[A]")...)
	add("bad-name", each("name: %s\ndescription: d\nbash: echo\n", `"../../etc/cron.d/x"`, `"/abs"`, "CON", `"a b"`, `""`, `".hidden"`, `"-dash"`, strings.Repeat("n", 300), `"\u202Ertl"`, "[]")...)
	add("bad-step-name", each(head+"steps:\n  - name: %s\n    bash: echo\n", "1st", `"a b"`, `""`, "env", "RAW", "last", "item", "run", `"a/b"`, "-x", `"a\nb"`)...)
	add("no-body", head, head+"steps: []\n", head+"steps:\n  - name: a\n", head+"steps: 5\n", head+"steps:\n  - just text\n", head+"steps: {a: 1}\n", head+"script:\n", head+"commands: {}\n")
	add("two-bodies", head+"bash: a\nrun: b\n", head+"bash: a\nsteps:\n  - name: a\n    bash: echo\n", step+"    run: b\n", head+"type: alias\nbase-tool: z\nbash: echo\n", step+"    use-tool: other\n")
	add("duplicate", head+"bash: a\nbash: b\n", step+"  - name: a\n    bash: echo\n", step+"  - name: A\n    bash: echo\n", head+"bash: echo\nparameters:\n  P: {description: d}\n  P: {description: e}\n", step+"parameters:\n  a: {description: same as a step}\n", head+"bash: a\nfunction-calling: {}\nfunction-calling: {}\n")
	add("cycle", head+"steps:\n  - name: a\n    bash: echo {b.output}\n  - name: b\n    bash: echo {a.output}\n",
		head+"steps:\n  - name: a\n    bash: echo\n    wait-for: [c]\n  - name: b\n    bash: echo\n    wait-for: [a]\n  - name: c\n    bash: echo\n    wait-for: [b]\n",
		head+"steps:\n  - name: a\n    bash: echo {a.output}\n",
		head+"bash: echo\nparameters:\n  P: {description: d, default: \"{Q}\"}\n  Q: {description: d, default: \"{P}\"}\n")
	add("unknown-tool", each(head+"steps:\n  - name: a\n    use-tool: %s\n", "nothing-like-it", "./missing.yaml", `""`, "[]", "under-test")...)
	add("alias", head+"type: alias\n", head+"type: alias\nbase-tool: nothing\n", head+"type: wrong\nbash: echo\n", head+"base-tool: z\nbash: echo\n", head+"type: alias\nbase-tool: x\n")
	add("bad-type", each(head+"bash: echo {P}\nparameters:\n  P: {description: d, type: %s}\n", "text", "int", "integer", "list", "[]", "5")...)
	add("bad-validation", each(head+"bash: echo {P}\nparameters:\n  P: {description: d, validation: %s}\n", `{pattern: "("}`, `{pattern: "(?=x)"}`, "{minLength: -1}", "{minLength: many}", "{minLength: 5, maxLength: 1}", "{minimum: 5, maximum: 1}", "{enum: []}", "{enum: x}", "5")...)
	add("bad-default-type", each(head+"bash: echo {P}\nparameters:\n  P: {description: d, %s}\n", "default: ~", "default: [1]", "type: number, default: x", "type: object, default: ~", "type: array, default: ~", "type: boolean, default: 5")...)
	add("bad-transform", each(head+"bash: echo {P}\nparameters:\n  P: {description: d, transform: %s}\n", `"value.toUpperCase("`, "[]", `"format("`, "lowercsae")...)
	add("bad-inline", each(head+"bash: echo %s\nparameters:\n  P: {description: d}\n", "{P:shout}", "{P:trim:shout}", "{P.x}", "{P:format()}", "{RAW:P:shout}")...)
	add("bad-default", each(head+"bash: echo {P}\nparameters:\n  P: {description: d, type: number, default: %s}\n", "many", "[]", "true", "{a: 1}")...)
	add("shell", each(head+"bash: |\n  %s\nparameters:\n  P: {description: d}\n", `eval "echo {P}"`, "trap 'echo {P}' EXIT", "echo `echo {P}`", "echo $'x {P}'", "cat <<'X'\n  {P}\n  X", "if {P}; then", "echo \"{P}", "f() { echo {P}", "alias x={P}", "{P}() { :; }", "PS4={P} true", "compgen -W {P}", "echo ${{P}}x")...)
	add("foreign-shell", each(head+"script: print({P})\nshell: %s\nparameters:\n  P: {description: d}\n", "perl", "node", "ruby", "fish")...)
	add("python", each(head+"python: |\n  %s\nparameters:\n  P: {description: d}\n", `print(f"{P}")`, `x{P}`, `eval({P})`, `r"{P}"`)...)
	add("pwsh", each(head+"pwsh: |\n  %s\nparameters:\n  P: {description: d}\n", "iex {P}", "& {P} x", "a{P}", "\"`{P}\"", "{P} | iex")...)
	add("cmd", each(head+"platforms: [windows]\ncmd: |\n  %s\nparameters:\n  P: {description: d}\n", "call x {P}", "echo {P} | more", "{P} x", "for %%%%i in ({P}) do x", "goto {P}")...)
	add("cmd-elsewhere", head+"cmd: dir\n")
	add("shell-without-script", head+"bash: echo\nshell: zsh\n", step+"    shell: zsh\n")
	add("yaml", head+"bash: {A} x\n", "name: x\n\tdescription: y\n", head+"bash: \"open\n", head+"steps: [a, b\n", head+"bash: *nothing\n", head+"bash: echo\n---\nname: z\n", "", "# only a comment\n", "[]\n", "just text\n", "5\n", "a: &a [*a]\n", head+"bash: echo\nx-a: &x {a: *x}\n", "\xff\xfe n\x00", head+"bash: \x00\n", head+"bash: \xff\xfe\n", strings.Repeat("[", 20000))
	add("bomb", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n"+head+"bash: echo\n")
	add("environment", each(head+"bash: echo\nenvironment: %s\n", "5", "[A]", "{variables: [A]}", `{variables: {"A=B": x}}`, `{variables: {"A B": x}}`, "{variables: {A: [1]}}", "{inherit: maybe}", "{secrets: {}}")...)
	add("tool-wide", each(step+"%s\n", `environment: {variables: {A: "{a.output}"}}`, `working-directory: "{a.output}"`, `file-paths: {temp-directory: "{a.output}"}`, `input: "{a.output}"`, `parameters: {P: {description: d, default: "{a.output}"}}`, `resources: {cleanup: [{final-command: "echo {a.output}"}]}`)...)
	add("security", each(head+"bash: echo\nsecurity: %s\n", "{execution-privilege: root}", "{isolation: vm}", "5", "{required-permissions: {}}", "{isolaton: none}")...)
	add("merge", "x-a: &x {isolation: none}\n"+head+"bash: echo\nsecurity: {<<: *x}\n")
	add("platforms", each(head+"bash: echo\nplatforms: %s\n", "[amiga]", "5", "{a: 1}")...)
	add("output-template", each(step+"output: %s\n", `"{a.nothing}"`, `"{a}"`, "[]")...)
	add("step-field", each(step+"  - name: b\n    bash: echo %s\n", "{a.outputs}", "{a.exitcode}", "{a.output.x}", "{a.duration[0]}", "{RAW:a.output}", "{a}")...)
	add("step-keys", each(step+"    %s\n", "output: {mode: loud}", "output: {stream-callback: nobody}", "output: {truncation: maybe}", "output: {masked-values: {a: 1}}", "continue-on-error: sometimes", "error-handling: []", "error-handling: {fallback: []}", "error-handling: {fallbck: x}", "working-directory: []", "input: {a: 1}", "strict: 1", "detach: 1", "on-interrupt: explode", "idempotent: perhaps", "environment: [A]", "wait-for: 5", "parallel: []", "run-condition: 5", "name: b")...)
	add("tool-keys", each(head+"bash: echo\n%s\n", "tags: {a: 1}", "interactive: 1", "interactive-options: {timeout: -1}", "changelog: x", "changelog: [{when: now}]", "tests: x", "tests: [{expected: {exit-code: x}}]", "tests: [{nam: x}]", "metadata: x", "metadata: {catgory: x}", "function-calling: x", "file-paths: {normalise: true}", "resources: {cleanup: x}", "resources: {cleanup: [{delete-temp-files: x}]}", "ignore-errors: x", "fail-fast: x", "deprecated: x", "on-interrupt: x", "error-handling: {retry: {delay: 1}}")...)
	add("version", head+"bash: echo\nmin-cycod-version: \"99.0.0\"\n")
	add("with", step+"    with: {A: 1}\n", head+"steps:\n  - name: a\n    use-tool: under-test\n    with: [1]\n")
	add("arguments", head+"steps:\n  - name: a\n    use-tool: z\n    arguments: {A: 1}\n")
	return bad
}

// TestBadDefinitions: no panic, every error has a place in the file.
func TestBadDefinitions(t *testing.T) {
	t.Parallel()
	bad := badDefinitions()
	if len(bad) < 270 {
		t.Errorf("only %d definitions", len(bad))
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "under-test.yaml")
	for name, text := range bad {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := compileIn(dir, file)
			var ds tool.Diagnostics
			if !errors.As(err, &ds) {
				t.Fatalf("want diagnostics, got %v for\n%s", err, text)
			}
			lines := strings.Count(text, "\n") + 1
			at := map[tool.Pos]bool{}
			for _, d := range ds {
				if d.Severity != tool.Error {
					continue
				}
				if at[d.Pos] && strings.HasPrefix(name, "bad-default") {
					t.Errorf("a second error for one mistake: %s", d)
				}
				at[d.Pos] = true
				if d.Pos.File != file || d.Pos.Line < 1 || d.Pos.Line > lines || d.Pos.Col < 1 {
					t.Errorf("no place: %s", d)
				}
				if d.Message == "" || d.Code == "" {
					t.Errorf("says nothing: %+v", d)
				}
			}
		})
	}
}

// TestAllAtOnce: problems of reading and of compiling come together, each once.
func TestAllAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := compileIn(dir, define(t, dir, "bad", `
steps:
  - name: fetch
    bash: curl {URL
    run-condtion: "{fecth.exit-code} == 0"
  - name: use
    bash: eval "{URL}"
    wait-for: [fech]
  - name: more
    run: echo {fetch.ouput}
    run-condition: "{fetchy.exit-code} == 0"
parameters:
  URL: {type: strng, description: u}
`))
	var ds tool.Diagnostics
	if !errors.As(err, &ds) {
		t.Fatal(err)
	}
	var codes []string
	for _, d := range ds {
		codes = append(codes, fmt.Sprintf("%d %s", d.Pos.Line, d.Code))
	}
	want := []string{"7 unknown-key", "9 expr-position", "10 unknown-step", "12 expr-field", "13 expr-unknown", "15 bad-choice"}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("problems (-want +got):\n%s\n%v", diff, ds)
	}
}

// TestBadFixtures compiles every bad file that packages tool and keytable are tested with: what
// could be read of it must not trip the compiler, and nothing that reading found
// may get lost.
func TestBadFixtures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../lang/*/testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		if file, err = filepath.Abs(file); err != nil {
			t.Fatal(err)
		}
		lib := library.New(library.Config{WorkingDirectory: t.TempDir(), Home: t.TempDir()})
		_, read, err := lib.Lookup(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = compile.Tool(lib, "", file)
		var ds tool.Diagnostics
		if read.Err() != nil && !errors.As(err, &ds) {
			t.Errorf("%s: compiling says %v, although reading found\n%v", file, err, read)
			continue
		}
		for _, d := range read {
			if d.Severity == tool.Error && !slices.ContainsFunc(ds, func(o tool.Diagnostic) bool { return o.String() == d.String() }) {
				t.Errorf("%s: lost: %s", file, d)
			}
		}
	}
}
