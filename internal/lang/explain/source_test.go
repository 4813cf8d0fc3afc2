package explain_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reporters maps the functions that take a code to the index of that argument.
var reporters = map[string]int{"fail": 1, "failKey": 1, "warn": 1, "errorf": 0, "reportAt": 3, "reportVersion": 4, "bad": 1, "diagnostic": 2, "lint": 1, "report": 0, "problem": 2}

// made lists codes that the source composes.
var made = []string{"bad-pool", "bad-search", "bad-webhook", "default-refused", "examples-refused", "unclosed-quote", "unclosed-bracket", "schema-name", "bad-answer", "bad-business-error", "no-tool", "no-bundler"}

// others lists packages whose Errorf, Warn and codes are not about diagnostics: logs, and answers to models and to HTTP
// clients.
var others = []string{"../../../registry", "../../../internal/engine/outcome", "../../../internal/service/mcp", "../../../internal/model/mcpclient", "../../../internal/service", "../../../internal/service/attention", "../../../internal/service/catalog", "../../../internal/service/web", "../../../internal/cli/models", "../../../internal/cli/serve", "../../../internal/service/timetable"}

var word = regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)*$`)

// The constants that hold codes and reasons, exported or not.
var (
	codeName   = regexp.MustCompile(`^[Cc]ode[A-Z]`)
	reasonName = regexp.MustCompile(`^(Reason|reason[A-Z])`)
)

// codes returns the codes of diagnostics that the source uses, with one place for each.
func codes(t *testing.T) map[string]string {
	found := map[string]string{}
	eachFile(t, others, func(path string) { codesOf(t, path, found) })
	for _, code := range made {
		found[code] = "(put together)"
	}
	return found
}

// reasons are the values of the constants Reason... and reason..., which say why a step or run has its status.
func reasons(t *testing.T) (found []string) {
	eachFile(t, nil, func(path string) {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if !reasonName.MatchString(name.Name) || i >= len(spec.Values) {
					continue
				}
				if lit, ok := spec.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					s, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					found = append(found, s)
				}
			}
			return false
		})
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// eachFile calls do with every Go file of the module outside tests and the folders skip.
func eachFile(t *testing.T, skip []string, do func(path string)) {
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "../../.." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case slices.Contains(skip, filepath.ToSlash(filepath.Dir(path))):
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			do(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func codesOf(t *testing.T, path string, found map[string]string) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	note := func(e ast.Expr) {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return
		}
		if s, err := strconv.Unquote(lit.Value); err == nil && word.MatchString(s) {
			found[s] = set.Position(lit.Pos()).String()
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			literal(n, note)
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if sel, ok := to.(*ast.SelectorExpr); ok && sel.Sel.Name == "Code" && i < len(n.Rhs) {
					note(n.Rhs[i])
				}
			}
		case *ast.CallExpr:
			reported(n, note)
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if codeName.MatchString(name.Name) && i < len(n.Values) {
					note(n.Values[i])
				}
			}
		}
		return true
	})
}

// literal records the code of a diagnostic, or of a trap, that is written out, alone or in a list.
func literal(n *ast.CompositeLit, note func(ast.Expr)) {
	name := ""
	switch typ := n.Type.(type) {
	case *ast.Ident:
		name = typ.Name
	case *ast.SelectorExpr:
		name = typ.Sel.Name
	}
	if name != "Diagnostic" && name != "Diagnostics" && name != "trap" {
		return
	}
	for _, e := range n.Elts {
		if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil {
			literal(&ast.CompositeLit{Type: ast.NewIdent("Diagnostic"), Elts: inner.Elts}, note)
		}
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && strings.EqualFold(key.Name, "code") {
				note(kv.Value)
			}
		}
	}
}

// reported records the code of a call of a reporting method.
func reported(n *ast.CallExpr, note func(ast.Expr)) {
	name := ""
	switch fun := n.Fun.(type) {
	case *ast.Ident:
		if name = fun.Name; name == "warn" { // a local function, not a method
			return
		}
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok && (x.Name == "log" || x.Name == "slog") {
			return
		}
		name = fun.Sel.Name
	}
	name = strings.ToLower(name[:min(1, len(name))]) + name[min(1, len(name)):] // fail, or Fail if another package calls it
	if at, ok := reporters[name]; ok && at < len(n.Args) {
		note(n.Args[at])
	}
}
