package jsrun

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestProgramsAreLikeNode runs generated programs here and in one process of Node.js, and compares the values of their
// lines. What differs on purpose is not generated: see TestDifferencesFromNode.
func TestProgramsAreLikeNode(t *testing.T) {
	node := nodeJS(t)
	seed := sizetest.Seed(t)
	programs := make([]program, sizetest.Of(24, 100, 2000))
	texts := make([]string, len(programs))
	for i := range programs {
		programs[i] = generate(seed, uint64(i))
		texts[i] = programs[i].text()
	}
	want := node(t.TempDir(), texts)
	r := New(Config{Timeout: time.Minute}) // a regular expression that takes forever fails its program alone
	defer r.Close()
	differ := 0
	for i, p := range programs {
		got := outputHere(t, r, texts[i])
		if len(got) != len(want[i]) {
			t.Errorf("program %d (%s): %d lines, Node.js %d\n%s\nhere: %q\nNode.js: %q", i, p.topic, len(got), len(want[i]), strings.Join(append(p.setup, p.lines...), "\n"), got, want[i])
			differ++
			continue
		}
		for k := range got {
			if got[k] != want[i][k] {
				t.Errorf("program %d (%s): %s\nhere:    %s\nNode.js: %s\nwith %s", i, p.topic, p.lineOf(k, len(got)), got[k], want[i][k], strings.Join(p.setup, "; "))
				differ++
			}
		}
		if differ > 60 {
			t.Fatal("too many differences")
		}
	}
}

// lineOf returns the line that gave an output: a program may give some before its lines.
func (p program) lineOf(i, outputs int) string {
	if i -= outputs - len(p.lines); i < 0 {
		return "setup"
	}
	return p.lines[i]
}

// outputHere runs a program, and returns the texts of its lines.
func outputHere(t *testing.T, r *Runtime, text string) (list []string) {
	t.Helper()
	script, ds := Compile(tool.Text{S: text}, Step)
	if script == nil {
		return []string{"cannot be compiled: " + ds.Err().Error()}
	}
	raw, err := r.Call(context.Background(), Call{Script: script})
	if err != nil {
		return []string{"failed: " + err.Error()}
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return list
}

// nodeCode runs programs one after the other, and writes a list of their outputs.
const nodeCode = `
const fs = require('fs');
const AsyncFunction = (async () => {}).constructor;
(async () => {
  const all = [];
  for (const text of JSON.parse(fs.readFileSync(process.argv[2]))) {
    try { all.push(await new AsyncFunction('require', text)(require)); } catch (e) { all.push(['failed: ' + e]); }
  }
  fs.writeFileSync(process.argv[3], JSON.stringify(all));
  process.exit();
})();
process.on('unhandledRejection', () => {});
`

// nodeJS returns a function that runs programs in a process of Node.js, with the packages in a folder. It skips or fails
// the test without a Node.js that is new enough.
func nodeJS(t *testing.T) func(dir string, programs []string) [][]string {
	t.Helper()
	node := needtest.Program(t, "node")
	version, err := exec.Command(node, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 20 {
		needtest.Missing(t, "needs Node.js 20, this is %s", version)
	}
	return func(dir string, programs []string) (all [][]string) {
		t.Helper()
		in, out, code := filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json"), filepath.Join(dir, "run.js")
		text, err := json.Marshal(programs)
		if err != nil {
			t.Fatal(err)
		}
		for file, data := range map[string][]byte{in: text, code: []byte(nodeCode)} {
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if output, err := exec.Command(node, code, in, out).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		if text, err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
}

// differencesPage has the table of differences from Node.js.
const differencesPage = "../../../docs/reference/javascript.md"

// TestDifferencesFromNode checks the table of differences in the documentation: each row has an expression, its value
// here, and its value in Node.js.
func TestDifferencesFromNode(t *testing.T) {
	page, err := os.ReadFile(differencesPage)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\| `([^`]+)` \\| [^|]+ \\|$")
	rows := row.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 3 {
		t.Fatalf("the table of %s has %d rows", differencesPage, len(rows))
	}
	var texts []string
	for _, m := range rows {
		texts = append(texts, program{lines: []string{strings.ReplaceAll(m[1], `\|`, "|")}}.text())
	}
	r := New(Config{InProcess: true, Timeout: patience})
	defer r.Close()
	check := func(where, expression, want string, got []string) {
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s in %s: %q, the table says %s", expression, where, got, want)
		}
	}
	for i, m := range rows {
		check("flowrun", m[1], m[2], outputHere(t, r, texts[i]))
	}
	node := nodeJS(t)
	for i, got := range node(t.TempDir(), texts) {
		check("Node.js", rows[i][1], rows[i][3], got)
	}
}
