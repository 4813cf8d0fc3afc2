package compile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// wrong is a definition without its name and description, and what is wrong with it.
type wrong struct {
	text string
	want []string // line:col code of each error
	says string   // in the message of an error or its hint
}

// testWrong compiles definitions that are wrong. beside are the tools that they may use.
func testWrong(t *testing.T, beside map[string]string, cases map[string]wrong) {
	dir := t.TempDir()
	for name, text := range beside {
		define(t, dir, name, text)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := compileIn(dir, define(t, dir, "under-test", c.text))
			var ds tool.Diagnostics
			if !errors.As(err, &ds) {
				t.Fatalf("no problem: %v", err)
			}
			var got []string
			all := ""
			for _, d := range ds {
				if d.Severity == tool.Error {
					got = append(got, fmt.Sprintf("%d:%d %s", d.Pos.Line, d.Pos.Col, d.Code))
					all += d.Message + "; " + d.Hint + "\n"
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s%s", diff, all)
			}
			if !strings.Contains(all, c.says) {
				t.Errorf("does not say %q:\n%s", c.says, all)
			}
		})
	}
}

// define writes the definition of a tool, and returns its file.
func define(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(file, []byte("name: "+name+"\ndescription: d\n"+text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// compileIn compiles a file; tools are found beside it in dir.
func compileIn(dir, file string) (*plan.Plan, error) {
	return compile.Tool(library.New(library.Config{WorkingDirectory: dir, Home: dir}), "", file)
}
