package repositorytest

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// specified has the ids of all requirements, as ranges of numbers by specification.
var specified = map[string]string{
	"S0": "1-3 10-21 30-37 40-48 50-52 60-68 70-74 80-83",
	"S1": "1-8 10-57 60-67 70-78 80-88 90-117 120-145 150-160 165-168 170-176 180-187 190-195 200-204 210-225 230-238 " +
		"240-250 260-268 270-295 300-318 320-323 325-326 330-332 335-355 360-371 380-404 410-416 420-421",
	"S2": "1-3 10-14 20-28 30-34 40-44 50-51 60-65 70-72 80-82",
	"S3": "1-6 10-14 20-26 30-32 40-41 50-51 60-61 70 80-81 90-94",
	"S4": "1-8 10-12 20-21 30-36 40-41 50-51 60",
	"X":  "1-12",
}

// requirement is a row of docs/reference/requirements.md. A row of what is not built has only the reason.
type requirement struct{ built, tests, reason string }

// TestRequirements checks that docs/reference/requirements.md has one row for each requirement, that a
// row names the keys, practices and scripts that the code gives its id to, that the files and
// tests on the page exist, and that what is not built has a reason.
func TestRequirements(t *testing.T) {
	t.Chdir(top)
	listed, used := requirements(t), usedRequirements(t)
	missing := specifiedIDs(t)
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		if !missing[id] {
			t.Errorf("docs/reference/requirements.md has a row for %s, which is not a requirement", id)
		}
		delete(missing, id)
		row := listed[id]
		if row.reason != "" {
			if _, ok := used[id]; ok {
				t.Errorf("%s: the page says that this is not built, but the code uses the id", id)
			}
			continue
		}
		for _, name := range used[id] {
			if name != "" && !strings.Contains(row.built+row.tests, "`"+name+"`") {
				t.Errorf("%s: the code gives this id to %q, but the row does not name it", id, name)
			}
		}
		checkRequirement(t, id, row)
	}
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("docs/reference/requirements.md has no row for %s", id)
	}
	for _, id := range slices.Sorted(maps.Keys(used)) {
		if _, ok := listed[id]; !ok {
			t.Errorf("the code uses the id %s, which has no row in docs/reference/requirements.md", id)
		}
	}
}

// checkRequirement checks that the files and tests that a row names exist, and that it names some.
func checkRequirement(t *testing.T, id string, row requirement) {
	t.Helper()
	files := 0
	for _, name := range spans(row.built) {
		if ext := path.Ext(name); ext != ".go" && ext != ".js" {
			continue
		}
		files++
		if _, err := os.Stat(name); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	tests := spans(row.tests)
	if files == 0 || len(tests) == 0 {
		t.Errorf("%s: the row names %d files and %d tests", id, files, len(tests))
	}
	for _, name := range tests {
		if !testExists(t, name) {
			t.Errorf("%s: test %s does not exist", id, name)
		}
	}
}

// specifiedIDs returns the ids of all requirements.
func specifiedIDs(t *testing.T) map[string]bool {
	ids := map[string]bool{}
	for name, ranges := range specified {
		for _, word := range strings.Fields(ranges) {
			first, last, isRange := strings.Cut(word, "-")
			if !isRange {
				last = first
			}
			from, err := strconv.Atoi(first)
			if err != nil {
				t.Fatal(err)
			}
			to, err := strconv.Atoi(last)
			if err != nil {
				t.Fatal(err)
			}
			for n := from; n <= to; n++ {
				if name == "X" {
					ids[fmt.Sprintf("X-%02d", n)] = true
				} else {
					ids[fmt.Sprintf("%s-%03d", name, n)] = true
				}
			}
		}
	}
	return ids
}

// requirements returns the rows of the page by id.
func requirements(t *testing.T) map[string]requirement {
	rows := map[string]requirement{}
	row := regexp.MustCompile(`(?m)^\| ((?:S\d|X)-\d+) \| [^|]+ \| ([^|]+) \|(?: ([^|]+) \|)?$`)
	for _, m := range row.FindAllStringSubmatch(readText(t, "docs/reference/requirements.md"), -1) {
		if _, twice := rows[m[1]]; twice {
			t.Errorf("docs/reference/requirements.md has two rows for %s", m[1])
		}
		rows[m[1]] = requirement{built: m[2], tests: m[3]}
		if m[3] == "" {
			rows[m[1]] = requirement{reason: m[2]}
		}
	}
	return rows
}

// usedRequirements returns the ids in the code, each with the keys, practices and scripts
// that the code gives it to. A name is empty if the code does not write it beside the id.
func usedRequirements(t *testing.T) map[string][]string {
	used := map[string][]string{}
	id := regexp.MustCompile(`(?:[({]"([\w-]+)", )?"(S\d-\d+)"`)
	for _, file := range []string{"internal/lang/tool/keys.go", "internal/lang/decode/page_keys.go", "internal/lang/lint/lint.go"} {
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
