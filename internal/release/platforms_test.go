package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestPlatforms checks the types of the program for what is released and is not
// built on every submission: with the files, the constants and the word sizes
// of each system and processor. For one processor of each system it checks the packages that the program does not
// use too, and all tests. It makes no code and links nothing, which costs forty times as much; TestRelease does in the
// long size.
func TestPlatforms(t *testing.T) {
	needtest.Programs(t, "go")
	if raceEnabled {
		t.Skip("the race detector has nothing to see here")
	}
	needsModules(t)
	targets := map[string][]string{"windows/amd64": {"./cmd/flowrun"}}
	all := map[string][]string{
		"linux/arm64":   {"./cmd/flowrun"},
		"linux/386":     {"./cmd/flowrun"}, // install.sh sends those who have it to go install
		"linux/arm":     {"./cmd/flowrun"},
		"freebsd/amd64": {"./cmd/flowrun"},
		"windows/amd64": {"-test", "./..."},
		"windows/arm64": {"./cmd/flowrun"},
		"darwin/amd64":  {"./cmd/flowrun"},
		"darwin/arm64":  {"-test", "./..."},
	}
	for target, what := range sizetest.Of(targets, all, all) {
		t.Run(target, func(t *testing.T) {
			system, processor, _ := strings.Cut(target, "/")
			checkTypes(t, system, processor, what...)
		})
	}
}

// source is a package as go list reports it.
type source struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

// checkTypes type-checks packages and all they consist of: of other people's packages
// what they declare, of ours everything.
func checkTypes(t *testing.T, system, processor string, what ...string) {
	t.Helper()
	c := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module"}, what...)...)
	c.Dir = root
	c.Env = append(os.Environ(), "GOPROXY=off", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	known, ours := imports{"unsafe": types.Unsafe}, 0
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var s source
		if err := d.Decode(&s); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if s.ImportPath == "unsafe" || strings.HasSuffix(s.ImportPath, ".test") { // the latter has no source
			continue
		}
		if s.Module != nil && s.Module.Main {
			ours++
		}
		known[s.ImportPath] = known.check(t, s, processor)
	}
	if ours < 10 {
		t.Errorf("%d packages of this module were checked", ours)
	}
}

// imports are the packages checked so far, by path.
type imports map[string]*types.Package

func (known imports) check(t *testing.T, s source, processor string) *types.Package {
	t.Helper()
	files := token.NewFileSet()
	conf := types.Config{
		IgnoreFuncBodies: true,
		Sizes:            types.SizesFor("gc", processor),
		GoVersion:        strings.Join(strings.SplitN(runtime.Version(), ".", 3)[:2], "."),
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped, ok := s.ImportMap[path]; ok {
				path = mapped
			}
			return known[path], nil
		}),
		Error: func(err error) { t.Error(err) },
	}
	if s.Module != nil {
		conf.IgnoreFuncBodies = !s.Module.Main
		if s.Module.GoVersion != "" {
			conf.GoVersion = "go" + s.Module.GoVersion
		}
	}
	var parsed []*ast.File
	for _, name := range s.GoFiles {
		f, err := parser.ParseFile(files, filepath.Join(s.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	pkg, _ := conf.Check(s.ImportPath, files, parsed, nil)
	return pkg
}

// importer answers for a path. Packages come in the order of their imports, so that what
// is imported has been checked.
type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
