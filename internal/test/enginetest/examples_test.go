package enginetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// exampleNames are the files of examples/, without .yaml.
func exampleNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples: ", err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".yaml")
	}
	return files
}

// TestExampleFiles holds every example against what makes it worth copying: no
// warnings, a comment that says how to run it from its own folder, tests, no path of
// any machine, and a line in the table of examples/README.md.
func TestExampleFiles(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range exampleNames(t) {
		t.Run(name, func(t *testing.T) {
			file := "examples/" + name + ".yaml"
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := engine.Compile(library.New(library.Config{Home: t.TempDir()}), file)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Warnings) > 0 {
				t.Errorf("warnings:\n%v", p.Warnings)
			}
			comment := regexp.MustCompile(`^(#.*\n)+`).FindString(string(b))
			if n := len(regexp.MustCompile(`(?m)^# .`).FindAllString(comment, -1)); n < 3 || n > 8 {
				t.Errorf("the opening comment has %d lines of text, want 3 to 8", n)
			}
			if !strings.Contains(comment, "flowrun run ./"+name+".yaml") {
				t.Error("the opening comment does not say how to run it")
			}
			if m := regexp.MustCompile(`/(home|root|Users)/`).Find(b); m != nil {
				t.Errorf("a path of a machine: %s", m)
			}
			if !strings.Contains(string(table), "]("+name+".yaml)") {
				t.Error("not in the table of examples/README.md")
			}
			checkExampleTests(t, p)
		})
	}
}

// checkExampleTests looks at the tests section: each test has parameters that there
// are, and expects something.
func checkExampleTests(t *testing.T, p *engine.Plan) {
	t.Helper()
	def := p.Definition
	if len(def.Tests) == 0 {
		t.Error("no tests")
	}
	for _, test := range def.Tests {
		if test.Expected.ExitCode == nil {
			t.Errorf("test %q expects no exit code", test.Name)
		}
		for _, e := range test.Parameters {
			if !slices.ContainsFunc(def.Parameters, func(p *tool.Parameter) bool { return p.Name == e.Key }) {
				t.Errorf("test %q gives %s, which is not a parameter", test.Name, e.Key)
			}
		}
	}
}

// runExample runs an example as somebody does who copied it: from a copy of the
// folder, in a folder of its own, dir. It waits less between tries, and longer for
// answers, which a busy machine gives late.
func runExample(t *testing.T, name, dir string, params map[string]any, env ...string) *runresult.Result {
	t.Helper()
	return runExampleIn(context.Background(), t, name, dir, params, env...)
}

// copyExamples makes the copy of the folder for all runs in dir; a cache goes by its path.
func copyExamples(t *testing.T, dir string) string {
	t.Helper()
	copies := dir + "-examples"
	switch err := os.Mkdir(copies, 0o755); {
	case errors.Is(err, fs.ErrExist):
		return copies
	case err != nil:
		t.Fatal(err)
	}
	waits := regexp.MustCompile(`delay: [0-9a-z]+`)
	for _, name := range exampleNames(t) {
		text := waits.ReplaceAllString(textOf(t, "examples/"+name+".yaml"), "delay: 10ms")
		text = strings.ReplaceAll(text, "--max-time 5 ", "--max-time 60 ")
		if err := os.WriteFile(filepath.Join(copies, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return copies
}

// runExampleIn is runExample with a context.
func runExampleIn(ctx context.Context, t *testing.T, name, dir string, params map[string]any, env ...string) *runresult.Result {
	t.Helper()
	copies := copyExamples(t, dir)
	file := filepath.Join(copies, name+".yaml")
	p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir, Home: dir}), file)
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	res, err := engine.New(engine.Config{CacheDir: dir + "-cache"}).Run(ctx, p, params,
		engine.WithRunEnv(engine.RunEnv{Workspace: dir, Home: dir, Temp: temp, Env: append(os.Environ(), env...)}))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// exampleEnded checks how a run ended and what its output says, a regular expression.
func exampleEnded(t *testing.T, res *runresult.Result, status dag.Status, output string) {
	t.Helper()
	if res.Status != status {
		t.Errorf("the run %s, want %s: %s", res.Status, status, res.Message)
	}
	if !regexp.MustCompile(output).MatchString(res.Output) {
		t.Errorf("the output does not match %q:\n%s", output, res.Output)
	}
	if t.Failed() {
		for _, s := range res.Steps {
			t.Logf("%s %s %s\n%s%s", s.ID, s.Status, s.Message, s.Output, s.Error)
		}
		t.FailNow()
	}
}

// exampleStep is what resulted from one step of a run.
func exampleStep(t *testing.T, res *runresult.Result, id string) runresult.StepResult {
	t.Helper()
	i := slices.IndexFunc(res.Steps, func(s runresult.StepResult) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("no step %s in %+v", id, res.Steps)
	}
	return res.Steps[i]
}

// filesIn are the files in a folder.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSmallExamples runs the examples that show one thing each.
func TestSmallExamples(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]struct {
		params map[string]any
		want   string
	}{
		"hello":       {map[string]any{"NAME": "Grace O'Hara"}, `^Hello, Grace O'Hara!\n$`},
		"code-report": {map[string]any{"FOLDER": "code", "TOP": 2}, `(?s)Go code in code,.* 2 files, 1 of them tests\n +4 lines\n\nLongest:\n.*code/a.go.*Not formatted:\ncode/a_test.go`},
		"environment": {map[string]any{"FOLDER": "code//../code"}, `^from code to https://example.org/upload\nwith a token of 16 characters, \*\*\*\n$`},
		"nightly":     {map[string]any{"FOLDER": "code", "INTO": "out.tar.gz"}, `^3 entries in out.tar.gz\n$`},
		"weekly":      {map[string]any{"PROJECT": "code", "TARGET": "backups"}, `(?s)Go code in code.*entries packed; kept: 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, map[string]string{
				"code/a.go": "package a\n\nvar A = 1\n", "code/a_test.go": "package   a\n",
				"environment.env": textOf(t, "examples/environment.env"),
			})
			exampleEnded(t, runExample(t, name, dir, run.params), dag.Succeeded, run.want)
		})
	}
}

// TestReadme compiles the definitions that README shows.
func TestReadme(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := regexp.MustCompile("(?s)````markdown\n(.*?)````\n")
	page, rest := pages.FindSubmatch(b), pages.ReplaceAll(b, nil)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(rest, -1)
	scripts := regexp.MustCompile("(?s)```javascript\n(// words.tool.js.*?)```").FindSubmatch(rest)
	if len(blocks) == 0 || page == nil || scripts == nil {
		t.Fatal("README does not show a definition of each kind")
	}
	for _, block := range blocks {
		p := compile(t, t.TempDir(), strings.Replace(string(block[1]), "name: deploy", "name: under-test", 1))
		if len(p.Warnings) > 0 {
			t.Errorf("warnings:\n%v", p.Warnings)
		}
	}
	readmePair(t, page[1], scripts[1])
}

// readmePair runs the Markdown tool of the README, which uses the JavaScript tool there.
func readmePair(t *testing.T, page, script []byte) {
	dir := t.TempDir()
	for name, text := range map[string][]byte{"headline.md": page, "words.tool.js": script} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	js := hooks.New(hooks.Config{})
	defer js.Close()
	lib := library.New(library.Config{WorkingDirectory: dir, Home: dir})
	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Runtime: js}))
	plan, err := engine.Compile(lib, "./headline.md")
	if err != nil || len(plan.Warnings) > 0 {
		t.Fatal(err, plan)
	}
	res, err := engine.New(engine.Config{JavaScript: js}).Run(t.Context(), plan, map[string]any{"text": "to be or not"})
	if want := `4 words, most often "to"`; err != nil || res.Output != want {
		t.Errorf("got %v %+v, want %s", err, res, want)
	}
}
