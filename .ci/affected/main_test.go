package main

import (
	"slices"
	"strings"
	"testing"
)

func TestAffected(t *testing.T) {
	tests := []string{"x_test.go"}
	list := []source{
		{ImportPath: "m", dir: ".", GoFiles: []string{"m.go"}, TestGoFiles: tests, Imports: []string{"m/compile"}},
		{ImportPath: "m/compile", dir: "compile", GoFiles: []string{"c.go"}, XTestGoFiles: tests, Imports: []string{"m/plan"}},
		{ImportPath: "m/plan", dir: "plan", GoFiles: []string{"p.go"}, TestGoFiles: tests},
		{ImportPath: "m/untested", dir: "untested", GoFiles: []string{"u.go"}, Imports: []string{"m/plan"}},
		{ImportPath: "m/enginetest", dir: "enginetest", XTestGoFiles: tests, XTestImports: []string{"m"}},
		{ImportPath: "m/cli", dir: "cli", GoFiles: []string{"c.go"}, TestGoFiles: tests, Imports: []string{"m"}},
		{ImportPath: "m/roof", dir: "roof", TestGoFiles: tests, TestImports: []string{"m/cli"}},
	}
	for _, c := range []struct{ files, want string }{
		{"", rules},
		{"README.md docs/x.md tools/x.go", rules},
		{"m.go", ". cli enginetest " + rules + " roof"},
		{"plan/p.go", "compile " + rules + " plan"},
		{"plan/testdata/deep/x.yaml", "compile " + rules + " plan"},
		{"compile/c.go", ". compile enginetest " + rules},
		{"cli/c.go", "cli " + rules + " roof"},
		{"docs/x.md plan/p.go", "compile " + rules + " plan"},
	} {
		if got := strings.Join(affected(list, strings.Fields(c.files)), " "); got != c.want {
			t.Errorf("%q: %s, want %s", c.files, got, c.want)
		}
	}
	if !slices.IsSorted(affected(list, []string{"plan/p.go"})) {
		t.Error("not sorted")
	}
}
