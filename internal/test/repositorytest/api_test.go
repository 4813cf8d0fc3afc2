package repositorytest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAPI holds what the public packages export against testdata/api.txt, so that
// nothing is taken away or changed by accident (docs/reference/embedding.md, Stability). After
// a change that is meant: go test ./internal/test/repositorytest -run API -update
func TestAPI(t *testing.T) {
	t.Chdir(top)
	const golden = "testdata/api.txt"
	var lines []string
	all := sources(t)
	for pkg, files := range all {
		if !public(pkg) {
			continue
		}
		for _, file := range files {
			if name := filepath.Base(file); strings.HasSuffix(strings.TrimSuffix(name, ".go"), "_windows") || strings.HasSuffix(name, "_other.go") {
				continue // the same names for another system
			}
			lines = append(lines, exported(t, pkg, file)...)
		}
	}
	named := aliased(t, all)
	lines = slices.DeleteFunc(lines, func(line string) bool { // what the name stands for says more
		id, _, isType := strings.Cut(line, ": type ")
		return isType && slices.ContainsFunc(named, func(n string) bool { return strings.HasPrefix(n, id+": type ") })
	})
	lines = append(lines, named...)
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the public API changed; where that is meant, run go test ./internal/test/repositorytest -run API -update and say so in CHANGELOG.md (-was +is):\n%s", diff)
	}
}

// TestReturnedErrors checks that no public function returns a value beside a type that is an error: assigned to a variable of
// type error, its nil would be an error. It returns an error, or a list of what is wrong.
func TestReturnedErrors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "testdata/api.txt"))
	if err != nil {
		t.Fatal(err)
	}
	errorType := regexp.MustCompile(`(?m)^(?:([\w/]+)\.)?Error: func \((?:\w+ )?\*?(\w+)\) Error\(\) string$`)
	types := map[string]bool{}
	for _, m := range errorType.FindAllStringSubmatch(string(text), -1) {
		types[path.Base(path.Join("flowrun", m[1]))+"."+m[2]] = true
	}
	if !types["tool.Diagnostics"] || !types["flowrun.ExitError"] {
		t.Fatalf("found the errors %v", types)
	}
	results := regexp.MustCompile(`(?m)^(?:([\w/]+)\.)?\w+: func .*\(([^()]*), (?:\w+ )?\*?([\w.]+)\)$`)
	for _, m := range results.FindAllStringSubmatch(string(text), -1) {
		last := m[3]
		if !strings.Contains(last, ".") {
			last = path.Base(path.Join("flowrun", m[1])) + "." + last
		}
		if types[last] {
			t.Errorf("%s\nreturns a %s beside a value", m[0], m[3])
		}
	}
}

// exported are the exported declarations of a file, one a line.
func exported(t *testing.T, pkg, file string) []string {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !ast.FileExports(f) {
		return nil
	}
	text := func(n any) string {
		var b bytes.Buffer
		if err := printer.Fprint(&b, fset, n); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	name := func(id string) string { return strings.TrimPrefix(pkg+"."+id, ".") }
	var lines []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			d.Body = nil
			line := text(d)
			if d.Recv != nil && !ast.IsExported(strings.TrimLeft(receiver(d.Recv.List[0].Type), "*")) {
				continue
			}
			lines = append(lines, fmt.Sprintf("%s: %s", name(d.Name.Name), line))
		case *ast.GenDecl:
			for _, s := range d.Specs {
				lines = append(lines, spec(s, name, text)...)
			}
		}
	}
	return lines
}

// public says whether other programs can import a package.
func public(pkg string) bool {
	return !strings.HasPrefix(pkg, "internal/") && !strings.HasPrefix(pkg, "cmd/") && !strings.HasPrefix(pkg, "examples/") && !strings.HasPrefix(pkg, "temporal/")
}

// importedAs returns the package of this module that a file knows by a name.
func importedAs(f *ast.File, name string) string {
	for _, s := range f.Imports {
		if path := strings.Trim(s.Path.Value, `"`); strings.HasSuffix(path, "/"+name) {
			return strings.TrimPrefix(path, module+"/")
		}
	}
	return ""
}

// aliased are the types of internal packages that public packages have other names for,
// which is how embedders know them, with their members.
func aliased(t *testing.T, all map[string][]string) []string {
	names := map[string]string{} // internal/engine/plan.StepError -> StepError
	for pkg, files := range all {
		if !public(pkg) {
			continue
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.TypeSpec)
				if !ok || !s.Assign.IsValid() || !s.Name.IsExported() {
					return true
				}
				if of, ok := s.Type.(*ast.SelectorExpr); ok {
					names[importedAs(f, of.X.(*ast.Ident).Name)+"."+of.Sel.Name] = strings.TrimPrefix(pkg+"."+s.Name.Name, ".")
				}
				return true
			})
		}
	}
	method := regexp.MustCompile(`^func \(\w+ \*?(\w+)\) `)
	var lines []string
	for pkg, files := range all {
		if public(pkg) {
			continue
		}
		for _, file := range files {
			for _, line := range exported(t, pkg, file) {
				id, what, _ := strings.Cut(strings.TrimPrefix(line, pkg+"."), ": ")
				typ, field, _ := strings.Cut(id, ".")
				if m := method.FindStringSubmatch(what); m != nil {
					typ, field = m[1], ""
				}
				name, known := names[pkg+"."+typ]
				switch {
				case !known:
				case field != "":
					lines = append(lines, name+"."+field+": "+what)
				case strings.HasPrefix(what, "func ("):
					lines = append(lines, strings.TrimSuffix(name, typ)+id+": "+what)
				default:
					lines = append(lines, name+": "+what)
				}
			}
		}
	}
	return lines
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func spec(s ast.Spec, name func(string) string, text func(any) string) []string {
	var lines []string
	switch s := s.(type) {
	case *ast.TypeSpec:
		st, isStruct := s.Type.(*ast.StructType)
		if !isStruct {
			return []string{fmt.Sprintf("%s: type %s", name(s.Name.Name), text(s.Type))}
		}
		lines = append(lines, fmt.Sprintf("%s: type struct", name(s.Name.Name)))
		for _, f := range st.Fields.List {
			f.Tag = nil
			if len(f.Names) == 0 {
				lines = append(lines, fmt.Sprintf("%s: embeds %s", name(s.Name.Name), text(f.Type)))
			}
			for _, n := range f.Names {
				lines = append(lines, fmt.Sprintf("%s.%s: %s", name(s.Name.Name), n.Name, text(f.Type)))
			}
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() {
				lines = append(lines, fmt.Sprintf("%s: value", name(n.Name)))
			}
		}
	}
	return lines
}
