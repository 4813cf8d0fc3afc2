package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestScriptedExamples runs the examples that are not YAML, or have JavaScript steps, as
// examples/README.md describes, and their tests. TestExampleFiles checks the other examples.
func TestScriptedExamples(t *testing.T) {
	readme, err := os.ReadFile("../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	dir := ownFolders(t)
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "examples"))

	outputs := map[string]string{
		"changes.tool.ts": "## New\n- ask before publishing\n",
		"expenses.yaml":   "travel        184.40  over budget\nbooks          61.50  over budget\noffice         17.25\n",
		"greetings.md":    "Hello, Barbara, who has heard 'Hello, Edsger!'!\n",
		"word-count.md":   `{"greeting":"Hello, Grace Brewster Hopper!","words":3}` + "\n",
		"words.tool.js":   `{"top":[{"word":"the","n":2},{"word":"and","n":1},{"word":"cat","n":1}],"asked":1}` + "\n",
	}
	for _, file := range scriptedExamples(t) {
		t.Run(file, func(t *testing.T) {
			row := regexp.MustCompile(`(?m)^\|.*\]\(` + regexp.QuoteMeta(file) + "\\) \\|.*`flowrun (run [^`]*)` \\|$").FindStringSubmatch(string(readme))
			if row == nil {
				t.Fatal("examples/README.md has no row for it that says how to run it")
			}
			if out, narration, code := flowrunIn(t, "", "validate", "--strict", "./"+file); code != 0 {
				t.Errorf("validate: exit code %d: %s%s", code, out, narration)
			}
			out, narration, code := flowrunIn(t, "", words(row[1])...)
			if want, known := outputs[file]; !known || code != 0 || strings.TrimSuffix(out, "\n") != strings.TrimSuffix(want, "\n") {
				t.Errorf("%s: exit code %d, printed:\n%s\nwant:\n%s\n%s", row[1], code, out, want, narration)
			}
			if strings.Contains(file, ".tool.") {
				return // has no tests of its own
			}
			if out, narration, code := flowrunIn(t, "", "tool", "test", "./"+file); code != 0 || !strings.Contains(out, "ok") {
				t.Errorf("tool test: exit code %d: %s%s", code, out, narration)
			}
		})
	}
}

// scriptedExamples are the examples, which are here, that have JavaScript in them.
func scriptedExamples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.*")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		script := strings.HasSuffix(file, ".yaml") && regexp.MustCompile(`(?m)^ +(- )?js:`).Match(text)
		page := strings.HasSuffix(file, ".md") && file != "README.md"
		return err != nil || !script && !page && !strings.Contains(file, ".tool.")
	})
}

// words are those of a command line without anything in it but quotes.
func words(line string) (list []string) {
	for _, w := range regexp.MustCompile(`(?:[^\s"]|"[^"]*")+`).FindAllString(line, -1) {
		list = append(list, strings.ReplaceAll(w, `"`, ""))
	}
	return list
}
