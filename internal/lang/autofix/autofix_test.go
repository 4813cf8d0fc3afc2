package autofix_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/lang/autofix"
	"github.com/flowrun/flowrun/internal/lang/explain"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/toolfiles"
	"github.com/flowrun/flowrun/internal/test/proptest"
	"github.com/flowrun/flowrun/library"
)

// checker compiles texts of a file in a folder of its own.
func checker(t testing.TB, file string) (autofix.Check, string) {
	dir := t.TempDir()
	file = filepath.Join(dir, file)
	if err := os.WriteFile(filepath.Join(dir, "used.yaml"), []byte("name: used\ndescription: d\nbash: echo {WHOM}\nparameters: {WHOM: {description: w}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	lib := library.New(library.Config{WorkingDirectory: dir, Home: dir, Getenv: func(string) string { return "" }})
	return func(text []byte) (*tool.Definition, tool.Diagnostics) {
		return toolfiles.Check(lib, file, tool.ScopeFile, text, false)
	}, file
}

// TestText: each kind of edit, and that nothing else moves.
func TestText(t *testing.T) {
	const head = "# my tool\nname: t   # its name\ndescription: d\n"
	for _, c := range []struct{ name, before, after string }{
		{"a brace at the start", head + "bash: {A} x  # why\nparameters: {A: {description: a}}\n", head + "bash: \"{A} x\"  # why\nparameters: {A: {description: a}}\n"},
		{"a brace alone", head + "input: {A}\nbash: cat\nparameters: {A: {description: a}}\n", head + "input: \"{A}\"\nbash: cat\nparameters: {A: {description: a}}\n"},
		{"a brace with quotes inside", head + "bash: {A} \"x\"\nparameters: {A: {description: a}}\n", head + "bash: '{A} \"x\"'\nparameters: {A: {description: a}}\n"},
		{"a colon in text", "name: t\ndescription: Note: x\nbash: echo\n", "name: t\ndescription: \"Note: x\"\nbash: echo\n"},
		{"a colon in a command", head + "bash: echo \"a: b\"\n", head + "bash: |-\n  echo \"a: b\"\n"},
		{"a colon in a step's command", head + "steps:\n  - name: a\n    bash: echo 'a: b'   \n  - name: b\n    bash: x\n", head + "steps:\n  - name: a\n    bash: |-\n      echo 'a: b'\n  - name: b\n    bash: x\n"},
		{"a colon behind a dash", head + "steps:\n  - bash: echo 'a: b'\n    name: a\n", head + "steps:\n  - bash: |-\n      echo 'a: b'\n    name: a\n"},
		{"Windows line ends", "name: t\r\ndescription: d\r\nbash: echo 'a: b'\r\n", "name: t\r\ndescription: d\r\nbash: |-\r\n  echo 'a: b'\r\n"},
		{"a byte order mark", "\ufeffname: t\ndescription: d\nbash: echo\ntag: [read]\n", "\ufeffname: t\ndescription: d\nbash: echo\ntags: [read]\n"},
		{"the same twice", head + "bash: echo\ntags:\n  - read  # one\n\n# between\ntags:\n  - read  # two\n# end\n", head + "bash: echo\ntags:\n  - read  # one\n\n# between\n# end\n"},
		{"twice, but not the same", head + "bash: echo\ntags: [read]\ntags: [write]\n", head + "bash: echo\ntags: [read]\ntags: [write]\n"},
		{"twice in a flow mapping", head + "bash: echo\nmetadata: {category: a, category: a}\n", head + "bash: echo\nmetadata: {category: a, category: a}\n"},
		{"steps without names", head + "steps:\n  - bash: echo 1 # one\n  - # two\n    bash: echo step-2\n", head + "steps:\n  - name: step-1\n    bash: echo 1 # one\n  - # two\n    name: step-3\n    bash: echo step-2\n"},
		{"tests without names", head + "bash: echo\ntests:\n  - expected: {exit-code: 0}\n  - parameters: {}\n", head + "bash: echo\ntests:\n  - name: test-1\n    expected: {exit-code: 0}\n  - name: test-2\n    parameters: {}\n"},
		{"a file without name", "# greets\n\ndescription: d\nbash: echo\n", "# greets\n\nname: t\ndescription: d\nbash: echo\n"},
		{"a key", head + "bash: echo\ntimout: 5s\n", head + "bash: echo\ntimeout: 5s\n"},
		{"a key that is given correctly too", head + "bas: a\nbash: b\n", head + "bas: a\nbash: b\n"},
		{"a key of a step that is given correctly too", head + "steps:\n  - name: a\n    wait_for: []\n    wait-for: [b]\n    bash: echo\n  - name: b\n    wait-for: []\n    bash: echo\n    timout: 5s\n",
			head + "steps:\n  - name: a\n    wait_for: []\n    wait-for: [b]\n    bash: echo\n  - name: b\n    wait-for: []\n    bash: echo\n    timeout: 5s\n"},
		{"a body beside another", head + "run: a\nbas: b\n", head + "run: a\nbas: b\n"},
		{"a step that is waited for already", head + "steps:\n  - name: load2\n    bash: echo\n  - name: use\n    wait-for: [load2, load3]\n    bash: echo\n", head + "steps:\n  - name: load2\n    bash: echo\n  - name: use\n    wait-for: [load2, load3]\n    bash: echo\n"},
		{"a reference that would make a cycle", head + "steps:\n  - name: load1\n    bash: echo {load2.output}\n  - name: other\n    bash: echo\n", head + "steps:\n  - name: load1\n    bash: echo {load2.output}\n  - name: other\n    bash: echo\n"},
		{"a parameter that is given correctly too", head + "steps:\n  - name: a\n    use-tool: ./used.yaml\n    with: {WHON: x, WHOM: y}\n", head + "steps:\n  - name: a\n    use-tool: ./used.yaml\n    with: {WHON: x, WHOM: y}\n"},
		{"parameters as a JSON Schema", head + "bash: echo {A}\nparameters:\n  type: object\n  properties:\n    A: {type: string, description: a}\n  required: [A]\n", head + "bash: echo {A}\nparameters:\n  A: {type: string, description: a, required: true}\n"},
		{"a key of two candidates", head + "bsh: echo\n", head + "bsh: echo\n"},
		{"a step to wait for", head + "steps:\n  - name: fetch\n    bash: echo\n  - name: use\n    bash: echo\n    wait-for: [ fecth ]\n", head + "steps:\n  - name: fetch\n    bash: echo\n  - name: use\n    bash: echo\n    wait-for: [ fetch ]\n"},
		{"a step in a condition", head + "steps:\n  - name: fetch\n    bash: echo\n  - name: use\n    bash: echo\n    run-condition: '{fecth.exit-code} == 0'\n", head + "steps:\n  - name: fetch\n    bash: echo\n  - name: use\n    bash: echo\n    run-condition: '{fetch.exit-code} == 0'\n"},
		{"a parameter of a test", head + "bash: echo {NAME}\nparameters: {NAME: {description: n}}\ntests:\n  - {name: a, parameters: {NAM: x}}\n", head + "bash: echo {NAME}\nparameters: {NAME: {description: n}}\ntests:\n  - {name: a, parameters: {NAME: x}}\n"},
		{"a parameter of a used tool", head + "steps:\n  - name: a\n    use-tool: ./used.yaml\n    with: {WHON: x} # whom\n", head + "steps:\n  - name: a\n    use-tool: ./used.yaml\n    with: {WHOM: x} # whom\n"},
		{"a misspelled parameter", head + "bash: echo {RAW:NAM} {NAM:trim} {{NAM}}\nparameters: {NAME: {description: n}}\n", head + "bash: echo {RAW:NAME} {NAME:trim} {{NAM}}\nparameters: {NAME: {description: n}}\n"},
		{"text that runs as it is", head + "x-allow: [NAM]\nbash: echo {NAM} {WHO}\nparameters: {NAME: {description: n}}\n", head + "x-allow: [NAM]\nbash: echo {NAM} {WHO}\nparameters: {NAME: {description: n}}\n"},
		{"names that are as near", head + "bash: echo {FIL}\nparameters: {FILE: {description: n}, FILL: {description: n}}\n", head + "bash: echo {FIL}\nparameters: {FILE: {description: n}, FILL: {description: n}}\n"},
		{"nothing to mend", head + "bash: echo\n", head + "bash: echo\n"},
		{"nothing that can be mended", "- [\n", "- [\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check, file := checker(t, "t.yaml")
			r := autofix.Text(check, file, []byte(c.before))
			if diff := cmp.Diff(c.after, string(r.Text)); diff != "" {
				t.Errorf("-want +got:\n%s\n%v", diff, r.Fixed)
			}
			if (len(r.Fixed) > 0) != (c.before != c.after) {
				t.Errorf("%d fixed", len(r.Fixed))
			}
			_, found := check([]byte(c.before))
			offered := 0
			for _, d := range autofix.Offered(check, file, []byte(c.before), found) {
				offered += min(len(d.Fix), 1)
			}
			if offered > len(r.Fixed) || (offered > 0) != (c.before != c.after) && c.name != "a file without name" { // a note offers it
				t.Errorf("%d offered, %d fixed", offered, len(r.Fixed))
			}
			settled(t, "t.yaml", []byte(c.before))
		})
	}
}

// settled holds a text against what is true of every fix: a fixed text needs no more, has fewer problems, and means the
// same if it could run.
func settled(t testing.TB, file string, src []byte) {
	t.Helper()
	check, file := checker(t, file)
	once := autofix.Text(check, file, src)
	if twice := autofix.Text(check, file, once.Text); !bytes.Equal(twice.Text, once.Text) {
		t.Errorf("fixed twice it is another text:\n%s\n--- once:\n%s\n--- twice:\n%s", src, once.Text, twice.Text)
	}
	before, found := check(src)
	after, left := check(once.Text)
	if unread := len(found) == 1 && before.Description == ""; !unread && len(left) > len(found) && !bytes.Equal(once.Text, src) {
		t.Errorf("%d problems before, %d after:\n%s\n--- fixed:\n%s\n%v", len(found), len(left), src, once.Text, left)
	}
	if found.Err() == nil && (left.Err() != nil || !before.Same(after)) {
		t.Errorf("it means something else now:\n%s\n--- fixed:\n%s", src, once.Text)
	}
}

// TestFixtures fixes every bad file that package tool is tested with, and every example
// of the pages.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("../tool/testdata/*/*.yaml")
	if err != nil || len(files) < 100 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		settled(t, filepath.Base(file), src)
	}
	for _, p := range explain.Pages() {
		settled(t, "demo.yaml", []byte(p.Wrong))
		settled(t, "demo.yaml", []byte(p.Right))
	}
}

// TestAnyText fixes definitions put together at random from lines that go wrong.
func TestAnyText(t *testing.T) {
	lines := []string{"name: t", "description: d", "description: a: b", "bash: echo", "bash: {A} x", "bash: echo 'a: b'", "run: {A}", "tags: [read]", "tags: [read]", "tag: [x]",
		"timout: 5s", "timeout: 5s", "steps:", "  - name: a", "    bash: echo {b.output}", "  - bash: echo", "  - name: b", "    run: 'x: y", "    wait-for: [aa]", "    wait-for: [a]",
		"    run-condition: '{c.exit-code} == 0'", "parameters:", "  A: {description: a}", "  A: {description: a}", "  B:", "    description: x", "    typ: number", "# note", "", "\t", "  - x", "environment: {A: b}", "x-a: &a {b: c}", "<<: *a"}
	proptest.Check(t, func(rt *rapid.T) {
		chosen := rapid.SliceOfN(rapid.SampledFrom(lines), 1, 14).Draw(rt, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "end")
		settled(t, "t.yaml", []byte(strings.Join(chosen, end)+end))
		if t.Failed() {
			rt.FailNow()
		}
	})
}

// FuzzText fixes any text at all.
func FuzzText(f *testing.F) {
	for _, s := range []string{"bash: {A} x\n", "bash: a: b\n", "tags: [a]\ntags: [a]\n", "steps:\n  - bash: x\n", "\ufeffbash: {A}\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) < 2000 {
			settled(t, "t.yaml", src)
		}
	})
}

// TestChecks: the edits of a text of many problems are found with as many checks of it as those of few, if all of them
// help, and otherwise with a number of checks that is bounded.
func TestChecks(t *testing.T) {
	const helps, doesNot = "  - {name: s%d, runn: x}\n", "  - {name: s%d, run: x, runn: x}\n"
	for _, c := range []struct {
		name  string
		worse func(i int) bool // the edit of step i does not help
		few   int              // checks for 40 steps, to fix and to offer
		many  int              // at most, for 160
		fixed int              // of 160
	}{
		{"all help", func(int) bool { return false }, 4, 4, 160},
		{"every fortieth does not", func(i int) bool { return i%40 == 0 }, 40, 120, 156},
		{"none do", func(int) bool { return true }, 202, 202, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			fix := func(n int) (checks, fixed, offered int) {
				check, file := checker(t, "t.yaml")
				counted := func(src []byte) (*tool.Definition, tool.Diagnostics) { checks++; return check(src) }
				text := "name: t\ndescription: d\nsteps:\n"
				for i := range n {
					step := helps
					if c.worse(i) {
						step = doesNot
					}
					text += fmt.Sprintf(step, i)
				}
				_, found := check([]byte(text))
				for _, d := range autofix.Offered(counted, file, []byte(text), found) {
					offered += min(len(d.Fix), 1)
				}
				fixed = len(autofix.Text(counted, file, []byte(text)).Fixed)
				return checks, fixed, offered
			}
			if checks, _, _ := fix(40); checks > c.few {
				t.Errorf("40 problems take %d checks of the text", checks)
			}
			checks, fixed, offered := fix(160)
			if checks > c.many || fixed != c.fixed || offered != c.fixed {
				t.Errorf("%d checks of the text, %d fixed and %d offered, want %d", checks, fixed, offered, c.fixed)
			}
		})
	}
}
