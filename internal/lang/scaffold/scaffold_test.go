package scaffold

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/service/tooltest"
	"github.com/flowrun/flowrun/library"
)

func TestMain(m *testing.M) {
	engine.HelperMain()
	os.Exit(m.Run())
}

// TestTemplates checks that the definitions are valid without a warning, that their tests
// pass, and that their first line names the schema.
func TestTemplates(t *testing.T) {
	for _, tm := range Templates() {
		t.Run(tm.Name, func(t *testing.T) {
			dir := t.TempDir()
			files, err := Write(dir, tm.Name, []byte("{}"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if f.Outcome != Wrote {
					t.Errorf("%s: %s", f.Path, f.Outcome)
				}
				if strings.HasSuffix(f.Path, ".yaml") {
					check(t, filepath.Join(dir, f.Path))
				}
			}
		})
	}
}

// check compiles a definition and runs its tests.
func check(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	schema, ok := strings.CutPrefix(strings.SplitN(string(text), "\n", 2)[0], "# yaml-language-server: $schema=")
	if _, err := os.Stat(filepath.Join(filepath.Dir(file), schema)); !ok || err != nil {
		t.Errorf("%s leads to no schema: %v", file, err)
	}
	lib := library.New(library.Config{WorkingDirectory: filepath.Dir(file)})
	plan, err := engine.Compile(lib, file)
	if err != nil || len(plan.Warnings) > 0 {
		t.Fatalf("%s: %v, %v", file, err, plan.Warnings)
	}
	var cases []tooltest.Case
	for _, test := range plan.Definition.Tests {
		cases = append(cases, tooltest.Case{Tool: plan.Name(), Plan: plan, Test: test})
	}
	if len(cases) == 0 {
		t.Errorf("%s has no tests", file)
	}
	outcomes, err := tooltest.Run(context.Background(), cases, tooltest.Options{Library: lib, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Status != tooltest.Passed {
			t.Errorf("%s: %s: %s\n%s", file, o.Test.Name, o.Status, strings.Join(o.Details(), "\n"))
		}
	}
}

// TestWriteKeeps checks that existing files are kept, whatever they are.
func TestWriteKeeps(t *testing.T) {
	dir := t.TempDir()
	if _, err := Write(dir, "start", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	hello, deploy := filepath.Join(dir, toolsDir, "hello.yaml"), filepath.Join(dir, toolsDir, "deploy.yaml")
	if err := os.WriteFile(hello, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(deploy); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", deploy); err != nil {
		t.Skip(err)
	}
	files, err := Write(dir, "start", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Outcome{toolsDir + "/hello.yaml": Differs, toolsDir + "/deploy.yaml": Differs, SchemaFile: Same}
	for _, f := range files {
		if f.Outcome != want[f.Path] {
			t.Errorf("%s: %s, want %s", f.Path, f.Outcome, want[f.Path])
		}
	}
	if b, _ := os.ReadFile(hello); string(b) != "mine" {
		t.Errorf("hello.yaml was changed to %q", b)
	}
	if link, _ := os.Readlink(deploy); link != "nowhere" {
		t.Error("the link was replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, toolsDir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestWriteFails checks the error when a file is in the way.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".flowrun"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, "start", nil); err == nil {
		t.Error("no error over a file in the place of a folder")
	}
	if _, err := Write(dir, "nope", nil); err == nil {
		t.Error("no error over an unknown template")
	}
}

// TestDemo checks that the demo is valid without a warning.
func TestDemo(t *testing.T) {
	def, found := decode.File("demo.yaml", Demo())
	if found.Err() != nil {
		t.Fatal(found)
	}
	lib := library.New(library.Config{})
	if err := lib.Add(def); err != nil {
		t.Fatal(err)
	}
	plan, err := engine.Compile(lib, "demo")
	if err != nil || len(plan.Warnings) > 0 {
		t.Fatal(err, plan)
	}
}
