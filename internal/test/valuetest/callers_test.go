package valuetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// callers are the functions that pass values to a tool, with the entry points of the tests that go through them. "" has no
// values of its own: it is given those of another function, or none.
var callers = map[string]string{
	"dag.bindArgs":                              "",
	"examples/durable.run":                      "",
	"examples/foreign.serve":                    "",
	"examples/server.newHandler":                "",
	"flowruntest.run":                           "",
	"internal/cli/launch.BindProblems":          "",
	"internal/cli/launch.addProblems":           "",
	"internal/cli/runs.bind":                    "K=V",
	"internal/cli/runs.continueOrRetry":         "",
	"internal/cli/runs.continueRun":             "resume",
	"internal/cli/runs.explainCacheCommand":     "",
	"internal/cli/runs.parse":                   "K=V, K:=JSON, K=@FILE, --params YAML, --params JSON",
	"internal/cli/runs.runDemo":                 "",
	"internal/cli/schedules.addSchedule":        "schedule add",
	"internal/cli/schedules.execute":            "backfill",
	"internal/cli/tools.toolTest":               "test",
	"internal/engine.Confirmation":              "",
	"internal/engine.Describe":                  "",
	"internal/engine.Given":                     "schedule, on",
	"internal/engine.Preview":                   "",
	"internal/engine.Run":                       "K=V",
	"internal/engine.bind":                      "",
	"internal/engine.execute":                   "",
	"internal/engine.open":                      "",
	"internal/engine/compile/check.bySchema":    "",
	"internal/engine/compile/check.startParams": "schedule, on",
	"internal/engine/graph.bind":                "with, alias, Markdown, for-each, matrix, env, state",
	"internal/engine/preview.nested":            "",
	"internal/engine/preview.resolveStepIn":     "",
	"internal/engine/script.callTool":           "",
	"internal/engine/script.runInside":          "",
	"internal/service.start":                    "HTTP API, run --detach, webhook field, webhook body, schedule, on",
	"internal/service/timetable.addDefined":     "schedule",
	"internal/service/timetable.addTriggers":    "on",
	"internal/service/toolset.preview":          "",
	"internal/service/tooltest.cleanUp":         "",
	"internal/service/tooltest.compare":         "",
	"internal/service/tooltest.runTool":         "test",
	"internal/service/tooltest.values":          "",
	"registry.bind":                             "MCP",
}

// TestCallers checks that every function that passes values to a tool is in callers, so that a new entry point gets a test.
func TestCallers(t *testing.T) {
	skipped := []string{"temporal", "testdata", "node_modules", "os", "test"} // os has other functions with these names
	found := map[string]bool{}
	top, set := filepath.Join("..", "..", ".."), token.NewFileSet()
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if path != top && (strings.HasPrefix(e.Name(), ".") || slices.Contains(skipped, e.Name())) {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		in, _ := filepath.Rel(top, filepath.Dir(path))
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && passesValues(f) {
				found[filepath.ToSlash(in)+"."+f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for name, list := range callers {
		known[name] = true
		for entry := range strings.SplitSeq(list, ", ") {
			if entry != "" && entryPoints[entry] == nil && kept[entry] == nil {
				t.Errorf("%s: there is no entry point %q", name, entry)
			}
		}
	}
	if diff := cmp.Diff(known, found); diff != "" {
		t.Errorf("functions that pass values to a tool; add an entry point for a new one (-known +found):\n%s", diff)
	}
}

var binding = []string{"Bind", "BindGiven", "Given", "CollectParams"}

// passesValues reports whether a function binds the parameters of a plan, or runs one with parameters.
func passesValues(f *ast.FuncDecl) (passes bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			s, isMethod := c.Fun.(*ast.SelectorExpr)
			passes = passes || isMethod && (slices.Contains(binding, s.Sel.Name) || s.Sel.Name == "Run" && len(c.Args) > 2)
		}
		return !passes
	})
	return passes
}
