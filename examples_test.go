package flowrun_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/tool"
)

// TestExamples compiles every example without a warning and runs it on real
// input.
func TestExamples(t *testing.T) {
	checkout, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]struct {
		params map[string]any
		want   string // regular expression over the output
	}{
		"hello":       {map[string]any{"NAME": "Grace O'Hara"}, `^Hello, Grace O'Hara!\n$`},
		"code-report": {map[string]any{"FOLDER": "dag", "TOP": 2}, `(?s)Go code in dag,.* files, .*Longest:\n.*dag/`},
		"backup":      {map[string]any{"SOURCE": "docs"}, `entries packed; kept: 1`},
		"weekly":      {map[string]any{"PROJECT": "dag"}, `(?s)Go code in dag.*entries packed; kept: 1`},
	}
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			run, ok := runs[name]
			if !ok {
				t.Fatalf("no run for %s in this test", file)
			}
			p, err := flowrun.Compile(tool.NewLibrary(tool.Config{Home: t.TempDir()}), file)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Warnings) > 0 {
				t.Errorf("warnings:\n%v", p.Warnings)
			}
			res, err := flowrun.New(flowrun.Config{}).Run(context.Background(), p, run.params,
				flowrun.WithWorld(flowrun.World{Workspace: checkout, Temp: t.TempDir()}))
			if err != nil {
				t.Fatal(err)
			}
			if res.Status != dag.Succeeded || !regexp.MustCompile(run.want).MatchString(res.Output) {
				t.Errorf("%s, output:\n%s\nsteps: %+v", res.Status, res.Output, res.Steps)
			}
		})
	}
}

// TestReadme compiles the definitions that README shows.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(b), -1)
	if len(blocks) == 0 {
		t.Fatal("README shows no definition")
	}
	for _, block := range blocks {
		p := compile(t, t.TempDir(), strings.Replace(block[1], "name: deploy", "name: under-test", 1))
		if len(p.Warnings) > 0 {
			t.Errorf("warnings:\n%v", p.Warnings)
		}
	}
}
