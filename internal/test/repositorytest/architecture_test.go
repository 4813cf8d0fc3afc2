package repositorytest

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/flowrun/flowrun"

// folder is a part of the program: the packages at and below its paths may import each other, and those of the folders that
// it uses. docs/dev/architecture.md draws them.
type folder struct {
	name     string
	packages []string // paths; "" is the root package alone
	uses     []string // folders above it in the list, and test: packages for tests
}

// folders are the architecture, from what knows nothing of flowrun to what wires everything. A folder uses only folders
// before it.
var folders = []folder{
	{"os", []string{"internal/os"}, nil},
	{"dag", []string{"dag"}, nil},
	{"lang", []string{"internal/lang", "library"}, []string{"os"}},
	{"store", []string{"internal/store", "history"}, []string{"os", "dag", "lang"}},
	{"js", []string{"internal/js", "hooks"}, []string{"os", "lang"}},
	{"engine", []string{"internal/engine", "steps/egress", "steps/sqlclient"}, []string{"os", "dag", "lang", "store", "js"}},
	{"flowrun", []string{"", "tool", "expr", "steps"}, []string{"os", "dag", "lang", "store", "js", "engine"}},
	{"observe", []string{"internal/observe", "metrics"}, []string{"os", "dag", "lang", "store", "engine"}},
	{"screen", []string{"internal/screen"}, []string{"dag", "lang", "engine"}},
	{"argparse/node", []string{"internal/model/argparse/node"}, nil},
	{"argparse/schema", []string{"internal/model/argparse/schema"}, []string{"argparse/node"}},
	{"argparse/report", []string{"internal/model/argparse/report"}, []string{"argparse/schema"}},
	{"argparse/token", []string{"internal/model/argparse/token"}, []string{"argparse/node"}},
	{"argparse/lookahead", []string{"internal/model/argparse/lookahead"}, []string{"argparse/node", "argparse/schema", "argparse/report", "argparse/token"}},
	{"argparse/grammar", []string{"internal/model/argparse/grammar"}, []string{"argparse/node", "argparse/schema", "argparse/report", "argparse/token", "argparse/lookahead"}},
	{"argparse/find", []string{"internal/model/argparse/find"}, []string{"argparse/node", "argparse/schema", "argparse/report", "argparse/token", "argparse/lookahead", "argparse/grammar"}},
	{"argparse/bind", []string{"internal/model/argparse/bind"}, []string{"lang", "argparse/node", "argparse/schema", "argparse/report", "argparse/grammar"}},
	{"argparse", []string{"internal/model/argparse"}, []string{"argparse/node", "argparse/schema", "argparse/report", "argparse/grammar", "argparse/find", "argparse/bind"}},
	{"model", []string{"internal/model", "registry"}, []string{"os", "dag", "lang", "store", "engine", "flowrun", "argparse", "argparse/report"}},
	{"flowruntest", []string{"flowruntest"}, []string{"dag", "store", "js", "engine", "flowrun", "test"}},
	{"examples", []string{"examples"}, []string{"dag", "lang", "store", "flowrun"}},
	{"importer", []string{"internal/importer"}, []string{"lang"}},
	{"docs", []string{"docs"}, []string{"lang"}},
	{"service", []string{"internal/service"}, []string{"os", "dag", "lang", "store", "engine", "observe", "screen", "model", "docs"}},
	{"cli", []string{"internal/cli"}, []string{"os", "dag", "lang", "store", "js", "engine", "observe", "screen", "model", "argparse", "importer", "docs", "service"}},
	{"release", []string{"internal/release"}, []string{"os"}},
	{"cmd", []string{"cmd"}, []string{"os", "engine", "service", "cli"}},
	{"temporal", []string{"temporal"}, []string{"os", "dag", "lang", "store", "engine", "observe", "service", "cli"}},
}

// libraries are the packages that each outside library enters. Those of golang.org/x may enter every package, and the module
// for Temporal has the libraries of its go.mod to itself.
var libraries = map[string][]string{
	"github.com/VictoriaMetrics/easyproto":   {"internal/observe/series", "internal/observe/telemetry"},
	"github.com/bmatcuk/doublestar/v4":       {"internal/engine/cache"},
	"github.com/clipperhouse/displaywidth":   {"internal/screen/console"},
	"github.com/clipperhouse/uax29":          {"internal/js/jsnative"},
	"github.com/creack/pty":                  {"internal/engine/terminal"},
	"github.com/dop251/goja":                 {"internal/js/jscheck", "internal/js/jsworld"},
	"github.com/evanw/esbuild":               {"internal/js/bundle", "internal/service/ui/bundle"},
	"github.com/expr-lang/expr":              {"internal/lang/expr"},
	"github.com/go-sourcemap/sourcemap":      {"internal/js/jscheck"},
	"github.com/modelcontextprotocol/go-sdk": {"internal/model/mcpclient", "internal/service/mcp"},
	"github.com/munnerz/goautoneg":           {"internal/observe/series"},
	"github.com/pelletier/go-toml":           {"internal/model/clientconfig"},
	"github.com/prometheus":                  {"metrics"},
	"github.com/rogpeppe/go-internal":        {"internal/os/textdiff"},
	"github.com/spf13/cobra":                 {"internal/cli", "internal/cli/author", "internal/cli/complete", "internal/cli/doctor", "internal/cli/engines", "internal/cli/launch", "internal/cli/models", "internal/cli/past", "internal/cli/runs", "internal/cli/runview", "internal/cli/schedules", "internal/cli/serve", "internal/cli/servers", "internal/cli/settings", "internal/cli/state", "internal/cli/tools", "internal/cli/tools/addition", "internal/cli/tools/npm", "internal/cli/tools/page", "internal/cli/ui"},
	"github.com/spf13/pflag":                 {"internal/cli/ui"},
	"github.com/tailscale/hujson":            {"internal/model/clientconfig"},
	"github.com/yosida95/uritemplate":        {"internal/service/mcp"},
	"github.com/yuin/goldmark":               {"internal/service/docsite"},
	"golang.org/x/mod":                       {"internal/lang/version"},
	"golang.org/x/oauth2":                    {"internal/model/mcpclient"},
	"golang.org/x/sys":                       {"internal/observe/series"},
	"google.golang.org/protobuf":             {"metrics"},
	"gopkg.in/yaml.v3":                       {"internal/lang/decode", "internal/lang/keytable", "internal/lang/rewrite", "internal/lang/schemaparams", "internal/lang/tool"},
	"modernc.org/sqlite":                     {"internal/store/sqlite"},
	"zombiezen.com/go/sqlite":                {"steps/sqlclient"},
	"github.com/jackc/pgx/v5":                {"steps/sqlclient"},
	"mvdan.cc/sh/v3":                         {"internal/lang/lostfailure", "internal/lang/quoting/sh"},
}

// families are the packages with commands: each has a function Commands.
var families = []string{"internal/cli/author", "internal/cli/doctor", "internal/cli/models", "internal/cli/past", "internal/cli/runs", "internal/cli/schedules", "internal/cli/serve", "internal/cli/servers", "internal/cli/settings", "internal/cli/state", "internal/cli/tools"}

// folderOf returns the folder of a package, nil if it is in none.
func folderOf(pkg string) (found *folder) {
	longest := -1
	for i := range folders {
		for _, path := range folders[i].packages {
			if in := pkg == path || path != "" && strings.HasPrefix(pkg, path+"/"); in && len(path) > longest {
				found, longest = &folders[i], len(path)
			}
		}
	}
	return found
}

// TestFolders checks that a folder uses only folders before it.
func TestFolders(t *testing.T) {
	t.Chdir(top)
	before := []string{"test"}
	for _, f := range folders {
		for _, used := range f.uses {
			if !slices.Contains(before, used) {
				t.Errorf("folder %s uses %s, which is not before it", f.name, used)
			}
		}
		before = append(before, f.name)
	}
}

// TestImports holds every import of the code (tests left out) against the tables.
func TestImports(t *testing.T) {
	t.Chdir(top)
	for pkg, files := range sources(t) {
		from := folderOf(pkg)
		if from == nil {
			t.Errorf("package %q is in no folder of the table", pkg)
			continue
		}
		for _, file := range files {
			for _, path := range imports(t, file) {
				inner, ours := strings.CutPrefix(path, module)
				switch {
				case ours && !mayUse(from, strings.TrimPrefix(inner, "/")):
					t.Errorf("%s imports %q, which folder %s may not", file, path, from.name)
				case ours, !strings.Contains(strings.Split(path, "/")[0], "."), strings.HasPrefix(path, "golang.org/x/"), from.name == "temporal":
				case !mayEnter(path, pkg):
					t.Errorf("%s imports %s, which may not enter %q", file, path, pkg)
				}
			}
		}
	}
}

// mayUse reports whether packages of a folder may import this package.
func mayUse(from *folder, pkg string) bool {
	if strings.HasPrefix(pkg, "internal/test/") {
		return slices.Contains(from.uses, "test")
	}
	to := folderOf(pkg)
	return to != nil && (to == from || slices.Contains(from.uses, to.name))
}

// mayEnter reports whether a package may import this outside library.
func mayEnter(path, pkg string) bool {
	for library, packages := range libraries {
		if path == library || strings.HasPrefix(path, library+"/") {
			return slices.Contains(packages, pkg)
		}
	}
	return false
}

// TestCommandLine bounds the packages of the command line, and the state that commands share.
func TestCommandLine(t *testing.T) {
	t.Chdir(top)
	const maxLines, maxMethods = 3400, 40
	method := regexp.MustCompile(`(?m)^func \(env \*Env\)`)
	methods := 0
	for pkg, files := range sources(t) {
		if pkg != "internal/cli" && !strings.HasPrefix(pkg, "internal/cli/") {
			continue
		}
		lines, commands := 0, false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
			commands = commands || bytes.Contains(text, []byte("\nfunc Commands("))
			methods += len(method.FindAll(text, -1))
		}
		if lines > maxLines {
			t.Errorf("%s has %d lines, more than %d", pkg, lines, maxLines)
		}
		if family := slices.Contains(families, pkg); family != commands {
			t.Errorf("%s: a family of commands is %v, has a function Commands is %v", pkg, family, commands)
		}
	}
	if methods == 0 || methods > maxMethods {
		t.Errorf("Env has %d methods, want 1 to %d", methods, maxMethods)
	}
}

// TestStepKinds keeps what a kind of step is in two places: package tool, which reads it, and
// one file of package compile. All others ask for a step's body, or for what its plan says.
func TestStepKinds(t *testing.T) {
	t.Chdir(top)
	body, err := os.ReadFile("internal/lang/tool/body.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+) +Kind = "`).FindAllSubmatch(body, -1) {
		names = append(names, string(m[1]))
	}
	if len(names) == 0 {
		t.Fatal("internal/lang/tool/body.go declares no kinds")
	}
	use := regexp.MustCompile(`\btool\.(` + strings.Join(names, "|") + `)\b`)
	for _, files := range sources(t) {
		for _, file := range files {
			if ok, _ := filepath.Match("internal/engine/compile/kind_*.go", filepath.ToSlash(file)); ok {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := use.Find(text); found != nil {
				t.Errorf("%s uses %s: ask for the step's body, or for what its plan says", file, found)
			}
		}
	}
}

// sources are the Go files of each package that has a place in the product.
func sources(t *testing.T) map[string][]string {
	list := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" ||
			(strings.HasPrefix(path, "internal/") || strings.HasPrefix(path, "temporal/")) && strings.HasSuffix(path, "test")) { // for tests of other packages
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			dir := filepath.ToSlash(filepath.Dir(path))
			if dir == "." {
				dir = ""
			}
			list[dir] = append(list[dir], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func imports(t *testing.T, file string) []string {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, s := range f.Imports {
		path, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, path)
	}
	return list
}

// TestEmbeddingStaysLight keeps what an embedding program does not need out of
// the root package's dependencies.
func TestEmbeddingStaysLight(t *testing.T) {
	t.Chdir(top)
	out, err := exec.Command("go", "list", "-deps", module).Output()
	if err != nil {
		t.Skipf("go list does not run here: %v", err)
	}
	root := folderOf("")
	allowed := []string{"github.com/dlclark/regexp2", "github.com/dop251/goja", "github.com/go-sourcemap/sourcemap", "github.com/google/pprof/profile", "github.com/clipperhouse/uax29/v2", "github.com/bmatcuk/doublestar/v4", "github.com/creack/pty", "github.com/expr-lang/expr", "mvdan.cc/sh/v3", "gopkg.in/yaml.v3"}
	for _, dep := range strings.Fields(string(out)) {
		inner, ours := strings.CutPrefix(dep, module)
		standard := !strings.Contains(strings.Split(dep, "/")[0], ".") && dep != "net/http"
		switch {
		case ours && mayUse(root, strings.TrimPrefix(inner, "/")), standard, strings.HasPrefix(dep, "golang.org/x/"):
		case slices.ContainsFunc(allowed, func(l string) bool { return dep == l || strings.HasPrefix(dep, l+"/") }):
		default:
			t.Errorf("the root package depends on %s", dep)
		}
	}
}
