package cli

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/test/needtest"
)

// TestExitCodesPage: the page lists all exit codes, and no others.
func TestExitCodesPage(t *testing.T) {
	var told []int
	for _, e := range exitCodes {
		code, err := strconv.Atoi(e.word)
		if err != nil {
			t.Error(err)
		}
		told = append(told, code)
	}
	if want := outcome.ExitCodes(); !slices.Equal(told, want) {
		t.Errorf("help exit-codes speaks of %v, flowrun exits with %v", told, want)
	}
}

// TestEnvironmentPage: help environment lists all variables that the code reads and all of
// flowrun's own, and no others.
func TestEnvironmentPage(t *testing.T) {
	told := map[string]bool{}
	for _, e := range slices.Concat(variablesRead, variablesOfTraces, variablesSet, variablesOfNotify) {
		told[e.word] = true
	}
	found := map[string]bool{"LC_ALL": true, "LC_CTYPE": true, "LC_MESSAGES": true, "LANG": true, "TMPDIR": true, "HOME": true} // a loop over names; the library's (os.UserHomeDir)
	own := regexp.MustCompile(`^FLOWRUN_[A-Z_]+`)
	for _, file := range goFiles(t) {
		ast.Inspect(parse(t, file), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && own.MatchString(text) {
					found[own.FindString(text)] = true
				}
			case *ast.CallExpr:
				if name, ok := variableRead(n); ok {
					found[name] = true
				}
			}
			return true
		})
	}
	delete(found, "FLOWRUN_FAILPOINT") // in test builds only
	delete(found, "FLOWRUN_CALL")      // from flowrun to its own program under Node.js, which takes it away
	for name := range found {
		if !told[name] {
			t.Errorf("help environment says nothing of %s", name)
		}
	}
	for name := range told {
		if !found[name] {
			t.Errorf("help environment speaks of %s, which nothing reads or sets", name)
		}
	}
}

// variableRead is the variable that a call of Getenv or LookupEnv names.
func variableRead(call *ast.CallExpr) (string, bool) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "Getenv" && f.Sel.Name != "LookupEnv" || len(call.Args) != 1 {
		return "", false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	name, err := strconv.Unquote(lit.Value)
	return name, err == nil
}

// goFiles are the source files of the program.
func goFiles(t *testing.T) []string {
	var files []string
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "bench" || strings.HasSuffix(d.Name(), "test") || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

func parse(t *testing.T, file string) *ast.File {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestExpressionsPage: the page describes all functions that a condition can call, and no others.
func TestExpressionsPage(t *testing.T) {
	told := map[string]bool{}
	for _, e := range functionsHelp {
		for _, word := range strings.Fields(e.word) {
			name, _, _ := strings.Cut(word, "(")
			told[name] = true
		}
	}
	known := map[string]bool{}
	for _, name := range expr.Functions() {
		known[name] = true
	}
	if !maps.Equal(told, known) {
		for name := range known {
			if !told[name] {
				t.Errorf("help expressions says nothing of %s", name)
			}
		}
		for name := range told {
			if !known[name] {
				t.Errorf("help expressions speaks of %s, which is not a function", name)
			}
		}
	}
}

// TestPagesAreNarrow: topics fit a terminal of 90 columns.
func TestPagesAreNarrow(t *testing.T) {
	for _, topic := range topics() {
		for line := range strings.Lines(topic.text()) {
			if len(line) > 89 {
				t.Errorf("%s: %d columns: %s", topic.name, len(line), line)
			}
		}
	}
}

// TestManPages: troff has nothing to complain about in any page.
func TestManPages(t *testing.T) {
	needtest.Programs(t, "groff")
	env := &ui.Env{}
	for _, c := range allCommands(rootCommand(env, nil, nil)) {
		var page, out, complaints bytes.Buffer
		if err := manPage(&page, c); err != nil {
			t.Fatal(err)
		}
		g := exec.Command("groff", "-man", "-Tascii", "-ww", "-rLL=100n")
		g.Stdin, g.Stdout, g.Stderr = bytes.NewReader(page.Bytes()), &out, &complaints
		if err := g.Run(); err != nil || complaints.Len() > 0 {
			t.Errorf("%s: %v\n%s", manName(c), err, complaints.String())
		}
		if !strings.Contains(out.String(), strings.ToUpper(manName(c))+"(1)") || out.Len() < 200 {
			t.Errorf("%s: not a page:\n%s", manName(c), out.String())
		}
	}
}

// TestHelpIsItsOwn: the help of every command is of that command, not of the one above it.
func TestHelpIsItsOwn(t *testing.T) {
	for _, c := range allCommands(rootCommand(&ui.Env{}, nil, nil)) {
		if c.IsAdditionalHelpTopicCommand() {
			continue
		}
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "\nUSAGE: "+c.CommandPath()) && !strings.Contains(out.String(), "Usage:\n  "+c.CommandPath()) {
			t.Errorf("the help of %s is of another command:\n%.200s", c.CommandPath(), &out)
		}
	}
}

// TestNamesOfCommands: every command has the name under which it is built, and is the only one that is
// built for it, unless it reads the whole tree.
func TestNamesOfCommands(t *testing.T) {
	all := commands(nil, nil)
	for _, c := range all {
		if built := c.Build(&ui.Env{}); built.Name() != c.Name {
			t.Errorf("flowrun %s is built as %s", built.Name(), c.Name)
		}
	}
	for word, want := range map[string]int{"version": 1, "explain-cache": 1, "man": len(all), "completion": len(all), "help": len(all), "no-such": len(all)} {
		if n := len(commands(nil, []string{word, "run"})); n != want {
			t.Errorf("flowrun %s: %d commands are built, want %d", word, n, want)
		}
	}
}
