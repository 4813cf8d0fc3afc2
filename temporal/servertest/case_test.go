package servertest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
)

// testCase is a definition, the tools that it uses, and what happens to its run from outside.
type testCase struct {
	name  string
	text  string            // of the definition
	tools map[string]string // of further files, by name
	script
}

// script is what happens to a run. A definition has it under the key x-script.
type script struct {
	Params  map[string]any    `yaml:"params"`
	Cancel  string            `yaml:"cancel"`  // the run is cancelled when this file exists
	Answers map[string]answer `yaml:"answers"` // by step; nobody answers other questions
}

type answer struct {
	Approve bool           `yaml:"approve"`
	By      string         `yaml:"by"`
	Comment string         `yaml:"comment"`
	Values  map[string]any `yaml:"values"`
}

// dirMark is the folder of a run in the texts of a case.
const dirMark = "@DIR@"

// compile writes the files of a case to a folder and compiles its definition.
func (c *testCase) compile(dir string) (*library.Library, *engine.Plan, error) {
	for name, text := range c.tools {
		if err := writeDefinition(filepath.Join(dir, name+".yaml"), text, dir); err != nil {
			return nil, nil, err
		}
	}
	file := filepath.Join(dir, c.name+".yaml")
	if err := writeDefinition(file, c.text, dir); err != nil {
		return nil, nil, err
	}
	lib := library.New(library.Config{WorkingDirectory: dir, Home: dir})
	p, err := engine.Compile(lib, file)
	return lib, p, err
}

func writeDefinition(file, text, dir string) error {
	if !strings.Contains(text, "\ndescription:") && !strings.HasPrefix(text, "description:") {
		text = "description: Equality\n" + text
	}
	return os.WriteFile(file, []byte(strings.ReplaceAll(text, dirMark, dir)), 0o600)
}

// outside carries out the script of a case during its run, until done is closed.
func (c *testCase) outside(dir string, done <-chan struct{}, cancel func()) {
	if c.Cancel == "" {
		return
	}
	waittest.Holds(waittest.Limit, func() bool {
		select {
		case <-done:
			return true
		default:
		}
		_, err := os.Stat(filepath.Join(dir, c.Cancel))
		if err == nil {
			cancel()
		}
		return err == nil
	})
}

// writtenCases are the cases in testdata. Each file has the cases of one subject; its members in tools/ are for all
// of them.
func writtenCases(t testing.TB) (list []*testCase) {
	t.Helper()
	files, err := filepath.Glob("testdata/equality/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		subject := strings.TrimSuffix(filepath.Base(file), ".txtar")
		tools := map[string]string{}
		for _, f := range archive.Files {
			name, isYAML := strings.CutSuffix(f.Name, ".yaml")
			if !isYAML {
				t.Fatalf("%s: %s is not a definition", file, f.Name)
			}
			if inner, ok := strings.CutPrefix(name, "tools/"); ok {
				tools[inner] = string(f.Data)
				continue
			}
			list = append(list, &testCase{name: subject + "-" + name, text: string(f.Data), tools: tools})
		}
	}
	return list
}

// parse reads the script of a case from its text.
func (c *testCase) parse(t testing.TB) {
	t.Helper()
	var in struct {
		Script yaml.Node `yaml:"x-script"`
	}
	if err := yaml.Unmarshal([]byte(c.text), &in); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	if in.Script.IsZero() {
		return
	}
	text, err := yaml.Marshal(&in.Script)
	if err == nil {
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		err = d.Decode(&c.script)
	}
	if err != nil {
		t.Fatalf("%s: x-script: %v", c.name, err)
	}
}

// allCases are the written ones, those of the tables of docs/explanation/states.md, and random ones.
func allCases(t testing.TB, random int) []*testCase {
	list := slices.Concat(writtenCases(t), tableCases(), randomCases(random))
	names := map[string]bool{}
	for _, c := range list {
		if names[c.name] {
			t.Fatalf("two cases have the name %s", c.name)
		}
		names[c.name] = true
		c.parse(t)
	}
	return list
}

func (c *testCase) String() string {
	var b strings.Builder
	for name, text := range c.tools {
		if strings.Contains(c.text, name) {
			fmt.Fprintf(&b, "-- %s --\n%s", name, text)
		}
	}
	return b.String() + "-- " + c.name + " --\n" + c.text
}
