package compile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/tool"
)

// stepKinds are the constants of type tool.Kind: their names and values.
func stepKinds(t *testing.T) map[string]tool.Kind {
	f, err := parser.ParseFile(token.NewFileSet(), "../../tool/definition.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]tool.Kind{}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || v.Type == nil {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); ok && id.Name == "Kind" {
			list[v.Names[0].Name] = tool.Kind(strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`))
		}
		return true
	})
	if len(list) == 0 {
		t.Fatal("no kinds found")
	}
	return list
}

// TestKinds: every kind of step has its line in the table, and no other file of what compiles,
// previews and runs a plan asks for a kind: a new one is one file and one line.
func TestKinds(t *testing.T) {
	all := stepKinds(t)
	for name, k := range all {
		if kinds[k] == nil {
			t.Errorf("tool.%s (%s) has no line in kind_table.go", name, k)
		}
	}
	var files []string
	for _, dir := range []string{"../..", ".", "../plan", "../graph", "../call", "../preview", "../script", "../resultcache", "../waiting"} {
		list, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	for _, file := range files {
		if base := filepath.Base(file); strings.HasSuffix(base, "_test.go") || filepath.Dir(file) == "." && strings.HasPrefix(base, "kind_") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "tool" && all[s.Sel.Name] != "" {
					t.Errorf("%s asks for the kind tool.%s: that belongs in internal/compile/kind_*.go", fset.Position(s.Pos()), s.Sel.Name)
				}
			}
			return true
		})
	}
}
