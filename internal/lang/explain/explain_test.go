package explain_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/explain"
	"github.com/flowrun/flowrun/internal/lang/lint"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

var update = flag.Bool("update", false, "rewrite docs/reference/diagnostics.md")

// TestEveryCodeHasAPage: what the source can answer with is explained, and nothing else.
func TestEveryCodeHasAPage(t *testing.T) {
	used := codes(t)
	for _, p := range lint.Practices() {
		used[p.Code] = "a practice"
	}
	pages := map[string]bool{}
	for _, p := range explain.Pages() {
		if p.Kind == explain.Definition || p.Kind == explain.Practice {
			pages[p.Code] = true
			if used[p.Code] == "" {
				t.Errorf("the page %s explains a code that nothing uses", p.Code)
			}
		}
		if p.Title == "" || strings.HasSuffix(p.Title, ".") || strings.TrimSpace(p.Text) == "" {
			t.Errorf("the page %s is not finished", p.Code)
		}
	}
	for code, at := range used {
		if !pages[code] {
			t.Errorf("%s uses the code %s, which has no page", at, code)
		}
	}
}

// TestOtherCodes: reasons of steps and runs, codes of parameters, errors of the HTTP API and
// exit codes have pages, and no other code of these kinds has one.
func TestOtherCodes(t *testing.T) {
	words := map[explain.Kind][]string{
		explain.Run:       reasons(t),
		explain.Error:     outcome.Codes(),
		explain.Parameter: {"missing", "unknown", "type", "validation", "transform", "default", "nul", "dash", "refused"},
	}
	for _, code := range outcome.ExitCodes() {
		words[explain.Exit] = append(words[explain.Exit], strconv.Itoa(code))
	}
	for kind, list := range words {
		var have []string
		for _, p := range explain.Pages() {
			if p.Kind == kind {
				have = append(have, p.Code)
			}
		}
		slices.Sort(list)
		slices.Sort(have)
		if diff := cmp.Diff(list, have); diff != "" {
			t.Errorf("pages of kind %s (-want +got):\n%s", kind, diff)
		}
	}
}

// TestRenamedCodes: scripts and notes of users may still have the old codes.
func TestRenamedCodes(t *testing.T) {
	for old, now := range map[string]string{"js-hole": "js-placeholder", "unsafe-hole": "unsafe-placeholder"} {
		if pages := explain.Find(old); len(pages) != 1 || pages[0].Code != now {
			t.Errorf("%s: found %v, want the page of %s", old, pages, now)
		}
	}
}

// unshown are the codes whose pages have no examples, because no text of a definition
// can show them or because it depends on the system.
var unshown = []string{"alias-bomb", "bad-approval", "bad-command", "bad-pool", "bad-search", "bad-webhook", "bundle", "closed-key", "duplicate-tool", "missing-package", "control-character", "file-too-large", "graph", "js-no-return", "more-problems", "nesting", "no-command", "no-function", "not-on-temporal", "not-utf-8", "tool-unloadable",
	"schema-name", "too-deep", "too-many-steps", "two-spellings", "unreadable", "unused-permission", "value-size", "windows-only"}

// TestExamples: what a page calls wrong gives its code, and what it calls right gives
// nothing at all.
func TestExamples(t *testing.T) {
	for _, p := range explain.Pages() {
		if p.Kind != explain.Definition && p.Kind != explain.Practice {
			continue
		}
		t.Run(p.Code, func(t *testing.T) {
			switch {
			case slices.Contains(unshown, p.Code):
				if p.Wrong != "" {
					t.Error("it has an example now: take it off the list")
				}
				return
			case p.Wrong == "" || p.Right == "":
				t.Fatal("no examples")
			}
			if ds := diagnostics(t, p.Wrong); !slices.ContainsFunc(ds, func(d tool.Diagnostic) bool { return d.Code == p.Code }) {
				t.Errorf("what is called wrong does not give it:\n%s\n%v", p.Wrong, ds)
			}
			for _, d := range diagnostics(t, p.Right) {
				if d.Severity != tool.Note || d.Code == p.Code {
					t.Errorf("what is called right gives %s\n%s", d, p.Right)
				}
			}
		})
	}
}

// scripts reads examples in JavaScript.
var scripts = hooks.New(hooks.Config{InProcess: true})

var fileLine = regexp.MustCompile(`(?m)^# file: (\S+)\n`)

// diagnostics writes the files of an example and answers all that is wrong with the
// first one.
func diagnostics(t *testing.T, example string) tool.Diagnostics {
	t.Helper()
	dir := t.TempDir()
	cuts := fileLine.FindAllStringSubmatchIndex(example, -1)
	if len(cuts) == 0 || cuts[0][0] > 0 {
		cuts = append([][]int{{0, 0, -1, -1}}, cuts...)
	}
	first := ""
	for i, cut := range cuts {
		end := len(example)
		if i+1 < len(cuts) {
			end = cuts[i+1][0]
		}
		text := example[cut[1]:end]
		name := nameOf(text) + ".yaml"
		if cut[2] >= 0 {
			name = example[cut[2]:cut[3]]
		}
		path := filepath.Join(dir, name)
		if i == 0 {
			first = path
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	lib := library.New(library.Config{WorkingDirectory: dir, Home: dir, Getenv: func(string) string { return "" }})
	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Runtime: scripts}))
	plan, err := engine.Compile(lib, first)
	var ds tool.Diagnostics
	if err != nil && !errors.As(err, &ds) {
		t.Fatal(err)
	}
	if plan != nil {
		ds = append(plan.Warnings, lint.Of(plan.Definition)...)
		if old, _, err := lib.Load(filepath.Join(dir, "old", filepath.Base(first))); err == nil {
			ds = append(ds, lint.Breaking(old, plan.Definition)...)
		}
	}
	return ds
}

func nameOf(text string) string {
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "name: "); ok {
			return strings.TrimSpace(name)
		}
	}
	return "demo"
}

// TestDocument keeps docs/reference/diagnostics.md what the pages say.
func TestDocument(t *testing.T) {
	const file = "../../../docs/reference/diagnostics.md"
	page := document()
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(b), "\r\n", "\n"), page); diff != "" {
		t.Errorf("%s is not fresh; run go test ./internal/lang/explain -run Document -update (-file +pages)\n%s", file, diff)
	}
}

func document() string {
	var b strings.Builder
	b.WriteString(`# Diagnostics and exit codes

This page explains every code that flowrun prints: what is wrong, and how to fix it. Most
codes have an example with the problem and the same example without it. In a terminal,
` + "`flowrun explain CODE`" + ` prints the same text. A test runs all examples.

`)
	for _, kind := range explain.Kinds() {
		fmt.Fprintf(&b, "- [%s](#%s)\n", kind.Title(), anchor(kind.Title()))
	}
	for _, kind := range explain.Kinds() {
		fmt.Fprintf(&b, "\n## %s\n", kind.Title())
		for _, p := range explain.Pages() {
			if p.Kind == kind {
				fmt.Fprintf(&b, "\n### %s\n\n**%s.** %s", p.Code, strings.ToUpper(p.Title[:1])+p.Title[1:], p.Text)
			}
		}
	}
	return b.String()
}

func anchor(title string) string {
	return strings.NewReplacer(" ", "-", "(", "", ")", "").Replace(strings.ToLower(title))
}
