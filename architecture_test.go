package flowrun_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/flowrun/flowrun"

// cellar is the floor below the first: what stands there uses the standard library
// alone, and knows nothing of flowrun.
const cellar = -1

// house is the architecture: for every package, its floor, the packages of this
// module it may import and the outside libraries that have their one room there.
// Imports point down only. The table is the diagram; docs/architecture.md tells
// the story. A fraction is the floor of a package that serves one part of the house alone.
var house = map[string]struct {
	floor     float64
	uses      []string
	libraries []string
}{
	"dag":                 {0, nil, nil},
	"internal/proc":       {0, nil, nil},
	"internal/dotenv":     {0, nil, nil},
	"internal/cache":      {1, []string{"internal/proc"}, []string{"github.com/bmatcuk/doublestar/v4"}},
	"expr":                {0, []string{"internal/codeenv"}, []string{"github.com/expr-lang/expr", "mvdan.cc/sh/v3"}},
	"internal/diagnostic": {-0.6, nil, nil},
	"internal/keytable":   {-0.3, []string{"internal/diagnostic"}, []string{"gopkg.in/yaml.v3"}},
	"tool":                {0, []string{"internal/diagnostic", "internal/home", "internal/jsonschema", "internal/keytable", "internal/ownership"}, []string{"gopkg.in/yaml.v3", "github.com/yuin/goldmark"}},
	"steps":               {1, []string{"dag", "expr", "internal/codeenv", "internal/dotenv", "internal/proc"}, []string{"github.com/creack/pty"}},
	"internal/helper":     {1, []string{"internal/proc"}, nil},
	"internal/jscheck":    {0.2, []string{"tool"}, []string{"github.com/dop251/goja", "github.com/go-sourcemap/sourcemap"}},
	"internal/jsworld":    {0.5, []string{"internal/jscheck", "tool"}, []string{"github.com/dop251/goja"}},
	"hooks":               {1, []string{"internal/jscheck", "internal/jsworld", "tool"}, nil},
	"metrics":             {1, []string{"dag"}, []string{"github.com/prometheus/client_golang"}},
	"":                    {2, []string{"dag", "expr", "tool", "steps", "hooks", "internal/dotenv", "internal/proc", "internal/helper", "internal/cache", "internal/atomicfile", "internal/codeenv", "internal/cron", "internal/home", "internal/nearby", "internal/ownership"}, nil},
	"flowruntest":         {3, []string{"", "dag", "hooks", "steps", "internal/storetest"}, nil},
	"internal/console":    {3, []string{"dag", "internal/findings"}, nil},
	"internal/watch":      {3, []string{"internal/cache"}, nil},
	"internal/starter":    {3, []string{"internal/atomicfile"}, nil},
	"internal/sqlite":     {3, []string{"", "dag", "tool", "internal/proc"}, []string{"modernc.org/sqlite"}},
	"internal/trial":      {3, []string{"", "dag", "hooks", "tool"}, nil},
	"internal/catalog":    {3, []string{"", "tool"}, nil},
	"internal/nearby":     {0, nil, nil},
	"internal/repair":     {0, nil, nil},
	"internal/netclient":  {3, []string{""}, nil},
	"internal/notice":     {3, []string{"", "dag", "expr", "tool", "internal/proc"}, nil},
	"internal/policy":     {3, nil, nil},
	"internal/service":    {3, []string{"", "dag", "tool", "internal/home"}, nil},
	"internal/listing":    {3, []string{"", "dag"}, nil},
	"internal/runlog":     {3, []string{"", "dag", "steps"}, nil},
	"internal/config":     {3, []string{"tool", "dag", "internal/atomicfile", "internal/home", "internal/keytable", "internal/ownership"}, nil},
	"internal/cli": {4, []string{
		"",
		"dag",
		"internal/builtin",
		"internal/discovery",
		"internal/repair",
		"registry",
		"internal/advice",
		"hooks",
		"internal/atomicfile",
		"internal/bundle",
		"internal/catalog",
		"internal/config",
		"internal/console",
		"internal/cron",
		"internal/explain",
		"internal/findings",
		"internal/funcschema",
		"internal/mend",
		"internal/notice",
		"internal/ownership",
		"internal/policy",
		"internal/netclient",
		"internal/proc",
		"internal/home",
		"internal/listing",
		"internal/runlog",
		"internal/schedule",
		"internal/service",
		"internal/sqlite",
		"internal/starter",
		"internal/telemetry",
		"internal/trial",
		"internal/watch",
		"metrics",
		"steps",
		"tool",
	}, []string{"github.com/spf13/cobra"}},
	"internal/web": {4, []string{
		"",
		"dag",
		"internal/config",
		"internal/console",
		"internal/funcschema",
		"internal/listing",
		"internal/runlog",
		"internal/service",
		"steps",
		"tool",
	}, nil},
	"cmd/flowrun": {5, []string{"", "internal/cli", "internal/proc", "internal/service", "internal/web"}, nil},

	"registry":            {3, []string{"", "dag", "tool", "internal/funcschema", "internal/repair"}, nil},
	"internal/builtin":    {3, []string{"", "expr", "tool", "internal/atomicfile", "internal/cache", "internal/home", "internal/nearby", "internal/proc"}, []string{"github.com/rogpeppe/go-internal"}},
	"internal/discovery":  {1, []string{"expr", "tool", "internal/proc"}, nil},
	"internal/telemetry":  {3, []string{"dag"}, []string{"go.opentelemetry.io/proto/otlp", "google.golang.org/protobuf"}},
	"internal/funcschema": {1, []string{"tool"}, nil},
	"internal/atomicfile": {1, nil, nil},
	"internal/cron":       {0, nil, nil},
	"internal/home":       {cellar, nil, nil},
	"internal/jsonschema": {cellar, nil, nil},
	"internal/codeenv":    {cellar, nil, nil},
	"internal/ownership":  {cellar, nil, nil},
	"internal/schedule":   {3, []string{"internal/cron"}, nil},
	"internal/release":    {0, nil, nil},
	"internal/explain":    {0, nil, nil},
	"internal/findings":   {1, []string{"tool", "internal/explain"}, nil},
	"internal/advice":     {1, []string{"tool"}, nil},
	"internal/bundle":     {3, []string{"internal/atomicfile", "tool"}, []string{"github.com/evanw/esbuild"}},
	"internal/mend":       {3, []string{"tool", "internal/advice"}, nil},
}

// shared are the libraries of more than one package: what the table of keys reads, tool
// checks node by node.
var shared = map[string][]string{"gopkg.in/yaml.v3": {"internal/keytable", "tool"}}

// TestHouse holds every import of the code (tests left out) against the table.
func TestHouse(t *testing.T) {
	rooms := map[string]string{} // library -> package
	for pkg, files := range sources(t) {
		room, known := house[pkg]
		if !known {
			t.Errorf("package %q has no place in the house: add it to the table", pkg)
			continue
		}
		for _, file := range files {
			for _, path := range imports(t, file) {
				inner, ours := strings.CutPrefix(path, module)
				inner = strings.TrimPrefix(inner, "/")
				switch {
				case ours && !slices.Contains(room.uses, inner):
					t.Errorf("%s imports %q, which %q may not", file, inner, pkg)
				case ours && house[inner].floor >= room.floor:
					t.Errorf("%s imports %q, which is not below it", file, inner)
				case ours || !strings.Contains(strings.Split(path, "/")[0], "."):
				case strings.HasPrefix(path, "golang.org/x/") && room.floor > 0:
				case !slices.ContainsFunc(room.libraries, func(l string) bool { return path == l || strings.HasPrefix(path, l+"/") }):
					t.Errorf("%s imports %s, which may not enter %q", file, path, pkg)
				default:
					if other := rooms[path]; other != "" && other != pkg && !(slices.Contains(shared[path], pkg) && slices.Contains(shared[path], other)) {
						t.Errorf("%s enters both %q and %q", path, pkg, other)
					}
					rooms[path] = pkg
				}
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
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || path == "bench" ||
			strings.HasPrefix(path, "internal/") && strings.HasSuffix(path, "test")) { // for tests of other packages
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
	out, err := exec.Command("go", "list", "-deps", module).Output()
	if err != nil {
		t.Skipf("go list does not run here: %v", err)
	}
	allowed := []string{"github.com/dlclark/regexp2", "github.com/dop251/goja", "github.com/go-sourcemap/sourcemap", "github.com/google/pprof/profile", "github.com/yuin/goldmark", "github.com/bmatcuk/doublestar/v4", "github.com/creack/pty", "github.com/expr-lang/expr", "mvdan.cc/sh/v3", "gopkg.in/yaml.v3"}
	for _, dep := range strings.Fields(string(out)) {
		inner, ours := strings.CutPrefix(dep, module)
		standard := !strings.Contains(strings.Split(dep, "/")[0], ".") && dep != "net/http"
		switch {
		case ours && house[strings.TrimPrefix(inner, "/")].floor <= 2, standard, strings.HasPrefix(dep, "golang.org/x/"):
		case slices.ContainsFunc(allowed, func(l string) bool { return dep == l || strings.HasPrefix(dep, l+"/") }):
		default:
			t.Errorf("the root package depends on %s", dep)
		}
	}
}
