package repositorytest

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// alias is an exported name of a public package for a type of an internal one, which go doc does not show.
type alias struct {
	pkg, name, file string // where it is exported
	of              typeID
	comment         *ast.CommentGroup // nil if there is none
	before, after   int               // the offsets of the comment in the file
}

// typeID is a type and its package.
type typeID struct{ pkg, name string }

// TestAPIDocs checks that the comment of each exported name of an internal type ends with what go doc would show of the
// type: its declaration, with the comments of its fields, and its methods. Types stay in internal packages because
// programs of flowrun use them there without the public packages, which import the internal ones. After a change:
// go test ./internal/test/repositorytest -run API -update
func TestAPIDocs(t *testing.T) {
	t.Chdir(top)
	list := aliases(t)
	public := map[typeID]typeID{}
	for _, a := range list {
		public[a.of] = typeID{a.pkg, a.name}
	}
	slices.SortFunc(list, func(a, b alias) int { return b.after - a.after }) // a new comment moves what is behind it
	for _, a := range list {
		if a.comment == nil {
			t.Errorf("%s: %s has no comment", a.file, a.name)
			continue
		}
		was := strings.Split(string(readFile(t, a.file)[a.before:a.after]), "\n")
		got := slices.Clone(was)
		if i := slices.IndexFunc(got, func(line string) bool { return strings.HasPrefix(line, "//\ttype ") }); i > 0 {
			got = got[:i-1]
		}
		got = append(append(got, "//"), declaration(t, a, public)...)
		diff := cmp.Diff(strings.Join(was, "\n"), strings.Join(got, "\n"))
		switch {
		case diff == "":
		case *update:
			text := readFile(t, a.file)
			text = slices.Concat(text[:a.before], []byte(strings.Join(got, "\n")), text[a.after:])
			if err := os.WriteFile(a.file, text, 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s: the comment of %s does not end with the declaration of %s; run go test ./internal/test/repositorytest -run API -update (-was +is):\n%s", a.file, a.name, a.of.name, diff)
		}
	}
}

func readFile(t *testing.T, file string) []byte {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// aliases are the exported names that public packages have for types of internal ones.
func aliases(t *testing.T) (list []alias) {
	for pkg, files := range sources(t) {
		if !public(pkg) {
			continue
		}
		for _, file := range files {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				g, _ := d.(*ast.GenDecl)
				if g == nil || g.Tok != token.TYPE {
					continue
				}
				for _, s := range g.Specs {
					s := s.(*ast.TypeSpec)
					of, selects := s.Type.(*ast.SelectorExpr)
					if !selects || !s.Assign.IsValid() || !s.Name.IsExported() {
						continue
					}
					from := importedAs(f, of.X.(*ast.Ident).Name)
					if !strings.HasPrefix(from, "internal/") {
						continue
					}
					a := alias{pkg: pkg, name: s.Name.Name, file: file, of: typeID{from, of.Sel.Name}, comment: g.Doc}
					if g.Lparen.IsValid() {
						a.comment = s.Doc
					}
					if a.comment != nil {
						a.before, a.after = fset.Position(a.comment.Pos()).Offset, fset.Position(a.comment.End()).Offset
					}
					list = append(list, a)
				}
			}
		}
	}
	return list
}

// declaration returns the lines of a comment that show the type of an alias, in the names that its package's users have.
func declaration(t *testing.T, a alias, public map[typeID]typeID) []string {
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(a.of.pkg), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var typ string
	var methods []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_windows.go") || !ast.FileExports(f) {
			continue
		}
		rename := func(n ast.Node) string {
			renameTypes(f, n, a, public)
			var b bytes.Buffer
			if err := printer.Fprint(&b, fset, n); err != nil {
				t.Fatal(err)
			}
			return strings.ReplaceAll(b.String(), unqualified+".", "")
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || strings.TrimLeft(receiver(d.Recv.List[0].Type), "*") != a.of.name {
					continue
				}
				text := ""
				if about := new(doc.Package).Synopsis(d.Doc.Text()); about != "" {
					text = "// " + about + "\n"
				}
				d.Doc, d.Body = nil, nil
				methods = append(methods, text+rename(d))
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.Name == a.of.name {
						s.Doc, s.Comment, s.Name.Name = nil, nil, a.name
						typ = "type " + rename(s)
					}
				}
			}
		}
	}
	if typ == "" {
		t.Fatalf("%s: there is no type %s", a.of.pkg, a.of.name)
	}
	slices.SortFunc(methods, func(a, b string) int { return strings.Compare(signature(a), signature(b)) })
	text, err := format.Source([]byte("package p\n\n" + strings.Join(append([]string{typ}, methods...), "\n\n")))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimPrefix(strings.TrimSpace(string(text)), "package p\n\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("//\t"+line, "\t")
	}
	return lines
}

// unqualified is the package of a name that needs none, until it is printed.
const unqualified = "unqualified"

// signature returns the part of a method that orders it: its name and what follows.
func signature(method string) string {
	_, name, _ := strings.Cut(method[strings.LastIndex(method, "\n")+1:], ") ")
	return name
}

// renameTypes replaces the names of types in a node of an internal file by those that users of the alias's package have.
func renameTypes(f *ast.File, n ast.Node, a alias, public map[typeID]typeID) {
	name := func(of typeID) string {
		known, ok := public[of]
		switch {
		case !ok:
			return ""
		case known.pkg == a.pkg:
			return known.name
		case known.pkg == "":
			return "flowrun." + known.name
		}
		return path.Base(known.pkg) + "." + known.name
	}
	skip := map[*ast.Ident]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			skip[n.Name] = true
		case *ast.FuncDecl:
			skip[n.Name] = true
		case *ast.Field:
			for _, id := range n.Names {
				skip[id] = true
			}
		case *ast.SelectorExpr:
			x, _ := n.X.(*ast.Ident)
			if x == nil {
				return true
			}
			skip[x], skip[n.Sel] = true, true
			if known := name(typeID{importedAs(f, x.Name), n.Sel.Name}); known != "" {
				pkg, typ, qualified := strings.Cut(known, ".")
				if !qualified {
					pkg, typ = unqualified, known
				}
				x.Name, n.Sel.Name = pkg, typ
			}
		case *ast.Ident:
			if known := name(typeID{a.of.pkg, n.Name}); known != "" && !skip[n] {
				n.Name = known
			}
		}
		return true
	})
}
