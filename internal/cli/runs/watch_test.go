package runs

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
)

// TestSubstitute: what is known before the run replaces its placeholder, anything else matches every file.
func TestSubstitute(t *testing.T) {
	params := map[string]any{"DIR": "src", "a.b": "in", "N": 3, "LIST": []any{"x"}}
	for text, want := range map[string]string{
		"{DIR}/*.go":         "src/*.go",
		"{a.b}/{DIR}":        "in/src",
		"{N}/{LIST}":         "*/*",
		"{build.output}.txt": "*.txt",
		"{OTHER}":            "*",
		"src/{a,b}/x {} {1}": "src/{a,b}/x {} {1}",
	} {
		if got := substitute(text, params); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestWatchSet holds which files and patterns are watched for a definition.
func TestWatchSet(t *testing.T) {
	p := recordedtest.Plan(t, `
description: Builds
parameters:
  DIR: {description: where, default: src}
steps:
  - name: compile
    working-directory: "{DIR}"
    bash: "true"
    cache: {inputs: ["*.go", /etc/x, "{fetch.output}"], outputs: [out]}
  - name: fetch
    bash: "true"
`)
	s := watchSet(p, map[string]any{"DIR": "lib"}, []string{"more/**"})
	in := func(words ...string) string { return filepath.Join(words...) }
	if diff := cmp.Diff([]string{"/x/tool.yaml"}, s.Files); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"more/**", in("lib", "*.go"), "/etc/x", in("lib", "*")}, s.Patterns); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{in("lib", "out")}, s.Exclude); diff != "" {
		t.Error(diff)
	}
}

// TestFilesInError: the files with problems are watched too, because a change of one of them may be the repair.
func TestFilesInError(t *testing.T) {
	at := func(file string) tool.Diagnostic { return tool.Diagnostic{Pos: diagnostic.Pos{File: file}} }
	err := fmt.Errorf("x: %w", tool.Diagnostics{at("/a.yaml"), at(""), at("/b.yaml"), at("/a.yaml")})
	if got := filesInError(err); !cmp.Equal(got, []string{"/a.yaml", "/b.yaml"}) {
		t.Error(got)
	}
	if got := filesInError(fmt.Errorf("x")); got != nil {
		t.Error(got)
	}
}
