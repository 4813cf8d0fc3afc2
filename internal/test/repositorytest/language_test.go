package repositorytest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// foreign are expressions that the vocabulary replaces, with the word to use instead.
var foreign = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)(?:\b\w+['"]?\s+)?\bis no (\w+)`), "is not a"},
	{regexp.MustCompile(`(?i)\b(?:goes|going) on\b|\bgo on (?:with|from|where)\b`), "continue, resume"},
	{regexp.MustCompile(`(?i)\b(?:takes?|taken|took) (?:(?:it|them|a run|the run) )?up(?: (\w+))?`), "resume"},
	{regexp.MustCompile(`(?i)\b(?:becomes?|became|come|came) of\b`), "the result of"},
	{regexp.MustCompile(`(?i)\b(?:tells?|told) (?:of|what|why|how|more)\b`), "report, show, explain"},
	{regexp.MustCompile(`(?i)\b(?:is|are|was|were|been) told\b(?: (\w+))?`), "is reported, reads"},
	{regexp.MustCompile(`(?i)\bbelongs? into\b`), "belong in"},
	{regexp.MustCompile(`(?i)\bin reach\b`), "available"},
	{regexp.MustCompile(`(?i)\b(?:run|it|that) rests\b|\bruns rest\b|\brests until\b`), "is waiting, is interrupted"},
	{regexp.MustCompile(`(?i)(?:^|[^-\w])holes?\b`), "placeholder"},
	{regexp.MustCompile(`(?i)\bmend(?:s|ed|ing)?\b`), "fix"},
	{regexp.MustCompile(`(?i)\blook whether\b`), "check whether"},
	{regexp.MustCompile(`(?i)\b(?:run|engine) gives up\b|\bgives? it up\b`), "is interrupted"},
	{regexp.MustCompile(`(?i)\bengine has gone\b|\b(?:dies|died|dying)\b`), "was killed, ends"},
	{regexp.MustCompile(`(?i)\b(?:cellar|storey)s?\b|\b(?:the|of the|this) house\b`), "layer, folder"},
	{regexp.MustCompile(`(?i)\bstands? in\b|\bstood in\b`), "is in; is queued"},
	{regexp.MustCompile(`(?i)\bblanks\b`), "spaces"},
	{regexp.MustCompile(`(?i)\btrying again\b|\btried again\b`), "retry"},
	{regexp.MustCompile(`(?i)\bunder way\b`), "active"},
}

// rightBefore are the words that make an expression right: "is no longer", "takes up to 5 s".
var rightBefore = []string{"longer", "more", "different", "better", "to", "space", "apart", "from", "by", "of"}

// isForeign returns the expressions in a text that the vocabulary replaces.
func isForeign(text string) (found []string) {
	for _, f := range foreign {
		for _, m := range f.pattern.FindAllStringSubmatch(text, -1) {
			if len(m) > 1 && (slices.Contains(rightBefore, strings.ToLower(m[1])) || strings.HasPrefix(strings.ToLower(m[0]), "there ")) {
				continue
			}
			found = append(found, strconv.Quote(m[0])+" (say: "+f.instead+")")
		}
	}
	return found
}

// TestLanguageOfCode holds the vocabulary in all string literals and comments. Of tests it reads the comments, the names
// and the messages of failures: other literals are data.
func TestLanguageOfCode(t *testing.T) {
	t.Chdir(top)
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(file, ".go") || filepath.Base(file) == "language_test.go":
			return nil
		}
		parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		inTest := strings.HasSuffix(file, "_test.go")
		check := func(pos token.Pos, text string) {
			for _, words := range isForeign(text) {
				t.Errorf("%s: %s", fset.Position(pos), words)
			}
		}
		for _, group := range parsed.Comments {
			check(group.Pos(), strings.Join(strings.Fields(group.Text()), " "))
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if _, ok := n.(*ast.ImportSpec); ok {
				return false
			}
			if f, ok := n.(*ast.FuncDecl); ok && inTest {
				check(f.Pos(), wordsOf(f.Name.Name))
			}
			literal, ok := n.(*ast.BasicLit)
			if call, isCall := n.(*ast.CallExpr); isCall && inTest {
				literal, ok = failureMessage(call)
			} else if inTest {
				return true
			}
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatalf("%s: %v", fset.Position(literal.Pos()), err)
			}
			check(literal.Pos(), text)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// failureMessage returns the message of a call such as t.Errorf.
func failureMessage(call *ast.CallExpr) (*ast.BasicLit, bool) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 || !reports.MatchString(method.Sel.Name) {
		return nil, false
	}
	literal, ok := call.Args[0].(*ast.BasicLit)
	return literal, ok
}

var reports = regexp.MustCompile(`^(Error|Fatal|Log|Skip)f?$`)

var capital = regexp.MustCompile(`[A-Z]`)

// wordsOf returns the words of a name: "step started" for StepStarted.
func wordsOf(name string) string { return strings.ToLower(capital.ReplaceAllString(name, " $0")) }

// TestLanguageOfPages holds the vocabulary in the prose of the documentation. Code is left out.
func TestLanguageOfPages(t *testing.T) {
	t.Chdir(top)
	pages := append(docPages(t), "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
	explained, err := filepath.Glob("internal/lang/explain/pages/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, explained...)
	if len(pages) < 100 {
		t.Fatalf("found only %d pages", len(pages))
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range proseLines(text) {
			for _, words := range isForeign(line) {
				t.Errorf("%s:%d: %s", page, n+1, words)
			}
		}
	}
}

var inlineCode = regexp.MustCompile("`[^`]*`")

// proseLines returns the lines of a Markdown page, with code removed.
func proseLines(page []byte) []string {
	lines := strings.Split(string(bytes.TrimSpace(page)), "\n")
	fenced := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence:
			fenced = !fenced
			lines[i] = ""
		case fenced, strings.HasPrefix(line, "    "):
			lines[i] = ""
		default:
			lines[i] = inlineCode.ReplaceAllString(line, "")
		}
	}
	return lines
}

// TestIsForeign holds what counts as foreign and what does not.
func TestIsForeign(t *testing.T) {
	t.Chdir(top)
	for text, want := range map[string]int{
		"it is no number":                     1,
		"There is no number; it is no longer": 0,
		"the run goes on where it stopped":    1,
		"what became of it is told of":        2,
		"flowrun resume RUN goes on with it":  1,
		"expected a number, got \"many\"":     0,
		"recommended fixes for the upstream":  0,
		"the run was taken up":                1,
		"this takes up to five seconds":       0,
		"explain unsafe-hole":                 0,
		"the hole {NAME}":                     1,
	} {
		if got := isForeign(text); len(got) != want {
			t.Errorf("%q: %v, want %d", text, got, want)
		}
	}
}
