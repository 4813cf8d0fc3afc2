package enginetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/js/bundle"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/tooltest"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/library"
)

// upstream has definitions in the manner of published ones, in one folder for each format, and the
// folder workspace, in which they run.
const upstream = "internal/test/enginetest/testdata/upstream"

// TestUpstreamFormats validates and runs definitions in the manner of those that people publish for other programs.
// Beside a definition is a golden file in the form of txtar: the section validate has its diagnostics, tests how its
// tests end, and "run PARAMETERS", with JSON, what a run gives. The runs of a file share a workspace and a state
// directory. A line "needs: PROGRAMS" may be in front.
func TestUpstreamFormats(t *testing.T) {
	t.Parallel()
	js := hooks.New(hooks.Config{})
	t.Cleanup(func() { js.Close() })
	for pattern, least := range map[string]int{"cycod/*.yaml": 15, "paperagents/*.md": 15, "promptx/*.tool.js": 15} {
		files, err := filepath.Glob(filepath.Join(upstream, pattern))
		if err != nil || len(files) < least {
			t.Fatalf("%s: found %d definitions, want at least %d (%v)", pattern, len(files), least, err)
		}
		tools := filepath.Join(t.TempDir(), "tools")
		if err := os.CopyFS(tools, os.DirFS(filepath.Dir(files[0]))); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, _ := filepath.Rel(upstream, file)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				upstreamFile(t, js, tools, file)
			})
		}
	}
}

// upstreamFile holds one definition against its golden file.
func upstreamFile(t *testing.T, js *hooks.Runtime, tools, file string) {
	golden := file + ".golden"
	want, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	upstreamHead(t, want)
	got := &txtar.Archive{Comment: want.Comment}
	p := newUpstreamProject(t, js, filepath.Join(tools, filepath.Base(file)))
	for _, section := range want.Files {
		got.Files = append(got.Files, txtar.File{Name: section.Name, Data: []byte(p.section(t, section.Name))})
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(txtar.Format(want)), string(txtar.Format(got))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// upstreamHead reads the lines in front of the sections. It skips the test if a program is missing.
func upstreamHead(t *testing.T, golden *txtar.Archive) {
	t.Helper()
	for line := range strings.Lines(string(golden.Comment)) {
		programs, ok := strings.CutPrefix(strings.TrimSpace(line), "needs: ")
		if !ok {
			t.Fatalf("unknown line %q", line)
		}
		needtest.Programs(t, strings.Fields(programs)...)
	}
}

// upstreamProject is a definition among copies of all of its format, with a workspace and an engine of its own.
type upstreamProject struct {
	dir, file string
	lib       *library.Library
	js        *hooks.Runtime
	engine    *engine.Engine
	plan      *engine.Plan // nil if the definition is invalid
	found     tool.Diagnostics
}

func newUpstreamProject(t *testing.T, js *hooks.Runtime, file string) *upstreamProject {
	t.Helper()
	dir := t.TempDir()
	err := os.CopyFS(filepath.Join(dir, "work"), os.DirFS(upstream+"/workspace"))
	if err != nil {
		t.Fatal(err)
	}
	lib := library.New(library.Config{WorkingDirectory: filepath.Join(dir, "work"), Home: dir, Getenv: func(string) string { return "" }})
	for _, extension := range hooks.Extensions() {
		lib.Handle(extension, hooks.Loader(hooks.LoaderConfig{Runtime: js, Bundle: upstreamBundle}))
	}
	eng := engine.New(engine.Config{StateDir: filepath.Join(dir, "state"), JavaScript: js})
	p := &upstreamProject{dir: dir, file: file, lib: lib, js: js, engine: eng}
	if p.plan, err = engine.Compile(lib, file); err == nil {
		p.found = p.plan.Warnings
	} else if !errors.As(err, &p.found) {
		t.Fatal(err)
	}
	return p
}

// upstreamBundle makes one module of a tool and what it imports.
func upstreamBundle(r hooks.BundleRequest) (*tool.Module, tool.Diagnostics) {
	ask := bundle.Request{File: r.File, Source: r.Source}
	for _, d := range r.Dependencies {
		ask.Packages = append(ask.Packages, d.Name)
	}
	var b bundle.Bundler
	result, bad := b.Bundle(ask)
	if bad.Err() != nil {
		return nil, bad
	}
	return &tool.Module{File: r.File, Code: result.Code, Map: result.Map}, append(bad, result.Diagnostics(r.Name, ask.Packages)...)
}

// section returns the text of a section of the golden file, without paths of this machine.
func (p *upstreamProject) section(t *testing.T, name string) string {
	t.Helper()
	text := ""
	switch params, isRun := strings.CutPrefix(name, "run "); {
	case name == "validate":
		for _, d := range p.found.Sorted() {
			text += d.String() + "\n"
		}
	case p.plan == nil:
		text = "invalid"
	case name == "tests":
		text = p.tests(t)
	case !isRun:
		t.Fatalf("section %q: want validate, tests or run PARAMETERS", name)
	default:
		text = p.run(t, params)
	}
	for _, dir := range []string{p.dir, filepath.Dir(filepath.Dir(p.file))} {
		text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
	}
	return folderHash.ReplaceAllString(text, "@HASH")
}

// folderHash is the part of a tool's data folder that depends on where the file is.
var folderHash = regexp.MustCompile(`@[0-9a-f]{16}\b`)

// tests returns how the tests of the definition end.
func (p *upstreamProject) tests(t *testing.T) (text string) {
	t.Helper()
	var cases []tooltest.Case
	for _, test := range p.plan.Definition.Tests {
		cases = append(cases, tooltest.Case{Tool: p.plan.Name(), Plan: p.plan, Test: test})
	}
	list, err := tooltest.Run(t.Context(), cases, tooltest.Options{Library: p.lib, JavaScript: p.js})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		text += fmt.Sprintf("%s: %s\n%s", o.Test.Name, o.Status, strings.Join(o.Details(), "\n"))
	}
	return text
}

// run returns what a run gives: its output or, if it failed, the reason.
func (p *upstreamProject) run(t *testing.T, params string) string {
	t.Helper()
	var given map[string]any
	decoder := json.NewDecoder(strings.NewReader(params))
	decoder.UseNumber()
	if err := decoder.Decode(&given); err != nil {
		t.Fatalf("%s: %v", params, err)
	}
	res, err := p.engine.Run(t.Context(), p.plan, given, engine.WithRunEnv(world(filepath.Join(p.dir, "work"))))
	if err != nil {
		return "refused: " + err.Error()
	}
	if res.Status == dag.Succeeded {
		return res.Output
	}
	text := fmt.Sprintf("%s: %s\n", res.Status, res.Message)
	for _, s := range res.Steps {
		switch {
		case s.Problem != nil:
			text += s.ID + ": " + s.Message + "\n"
			if !strings.Contains(s.Message, s.Problem.Solution) {
				text += "solution: " + s.Problem.Solution + "\n"
			}
		case s.Status == dag.Failed:
			text += strings.TrimRight(s.ID+": "+s.Message, " ") + "\n" + s.Error
		}
	}
	return text
}
