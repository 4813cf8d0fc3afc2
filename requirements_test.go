package flowrun_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// requirement is a row of docs/requirements.md.
type requirement struct{ built, tests string }

// TestRequirements checks that the ids in the code and in docs/requirements.md are the
// same, that a row names the keys, practices and scripts that the code gives its id to,
// and that the files and tests on the page exist.
func TestRequirements(t *testing.T) {
	listed, used := requirements(t), usedRequirements(t)
	for _, id := range slices.Sorted(maps.Keys(used)) {
		row, ok := listed[id]
		if !ok {
			t.Errorf("docs/requirements.md has no row for %s", id)
			continue
		}
		for _, name := range used[id] {
			if name != "" && !strings.Contains(row.built+row.tests, "`"+name+"`") {
				t.Errorf("%s: the code gives this id to %q, but the row does not name it", id, name)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		if _, ok := used[id]; !ok {
			t.Errorf("docs/requirements.md has a row for %s, which nothing in the code uses", id)
		}
		files := 0
		for _, name := range spans(listed[id].built) {
			if !strings.HasSuffix(name, ".go") {
				continue
			}
			files++
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		tests := spans(listed[id].tests)
		if files == 0 || len(tests) == 0 {
			t.Errorf("%s: the row names %d files and %d tests", id, files, len(tests))
		}
		for _, name := range tests {
			if !testExists(t, name) {
				t.Errorf("%s: test %s does not exist", id, name)
			}
		}
	}
}

// requirements returns the rows of the page by id.
func requirements(t *testing.T) map[string]requirement {
	rows := map[string]requirement{}
	row := regexp.MustCompile(`(?m)^\| (S\d-\d+) \| [^|]+ \| ([^|]+) \| ([^|]+) \|$`)
	for _, m := range row.FindAllStringSubmatch(readText(t, "docs/requirements.md"), -1) {
		if _, twice := rows[m[1]]; twice {
			t.Errorf("docs/requirements.md has two rows for %s", m[1])
		}
		rows[m[1]] = requirement{m[2], m[3]}
	}
	return rows
}

// usedRequirements returns the ids in the code, each with the keys, practices and scripts
// that the code gives it to. A name is empty if the code does not write it beside the id.
func usedRequirements(t *testing.T) map[string][]string {
	used := map[string][]string{}
	id := regexp.MustCompile(`(?:[({]"([\w-]+)", )?"(S\d-\d+)"`)
	for _, file := range []string{"tool/keys.go", "tool/markdown_keys.go", "internal/lint/lint.go"} {
		for _, m := range id.FindAllStringSubmatch(readText(t, file), -1) {
			used[m[2]] = append(used[m[2]], m[1])
		}
	}
	covered := regexp.MustCompile(`(?m)^\t\{(\d+), "([\w-]+)", `)
	for _, m := range covered.FindAllStringSubmatch(readText(t, "internal/cli/coverage_test.go"), -1) {
		used["S1-"+m[1]] = append(used["S1-"+m[1]], m[2]+".txtar")
	}
	return used
}

func spans(cell string) (list []string) {
	for _, m := range codeSpan.FindAllStringSubmatch(cell, -1) {
		list = append(list, m[1])
	}
	return list
}

// testExists reports whether a script, or a test written as folder.TestName, exists.
func testExists(t *testing.T, name string) bool {
	if path.Ext(name) == ".txtar" {
		return found("internal/cli/testdata/" + name)
	}
	folder, function, _ := strings.Cut(name, ".")
	files, err := filepath.Glob(folder + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		return strings.Contains(readText(t, file), "\nfunc "+function+"(t *testing.T)")
	})
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
