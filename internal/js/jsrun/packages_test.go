package jsrun

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/js/bundle"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

var update = flag.Bool("update", false, "write the page of npm packages")

// triedPackage is a line of testdata/packages.txt: a package, an expression with pkg (its default export, or all of
// them) and ns (all its exports), and why the value is not that of Node.js, if it is not.
type triedPackage struct{ name, version, expression, reason string }

func triedPackages(t *testing.T) (list []triedPackage) {
	t.Helper()
	text, err := os.ReadFile("testdata/packages.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "")
		at := strings.LastIndex(parts[0], "@")
		list = append(list, triedPackage{parts[0][:at], parts[0][at+1:], parts[1], parts[2]})
	}
	return list
}

// program returns a program that gives the value of the expression, or the message of what was thrown.
func (p triedPackage) program(imported string) program {
	return program{setup: []string{imported, "const pkg = ns.default ?? ns", "const tried = async f => { try { return show(await f()) } catch (e) { return 'threw ' + e.name + ': ' + e.message } }"},
		lines: []string{"await tried(async () => (" + p.expression + "))"}}
}

// TestPopularPackages bundles popular packages, runs an expression with each, and compares its value with that of
// Node.js.
func TestPopularPackages(t *testing.T) {
	sizetest.Need(t, sizetest.Long, "downloads 200 packages")
	node := nodeJS(t)
	npm := needtest.Program(t, "npm")
	list, dir := triedPackages(t), t.TempDir()
	args := []string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps", "--loglevel=error", "--prefix", dir}
	var inNode []string
	for _, p := range list {
		args = append(args, p.name+"@"+p.version)
		inNode = append(inNode, p.program(fmt.Sprintf("const ns = await import(%q)", p.name)).text())
	}
	if out, err := exec.Command(npm, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := node(dir, inNode)
	r := New(Config{Timeout: patience})
	defer r.Close()
	for i, p := range list {
		switch got, want := p.outputHere(t, r, dir), strings.Join(want[i], ""); {
		case (got == want) != (p.reason == ""):
			t.Errorf("%s@%s: %s\nhere:    %.500s\nNode.js: %.500s\nreason in testdata/packages.txt: %q", p.name, p.version, p.expression, got, want, p.reason)
		case strings.HasPrefix(want, `"threw `):
			t.Errorf("%s@%s: %s fails in Node.js: %.500s", p.name, p.version, p.expression, want)
		}
	}
}

// outputHere bundles a tool with the package, and runs it.
func (p triedPackage) outputHere(t *testing.T, r *Runtime, dir string) string {
	t.Helper()
	text := fmt.Sprintf("import * as ns from %q\nexport default { getMetadata: () => ({ id: 't', description: 'd' }), execute: async () => {\n%s} }", p.name, p.program("").text())
	file := filepath.Join(dir, "t.tool.js")
	result, bad := (&bundle.Bundler{}).Bundle(bundle.Request{File: file, Source: []byte(text)})
	if bad.Err() != nil {
		return "not bundled: " + bad.Err().Error()
	}
	raw, err := r.Call(context.Background(), Call{Script: CompileModule(&tool.Module{File: file, Code: result.Code, Map: result.Map}), Entry: "execute"})
	if err != nil {
		return "failed: " + err.Error()
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatalf("%s: %v: %s", p.name, err, raw)
	}
	return strings.Join(list, "")
}

// packagesPage is generated from testdata/packages.txt.
const packagesPage = "../../../docs/reference/npm-packages.md"

// TestPackagesPage checks that the page of npm packages says what TestPopularPackages checks.
func TestPackagesPage(t *testing.T) {
	var b bytes.Buffer
	var works, fails []triedPackage
	for _, p := range triedPackages(t) {
		if p.reason == "" {
			works = append(works, p)
		} else {
			fails = append(fails, p)
		}
	}
	fmt.Fprintf(&b, packagesHead, len(works)+len(fails), len(works))
	for i, p := range works {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "%s %s", p.name, p.version)
	}
	b.WriteString(".\n\n## Do not work\n\n| package | version | why |\n|---|---|---|\n")
	for _, p := range fails {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.name, p.version, p.reason)
	}
	if *update {
		if err := os.WriteFile(packagesPage, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(packagesPage); err != nil || !bytes.Equal(have, b.Bytes()) {
		t.Errorf("%s is out of date (%v): go test ./internal/js/jsrun -run PackagesPage -update", packagesPage, err)
	}
}

const packagesHead = `# Popular npm packages

Which packages work in a [tool](npm.md) without Node.js. flowrun bundled each of these %d packages, ran an expression
with it, and compared the value with that of Node.js: %d gave the same. A package that works here may have
functions that do not, above all those that use files, the network or processes.

This page is generated: ` + "`go test ./internal/js/jsrun -run PackagesPage -update`" + ` writes it from the list of expressions in
` + "`internal/js/jsrun/testdata/packages.txt`" + `.

## Work

`
