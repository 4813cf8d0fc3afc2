package outcome_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/library"
)

// engine lists the packages whose errors are returned by the engine and the service.
var engine = []string{"dag", "history", "hooks", "registry", "internal/engine", "internal/lang/tool",
	"internal/engine/cache", "internal/engine/call", "internal/engine/compile", "internal/lang/diagnostic", "internal/lang/expr", "internal/engine/dotenv", "internal/engine/gostep", "internal/engine/graph",
	"internal/js/jscheck", "internal/js/jsrun", "internal/js/jsworld", "internal/lang/keytable", "internal/engine/mask", "internal/engine/outcome", "internal/engine/permission", "internal/engine/plan", "internal/engine/preview",
	"internal/engine/resultcache", "internal/engine/output", "internal/engine/script", "internal/engine/steps", "internal/service", "internal/engine/toolstate", "internal/lang/value", "internal/lang/valuetext", "internal/engine/runresult", "internal/engine/waiting"}

// inner lists the errors that do not reach an entry point, with the errors that replace them.
var inner = map[string]string{
	"dag.Cancel":              "the cause of a context",
	"dag.ErrReleased":         "the cause of a context",
	"dag.ErrTimeout":          "the cause of a context",
	"dag.StopWithin":          "the cause of a context",
	"expr.DashError":          "a problem with a parameter",
	"valuetext.ErrJavaScript": "the parser's sign for the compiler",
	"expr.ErrUnknown":         "a value that a preview does not know",
	"expr.RefusedError":       "a problem with a parameter",
	"valuetext.SizeError":     "a problem with a parameter, or a failed step",
	"runresult.RunError":      "for programs that ask a Result; entry points read the Result",
	"history.StateError":      "a failed run; flowrun state prints it",
	"jsrun.ErrNoHelper":       "a failed step, or a diagnostic",
	"jsrun.Error":             "a failed step, or a diagnostic",
	"registry.Refusal":        "an answer to a model already",
	"output.ErrLost":          "the reason in a WithheldError",
	"dag.ErrWithheld":         "the reason in a WithheldError",
	"cache.ErrDamaged":        "the step runs",
	"cache.ErrTooMany":        "a failed step",
	"cache.ErrNone":           "the step runs",
	"cache.InputError":        "a failed step",
	"cache.MissingError":      "a failed step",
	"cache.PatternError":      "a diagnostic",
	"dotenv.Problems":         "an EnvironmentError",
	"gostep.ExitError":        "the exit code of a step",
	"jsworld.TooLong":         "a failed step",
	"call.DatabaseError":      "the result of a step that asks a database",
	"permission.DeniedError":  "what a script catches",
	"value.ElementError":      "a problem with a parameter",
	"value.JSONError":         "what is wrong with a text from outside",
	"waiting.ErrNoApprover":   "the answer of a program's function",
}

// TestEveryErrorHasARow checks that every exported error of the engine is in the table, or in inner.
func TestEveryErrorHasARow(t *testing.T) {
	rows, found := named(t, "table.go"), map[string]bool{}
	for _, dir := range engine {
		files, err := filepath.Glob(filepath.Join("../../..", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, name := range declared(parse(t, file)) {
				found[name] = true
				if _, known := inner[name]; known == rows[name] {
					t.Errorf("%s: in the table is %v, in the list of inner errors is %v", name, rows[name], known)
				}
			}
		}
	}
	for name := range inner {
		if !found[name] {
			t.Errorf("there is no error %s", name)
		}
	}
	if len(found) < 40 {
		t.Errorf("found only %d errors", len(found))
	}
}

// declared returns the exported errors of a file, as package.Name: types with a method Error, and variables that are not
// another name of one.
func declared(f *ast.File) (names []string) {
	add := func(name string) {
		if ast.IsExported(name) {
			names = append(names, f.Name.Name+"."+name)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == "Error" && d.Recv != nil && d.Type.Params.NumFields() == 0 {
				of := d.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				add(of.(*ast.Ident).Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				v, ok := s.(*ast.ValueSpec)
				if !ok || d.Tok != token.VAR || len(v.Values) == 0 || !strings.HasPrefix(v.Names[0].Name, "Err") {
					continue
				}
				if _, other := v.Values[0].(*ast.SelectorExpr); !other {
					add(v.Names[0].Name)
				}
			}
		}
	}
	return names
}

// named returns the names that the rows of the table use, those of this package as outcome.Name.
func named(t *testing.T, file string) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(parse(t, file), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				names[x.Name+"."+n.Sel.Name] = true
			}
		case *ast.Ident:
			names["outcome."+n.Name] = true
		}
		return true
	})
	return names
}

func parse(t *testing.T, file string) *ast.File {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestOf checks that wrapped errors are found, that the subject comes from the error, and that the report of an unknown
// error does not show its text to callers.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		err     error
		code    string
		exit    int
		status  int
		subject string
		message string
	}{
		{fmt.Errorf("cannot: %w", &library.NotFoundError{Name: "x"}), "unknown-tool", 4, 404, "x", "there is no tool %q"},
		{fmt.Errorf("cannot: %w", history.ErrNoRun), "unknown-run", 4, 404, "", "there is no such run"},
		{&value.ParamsError{Tool: "x"}, outcome.CodeParams, 6, 422, "x", "invalid parameters for tool %s"},
		{&history.AmbiguousError{}, "internal", 2, 500, "", "the service could not process the request"},
		{&outcome.NoStateError{}, "internal", 5, 500, "", "the service could not process the request"},
		{&outcome.NoQueueError{}, "internal", 5, 500, "", "the service could not process the request"},
		{errors.Join(&library.NotFoundError{}, tool.Diagnostics{}), "invalid-definition", 3, 422, "", "the tool's definition is invalid"},
		{outcome.ErrRefused, "refused", 5, 403, "", "the approval policy refuses this tool"},
		{outcome.ErrDraining, "draining", 8, 503, "", "the service is stopping and starts no more runs"},
		{fmt.Errorf("cannot go on: %w", dag.ErrStuck), "internal", 70, 500, "", "the service could not process the request"},
		{errors.New("/home/x/secret"), "internal", 1, 500, "", "the service could not process the request"},
	} {
		r := outcome.Of(c.err)
		if r.Code != c.code || r.Exit != c.exit || r.Status != c.status || r.Subject != c.subject || r.Message != c.message {
			t.Errorf("%v: got %+v", c.err, r)
		}
	}
}

// TestExitCodes checks that the list of exit codes is complete.
func TestExitCodes(t *testing.T) {
	codes, names := outcome.ExitCodes(), 0
	for _, d := range parse(t, "exit.go").Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
			names += len(g.Specs)
		}
	}
	if len(codes) != names || len(slices.Compact(slices.Clone(codes))) != names || !slices.IsSorted(codes) {
		t.Errorf("%d exit codes have a name, and the list is %v", names, codes)
	}
	for _, r := range outcome.Rows() {
		if !slices.Contains(codes, r.Exit) {
			t.Errorf("%s: exit code %d is not in the list", r.Code, r.Exit)
		}
		if _, known := outcome.Answers[r.Answer]; !known {
			t.Errorf("%s: there is no answer %q", r.Code, r.Answer)
		}
	}
}

var cells = regexp.MustCompile("(?m)^\\| (`[^|]*) \\| (error|refused|timeout|cancelled) \\| (\\d+|as in `run`)[ ,]")

// TestDocumentedAnswers compares the table of codes in docs/reference/calls.md with the table of answers.
func TestDocumentedAnswers(t *testing.T) {
	written := map[string]outcome.Answer{}
	for _, m := range cells.FindAllStringSubmatch(page(t, "reference/calls.md"), -1) {
		exit, err := strconv.Atoi(m[3])
		if err != nil || m[1] == "`"+outcome.AnswerUsage+"`" { // the exit code is that of the error
			exit = outcome.ExitOfError
		}
		for _, code := range strings.Split(m[1], ", ") {
			written[strings.Trim(code, "`")] = outcome.Answer{Status: m[2], Exit: exit}
		}
	}
	if diff := cmp.Diff(outcome.Answers, written); diff != "" {
		t.Errorf("docs/reference/calls.md (-table +page):\n%s", diff)
	}
}

// TestDocumentedStatuses checks that docs/reference/api.md has a line for every HTTP status of the table.
func TestDocumentedStatuses(t *testing.T) {
	text := page(t, "reference/api.md")
	for _, r := range outcome.Rows() {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^\| (\d{3}, )*%d[, ]`, r.Status)).MatchString(text) {
			t.Errorf("docs/reference/api.md has no line for %d (%s)", r.Status, r.Code)
		}
	}
}

func page(t *testing.T, name string) string {
	b, err := os.ReadFile(filepath.Join("../../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
