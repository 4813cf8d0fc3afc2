package compile

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// stepKinds are the constants of type tool.Kind: their names and values.
func stepKinds(t *testing.T) map[string]tool.Kind {
	f, err := parser.ParseFile(token.NewFileSet(), "../../lang/tool/body.go", nil, 0)
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

// TestKinds: every kind of step has its line in the table; a new one is one file and one line.
func TestKinds(t *testing.T) {
	for name, k := range stepKinds(t) {
		if kinds[k] == nil {
			t.Errorf("tool.%s (%s) has no line in kind_table.go", name, k)
		}
	}
}

// TestBodies decodes a step with each body key that there is: its kind is that key.
func TestBodies(t *testing.T) {
	written := map[string]string{"wait": "{for: 1s}", "commands": "{default: x}", "steps": "[{name: inner, bash: x}]"}
	for _, key := range tool.Keys().Field("steps").Of.BodyKeys() {
		value := cmp.Or(written[key], "x")
		def, _ := decode.File("t.yaml", fmt.Appendf(nil, "name: t\ndescription: d\nsteps:\n  - {name: a, %s: %s}\n", key, value))
		if got := string(def.Steps[0].Kind()); got != key {
			t.Errorf("a step with %s is of kind %q", key, got)
		}
	}
}
