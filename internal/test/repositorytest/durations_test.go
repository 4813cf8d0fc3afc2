package repositorytest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"testing"
)

// endpoints are the fields with the start or the end of a run or a step.
var endpoints = []string{"Started", "Began", "Ended", "LastSign"}

// TestOneDuration: how long a run or a step took is computed in one place, dag.Span, so that all that show it
// agree. No other code subtracts a start from an end.
func TestOneDuration(t *testing.T) {
	t.Chdir(top)
	for _, file := range slices.Concat(slices.Collect(maps.Values(sources(t)))...) {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && subtracts(call) {
				t.Errorf("%s: ask for the duration instead of subtracting: Took, Duration, Durations, or dag.Span", files.Position(call.Pos()))
			}
			return true
		})
	}
}

// subtracts reports whether a call is X.Sub(Y), and X or Y is an endpoint.
func subtracts(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && len(call.Args) == 1 && f.Sel.Name == "Sub" && (isEndpoint(f.X) || isEndpoint(call.Args[0]))
}

func isEndpoint(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && slices.Contains(endpoints, s.Sel.Name)
}
