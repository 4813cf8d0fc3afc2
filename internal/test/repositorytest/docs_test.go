package repositorytest

import (
	"fmt"
	goast "go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// TestDocLinks checks the links of all pages: the file exists, and where a link names a
// section, so does the heading.
func TestDocLinks(t *testing.T) {
	t.Chdir(top)
	pages := docPages(t)
	pages = append(pages, "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/README.md", "internal/test/bench/README.md")
	anchors := map[string][]string{}
	for _, page := range pages {
		for _, link := range readPage(t, page).links {
			u, err := url.Parse(link)
			if err != nil {
				t.Errorf("%s: link %q: %v", page, link, err)
				continue
			}
			if u.Scheme != "" {
				continue
			}
			target := page
			if u.Path != "" {
				target = path.Join(path.Dir(page), u.Path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link %q: %s does not exist", page, link, target)
				continue
			}
			if u.Fragment == "" {
				continue
			}
			if _, read := anchors[target]; !read {
				anchors[target] = readPage(t, target).anchors
			}
			if !slices.Contains(anchors[target], u.Fragment) {
				t.Errorf("%s: link %q: %s has no heading #%s", page, link, target, u.Fragment)
			}
		}
	}
}

// TestRunIDs checks that the ids of runs in pages and help texts are ids that flowrun gives, whole or shortened:
// readers compare them with their own.
func TestRunIDs(t *testing.T) {
	t.Chdir(top)
	mentioned := regexp.MustCompile(`(?:flowrun (?:approve|cancel|events|logs|reject|resume|retry|show|timeline)(?: -[a-z]+)* |"(?:id|run|retry_of)": ?"|\brun )(\d[0-9a-z]{3,})\b`)
	given := regexp.MustCompile(`^1m[0-9a-hjkmnp-tv-z]{2,11}$`)
	texts := append(docPages(t), "README.md", "CHANGELOG.md", "examples/README.md")
	err := filepath.WalkDir("internal/cli", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			texts = append(texts, name)
		}
		return err
	})
	found := 0
	for _, name := range texts {
		text, readErr := os.ReadFile(name)
		if readErr != nil {
			t.Fatal(readErr)
		}
		for _, m := range mentioned.FindAllSubmatch(text, -1) {
			if found++; !given.Match(m[1]) {
				t.Errorf("%s: %q is not the id of a run", name, m[1])
			}
		}
	}
	if err != nil || found < 10 {
		t.Fatalf("%d ids, %v", found, err)
	}
}

// TestDocIndex checks that docs/README.md lists every page once, below one of the four kinds of pages; but the decisions
// are in the list of their folder.
func TestDocIndex(t *testing.T) {
	t.Chdir(top)
	const index, decisions = "docs/README.md", "docs/dev/decisions/README.md"
	listed := map[string]int{}
	for _, list := range []string{index, decisions} {
		for _, link := range readPage(t, list).links {
			listed[list+" "+path.Join(path.Dir(list), link)]++
		}
	}
	for _, page := range docPages(t) {
		list := index
		if path.Dir(page) == path.Dir(decisions) && page != decisions {
			list = decisions
		}
		if n := listed[list+" "+page]; page != index && n != 1 {
			t.Errorf("%s lists %s %d times instead of once", list, page, n)
		}
	}
}

// devPages are the pages for contributors.
func devPages(t *testing.T) (pages []string) {
	t.Helper()
	for _, page := range append(docPages(t), "CONTRIBUTING.md") {
		if !strings.HasPrefix(page, "docs/") || strings.HasPrefix(page, "docs/dev/") {
			pages = append(pages, page)
		}
	}
	if len(pages) < 40 {
		t.Fatalf("pages for contributors: %v", pages)
	}
	return pages
}

// TestDevDocs checks that every file and folder that the pages for contributors name in
// backticks exists. A name without a folder belongs to the folder that was named last on
// its line: `internal/engine/script`: `fetch.go`, `files.go`.
func TestDevDocs(t *testing.T) {
	t.Chdir(top)
	for _, page := range devPages(t) {
		for _, name := range missingPaths(readPage(t, page).code) {
			t.Errorf("%s: %s does not exist", page, name)
		}
	}
}

// TestDevIdentifiers checks that every Go name that the pages for contributors give in
// backticks is declared: `dag.Run`, `dag.State.Next` or `State.Next`.
func TestDevIdentifiers(t *testing.T) {
	t.Chdir(top)
	declared := identifiers(t)
	name := regexp.MustCompile("`(\\w+\\.[A-Z]\\w*(?:\\.[A-Z]\\w*)?)[^`\\w.]*[^`]*`")
	for _, page := range devPages(t) {
		for _, line := range readPage(t, page).code {
			for _, m := range name.FindAllStringSubmatch(line, -1) {
				if !declared[m[1]] {
					t.Errorf("%s: nothing declares %s", page, m[1])
				}
			}
		}
	}
}

// identifiers are the exported names of all packages, as package.Name, and their methods
// and fields, as package.Type.Name and as Type.Name.
func identifiers(t *testing.T) map[string]bool {
	names := map[string]bool{}
	add := func(pkg, typ string, id *goast.Ident) {
		if typ == "" {
			names[pkg+"."+id.Name] = true
			return
		}
		names[typ+"."+id.Name], names[pkg+"."+typ+"."+id.Name] = true, true
	}
	all := sources(t)
	for _, dir := range []string{"endedtest", "needtest", "programtest", "schematest", "sizetest", "storetest", "waittest"} {
		files, err := filepath.Glob("internal/test/" + dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		all["internal/test/"+dir] = files
	}
	for _, files := range all {
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *goast.FuncDecl:
					typ := ""
					if d.Recv != nil {
						typ = strings.TrimLeft(receiver(d.Recv.List[0].Type), "*")
					}
					add(f.Name.Name, typ, d.Name)
				case *goast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *goast.ValueSpec:
							for _, id := range s.Names {
								add(f.Name.Name, "", id)
							}
						case *goast.TypeSpec:
							add(f.Name.Name, "", s.Name)
							for _, id := range members(s.Type) {
								add(f.Name.Name, s.Name.Name, id)
							}
						}
					}
				}
			}
		}
	}
	return names
}

func members(typ goast.Expr) (list []*goast.Ident) {
	var fields *goast.FieldList
	switch typ := typ.(type) {
	case *goast.StructType:
		fields = typ.Fields
	case *goast.InterfaceType:
		fields = typ.Methods
	default:
		return nil
	}
	for _, f := range fields.List {
		list = append(list, f.Names...)
	}
	return list
}

// TestArchitecturePage checks that docs/dev/architecture.md names every folder, and that the documentation of every package
// says what it is for, because the page does not.
func TestArchitecturePage(t *testing.T) {
	t.Chdir(top)
	page, err := os.ReadFile("docs/dev/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		names := append([]string{f.name}, f.packages...)
		for _, name := range names {
			public := !strings.HasPrefix(name, "internal/") && name != f.name
			if !public && !regexp.MustCompile(`(?m)(^|[\s`+"`"+`(])`+regexp.QuoteMeta(name)+`($|[\s`+"`"+`:,)])`).Match(page) {
				t.Errorf("docs/dev/architecture.md does not name %s", name)
			}
		}
	}
	for pkg, files := range sources(t) {
		if !slices.ContainsFunc(files, func(file string) bool { return documented(t, file) }) {
			t.Errorf("package %q has no documentation: say what it is for", pkg)
		}
	}
}

// documented reports whether a file has the documentation of its package.
func documented(t *testing.T, file string) bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return f.Doc != nil
}

// TestDevTests checks that every test that the pages for contributors name exists, and that a command that they give with
// -run finds a test in the package that it names.
func TestDevTests(t *testing.T) {
	t.Chdir(top)
	tests := testNames(t)
	word := regexp.MustCompile(`\bTest[A-Z]\w*`)
	command := regexp.MustCompile(`go test (\S+) -run '?([\w|\\]+)`)
	for _, page := range devPages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range word.FindAllString(string(text), -1) {
			if !slices.ContainsFunc(slices.Collect(maps.Values(tests)), func(list []string) bool { return slices.Contains(list, name) }) {
				t.Errorf("%s: no test is named %s", page, name)
			}
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			for _, part := range strings.Split(m[2], `\|`) {
				if list, known := tests[path.Clean(m[1])]; known && !strings.Contains(strings.Join(list, " "), part) {
					t.Errorf("%s: %s has no test %s", page, m[1], part)
				}
			}
		}
	}
}

// testNames returns the tests of each folder.
func testNames(t *testing.T) map[string][]string {
	t.Helper()
	names := map[string][]string{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") { // flowruntest.TestStore is in no test file
			return err
		}
		text, err := os.ReadFile(file)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			dir := filepath.ToSlash(filepath.Dir(file))
			names[dir] = append(names[dir], string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestMissingPaths(t *testing.T) {
	t.Chdir(top)
	for _, c := range []struct {
		code []string
		want []string
	}{
		{[]string{"`dag/next.go`, `policy.go`"}, nil},
		{[]string{"`internal/engine/script`: `fetch.go`, `files.go`"}, nil},
		{[]string{"`dag/next.go`, `fetch.go`"}, []string{"dag/fetch.go"}},
		{[]string{"`dag`", "`policy.go`"}, []string{"policy.go"}},
		{[]string{"`internal/absent`, `dag.Run`, `go test ./internal/absent`, `internal/engine/compile/kind_NAME.go`"}, []string{"internal/absent"}},
		{[]string{"`flowrun.go`, `.ci/run`, `internal/lang/tool/*_test.go`, `internal/lang/tool/*.absent`"}, []string{"internal/lang/tool/*.absent"}},
	} {
		if got := missingPaths(c.code); !slices.Equal(got, c.want) {
			t.Errorf("%q: missing %q, want %q", c.code, got, c.want)
		}
	}
}

var (
	codeSpan   = regexp.MustCompile("`([^`]+)`")
	htmlAnchor = regexp.MustCompile(`<a id="([^"]+)">`)
	fileName   = regexp.MustCompile(`^\w[\w.*-]*\.(go|md|js|json|yaml|txtar|txt)$`)
)

// missingPaths returns the paths in code spans that do not exist. A span is a path when it
// has a slash and begins with a name in the root folder, or when it is a file name. Spans
// with spaces, or with words in capitals that stand for something, are none.
func missingPaths(lines []string) []string {
	var missing []string
	for _, line := range lines {
		dir := ""
		for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
			name := strings.TrimSuffix(m[1], "/")
			first, _, deep := strings.Cut(name, "/")
			_, err := os.Stat(first)
			switch {
			case placeholderWord.MatchString(name) || strings.ContainsAny(name, " {}()<>$:="):
				continue
			case fileName.MatchString(name) && !deep:
				if found(path.Join(dir, name)) {
					continue
				}
				name = path.Join(dir, name)
			case deep && err == nil:
				dir = name
				if path.Ext(name) != "" {
					dir = path.Dir(name)
				}
			default:
				if err == nil && !deep {
					dir = name
				}
				continue
			}
			if !found(name) {
				missing = append(missing, name)
			}
		}
	}
	return missing
}

// placeholderWord matches a part of a path that stands for a name: kind_NAME.go, ID.md.
var placeholderWord = regexp.MustCompile(`(^|[/_-])[A-Z]{2,}\b`)

func found(pattern string) bool {
	list, err := filepath.Glob(pattern)
	return err == nil && len(list) > 0
}

// docPage is what the tests read of a page.
type docPage struct {
	links   []string // targets, as written
	anchors []string // of its headings
	code    []string // lines outside fenced blocks that have code spans
}

func readPage(t *testing.T, file string) docPage {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var page docPage
	seen := map[string]int{}
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(b))
	err = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			page.links = append(page.links, string(n.Destination))
		case *ast.Heading:
			id := slug(plainText(n, b))
			if k := seen[id]; k > 0 {
				id = fmt.Sprintf("%s-%d", id, k)
			}
			seen[slug(plainText(n, b))]++
			page.anchors = append(page.anchors, id)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range htmlAnchor.FindAllSubmatch(b, -1) {
		page.anchors = append(page.anchors, string(m[1]))
	}
	fenced := false
	for _, line := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced && codeSpan.MatchString(line) {
			page.code = append(page.code, line)
		}
	}
	return page
}

func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if s, ok := c.(*ast.Text); ok {
			b.Write(s.Segment.Value(source))
		} else {
			b.WriteString(plainText(c, source))
		}
	}
	return b.String()
}

// slug is what GitHub makes of a heading: lower case, spaces as hyphens, no punctuation.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

func docPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	err := filepath.WalkDir("docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" {
			pages = append(pages, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}
