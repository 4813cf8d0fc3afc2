package bundle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/js/bundle"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// tree writes files, given as names and texts, into a new folder.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func request(t *testing.T, dir, name string) bundle.Request {
	t.Helper()
	file := filepath.Join(dir, name)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bundle.Request{File: file, Source: text}
}

func bundled(t *testing.T, b *bundle.Bundler, r bundle.Request) bundle.Result {
	t.Helper()
	result, bad := b.Bundle(r)
	if bad != nil {
		t.Fatal(bad)
	}
	return result
}

// run evaluates a bundle in goja and returns the text of an expression over module.
func run(t *testing.T, code []byte, expression string) string {
	t.Helper()
	vm := goja.New()
	script := "var log=[]; var module={exports:{}}; (function(module, exports, require){" + string(code) +
		"\n})(module, module.exports, n => { throw new Error('no ' + n) }); new Promise(r => r(" + expression + ")).then(v => answer = String(v), e => answer = 'thrown: ' + e); "
	if _, err := vm.RunString("var answer; " + script); err != nil {
		t.Fatalf("%v\n%s", err, code)
	}
	return vm.Get("answer").String()
}

// TestForms checks that every form of module becomes CommonJS that goja runs.
func TestForms(t *testing.T) {
	dir := tree(t,
		"object.tool.js", `module.exports = { execute() { return 'object'; } };`,
		"esm.tool.js", "import { word } from './words.mjs';\nimport data from './data.json';\nexport default { execute: () => word + data.n };",
		"words.mjs", `export const word = 'esm';`,
		"data.json", `{"n": 7}`,
		"typed.tool.ts", "import { twice } from './twice.js';\nenum Mode { A = 1, B }\nexport default class T { private n: number = Mode.B; execute(): string { return `typed${twice(this.n)}`; } }",
		"twice.ts", `export const twice = (n: number): number => 2 * n;`,
		"circle.tool.js", "const b = require('./b.js');\nexports.name = 'circle'; exports.execute = () => b.back();",
		"b.js", `const a = require('./circle.tool.js'); exports.back = () => a.name;`,
		"modern.tool.js", `export default { async execute() {
			async function* numbers() { yield 1; yield 2; }
			let sum = 0;
			for await (const n of numbers()) sum += n;
			const own = { async *[Symbol.asyncIterator]() { yield 10; } };
			for await (const n of own) sum += n;
			class A { static #n = 5; static { sum += A.#n; } }
			const { word } = await import('./words.mjs');
			return word + sum + (null ?? 1) + ({ a: { b: 1 } }).a?.b + 1_0 + 2n ** 3n;
		} };`,
		"odd.tool.js", `exports.execute = () => { const find = () => /[\p{L}--[a-z]]/v; return 'odd'; };`,
	)
	for name, want := range map[string]string{
		"object.tool.js": "object", "esm.tool.js": "esm7", "typed.tool.ts": "typed4",
		"circle.tool.js": "circle", "modern.tool.js": "esm1811108", "odd.tool.js": "odd",
	} {
		var b bundle.Bundler
		got := run(t, bundled(t, &b, request(t, dir, name)).Code, "(m => { const d = m.default ?? m; return (typeof d == 'function' ? new d() : d).execute() })(module.exports)")
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestPackages: packages come from beside the tool, then from the cache; importx reaches
// those that are only named; what is nowhere throws when it is reached, not before
// (issue 7 part 4).
func TestPackages(t *testing.T) {
	dir := tree(t,
		".git/HEAD", "",
		"node_modules/above/index.js", `module.exports = 'above';`,
		"tools/a.tool.js", `const near = require('near'), above = require('above'), deep = require('@s/deep/part');
			let maybe; try { maybe = require('absent') } catch (e) { maybe = e.message }
			exports.execute = () => [near, above, deep, maybe].join();`,
		"tools/node_modules/near/package.json", `{"main": "lib/main.js"}`,
		"tools/node_modules/near/lib/main.js", `module.exports = 'near';`,
		"cache/node_modules/near/index.js", `module.exports = 'far';`,
		"cache/node_modules/@s/deep/part.js", `module.exports = 'deep';`,
		"cache/node_modules/named/package.json", `{"module": "m.mjs", "main": "m.cjs"}`,
		"cache/node_modules/named/m.mjs", `export const who = 'module';`,
		"cache/node_modules/named/m.cjs", `exports.who = 'main';`,
	)
	r := request(t, dir, "tools/a.tool.js")
	r.Installed = filepath.Join(dir, "cache", "node_modules")
	r.Packages = []string{"named", "gone"}
	var b bundle.Bundler
	result := bundled(t, &b, r)
	if got, want := run(t, result.Code, "module.exports.execute()"), "near,above,deep,no absent"; got != want {
		t.Errorf("execute: %q, want %q", got, want)
	}
	if got := run(t, result.Code, "module.packages.named().then(m => m.who)"); got != "module" {
		t.Errorf("a package that is only named: %q", got)
	}
	if got := run(t, result.Code, "module.packages.gone()"); got != "thrown: Error: no gone" {
		t.Errorf("a package that is nowhere: %q", got)
	}
	if diff := cmp.Diff([]string{"@s/deep", "above", "named", "near"}, result.Packages); diff != "" {
		t.Error(diff)
	}
	var lines []string
	for _, d := range result.Diagnostics("a", r.Packages) {
		lines = append(lines, strings.TrimPrefix(d.String(), dir+"/tools/"))
	}
	want := []string{
		"a.tool.js:2:37: warning[missing-package]: the npm package absent is not installed; calls that need it fail; list it in getDependencies and run flowrun tool deps, or add it to node_modules next to the tool",
		"a.tool.js:1:1: warning[missing-package]: the npm package gone is not installed; calls that need it fail; install it with flowrun tool deps a",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// importx loads the parts of packages that it is called with, under all of its names.
func TestImportxNames(t *testing.T) {
	dir := tree(t,
		".git/HEAD", "",
		"tools/a.tool.js", `exports.execute = async () => [await importx('db/promise'), await loadModule("@s/deep/lib.js"), await this.api.importModule( 'plain' ), await importx('fs'), await importx('node:path'), await importx('./near.js'), await importx(name)];`,
		"tools/node_modules/db/index.js", `module.exports = 'db';`,
		"tools/node_modules/db/promise.js", `module.exports = 'promised db';`,
		"tools/node_modules/@s/deep/lib.js", `module.exports = 'deep lib';`,
		"tools/node_modules/plain/index.js", `module.exports = 'plain';`,
	)
	r := request(t, dir, "tools/a.tool.js")
	r.Packages = []string{"db"}
	var b bundle.Bundler
	result := bundled(t, &b, r)
	for name, want := range map[string]string{"db": "db", "db/promise": "promised db", "@s/deep/lib.js": "deep lib", "plain": "plain"} {
		if got := run(t, result.Code, "module.packages['"+name+"']().then(m => m.default)"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := run(t, result.Code, "Object.keys(module.packages).length"); got != "4" {
		t.Errorf("%s packages can be loaded", got)
	}
	if len(result.Missing) > 0 {
		t.Errorf("missing: %v", result.Missing)
	}
}

// TestBeyond checks that packages above the repository are not used, and those of the cache
// are.
func TestBeyond(t *testing.T) {
	dir := tree(t,
		"node_modules/p/index.js", `module.exports = 'beyond';`,
		"node_modules/q/index.js", `module.exports = 'beyond';`,
		"cache/node_modules/p/index.js", `module.exports = 'cache';`,
		"repository/.git/HEAD", "",
		"repository/a.tool.js", `exports.execute = () => { let q; try { q = require('q') } catch (e) { q = e.message } return require('p') + ',' + q; };`,
	)
	r := request(t, dir, "repository/a.tool.js")
	r.Installed = filepath.Join(dir, "cache", "node_modules")
	var b bundle.Bundler
	result := bundled(t, &b, r)
	if got := run(t, result.Code, "module.exports.execute()"); got != "cache,no q" {
		t.Errorf("%q", got)
	}
	if len(result.Missing) != 1 || result.Missing[0].Name != "q" {
		t.Errorf("missing: %v", result.Missing)
	}
}

// TestNodeModules checks that modules of Node.js stay as require, and that a package may
// replace one for browsers.
func TestNodeModules(t *testing.T) {
	dir := tree(t,
		"a.tool.js", `const path = require('node:path'); const { readFile } = require('fs/promises'); module.exports = { e: require('light') };`,
		"node_modules/light/package.json", `{"browser": {"fs": false, "./node.js": "./web.js", "./no.js": false}}`,
		"node_modules/light/index.js", `exports.fs = JSON.stringify(require('fs')); exports.kind = require('./node.js'); exports.os = require('os'); require('./no.js');`,
		"node_modules/light/no.js", `throw 'not for browsers'`,
		"node_modules/light/node.js", `module.exports = 'node'`,
		"node_modules/light/web.js", `module.exports = 'web'`,
	)
	var b bundle.Bundler
	code := string(bundled(t, &b, request(t, dir, "a.tool.js")).Code)
	for _, want := range []string{`require("path")`, `require("fs/promises")`, `require("os")`, "web"} {
		if !strings.Contains(code, want) {
			t.Errorf("no %s in\n%s", want, code)
		}
	}
	if strings.Contains(code, `require("fs")`) || strings.Contains(code, "not for browsers") {
		t.Errorf("the package goes without fs:\n%s", code)
	}
}

// TestBrowserField: what package.json says for browsers holds for every spelling of an import.
func TestBrowserField(t *testing.T) {
	dir := tree(t,
		"a.tool.js", `exports.execute = () => JSON.stringify(require('p'));`,
		"node_modules/p/package.json", `{"browser": {"./extra.js": false, "./util.inspect": false, "./lib": false, "./lib/index.js": false, "gone": false, "other": false, "swapped": "./own.js", "fs": "./fs-browser"}}`,
		"node_modules/p/index.js", `module.exports = [require('./extra'), require('./extra.js'), require('./util.inspect'), require('./lib'), require('gone'), require('other'), require('swapped'), require('fs'), require('./sub/deep')];`,
		"node_modules/p/extra.js", `throw 'extra'`,
		"node_modules/p/util.inspect.js", `throw 'util.inspect'`,
		"node_modules/p/lib/index.js", `throw 'lib'`,
		"node_modules/p/own.js", `module.exports = 'own'`,
		"node_modules/p/fs-browser.js", `module.exports = 'no files'`,
		"node_modules/p/sub/deep.js", `import extra, { x } from '../extra'; import swapped from 'swapped'; export default [Object.keys(extra).length, typeof x, swapped];`,
		"node_modules/other/index.js", `throw 'other'`,
		"node_modules/swapped/index.js", `throw 'swapped'`,
	)
	var b bundle.Bundler
	result := bundled(t, &b, request(t, dir, "a.tool.js"))
	want := `[{},{},{},{},{},{},"own","no files",{"default":[0,"undefined","own"]}]`
	if got := run(t, result.Code, "module.exports.execute()"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"fs", "other", "p", "swapped"}, result.Packages); diff != "" {
		t.Error(diff)
	}
}

// TestPageOrNode: a package whose file for browsers needs a page is bundled as for Node.js, if its other file can run
// here, with everything that it imports.
func TestPageOrNode(t *testing.T) {
	dir := tree(t,
		"a.tool.js", `exports.execute = () => [require('main'), require('map'), require('exported'), require('server'), require('both'), require('plain')].join();`,
		"node_modules/main/package.json", `{"main": "node.js", "browser": "web.js"}`,
		"node_modules/main/node.js", `module.exports = 'node' + require('path').sep + process.env.NODE_ENV`,
		"node_modules/main/web.js", `module.exports = document.title`,
		"node_modules/map/package.json", `{"main": "node.js", "browser": {"./node.js": "./web.js", "dom": false, "./part": "./part-web.js"}}`,
		"node_modules/map/node.js", `const o = { document: f => f }; function process () {} process.call(o.document.call); module.exports = 'node ' + require('dom') + require('./part')`,
		"node_modules/map/part.js", `module.exports = ' part'`,
		"node_modules/map/part-web.js", `throw 'part-web'`,
		"node_modules/map/web.js", `module.exports = window.document`,
		"node_modules/dom/index.js", `module.exports = 'dom'`,
		"node_modules/exported/package.json", `{"exports": {".": {"browser": "./web.js", "default": "./node.js"}}}`,
		"node_modules/exported/node.js", `module.exports = 'default'`,
		"node_modules/exported/web.js", `module.exports = document.body`,
		"node_modules/server/package.json", `{"main": "node.js", "browser": "web.js"}`,
		"node_modules/server/node.js", `throw require('http')`,
		"node_modules/server/web.js", `module.exports = typeof document === 'undefined' ? 'no page' : document.title`,
		"node_modules/both/package.json", `{"main": "node.js", "browser": "web.js"}`,
		"node_modules/both/node.js", `throw process.argv`,
		"node_modules/both/web.js", `module.exports = typeof window === 'undefined' ? 'no window' : window.name`,
		"node_modules/plain/index.js", `module.exports = typeof document === 'undefined' ? 'guarded' : document.title`,
	)
	var b bundle.Bundler
	result := bundled(t, &b, request(t, dir, "a.tool.js"))
	code := strings.ReplaceAll(string(result.Code), `require("path")`, `({ sep: "/" })`)
	want := `node/production,node dom part,default,no page,no window,guarded`
	if got := run(t, []byte(code), "module.exports.execute()"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestProcess: packages get the process that bundlers for browsers give them, and the tool has none.
func TestProcess(t *testing.T) {
	dir := tree(t,
		"a.tool.js", `exports.execute = () => [require('uses'), require('asks'), require('imports').v, require('own'), require('env'), typeof process].join();`,
		"node_modules/uses/index.js", `'use strict'; module.exports = String(process.env.HOME) + process.browser`,
		"node_modules/asks/index.js", `module.exports = typeof process`,
		"node_modules/imports/index.mjs", `import process from 'node:process'; export const v = process.browser`,
		"node_modules/imports/package.json", `{"module": "index.mjs"}`,
		"node_modules/own/index.js", `const process = { env: { A: 'own' } }; module.exports = process.env.A`,
		"node_modules/env/index.js", `module.exports = process.env.NODE_ENV`,
	)
	var b bundle.Bundler
	code := strings.ReplaceAll(string(bundled(t, &b, request(t, dir, "a.tool.js")).Code), `require("internal/process")`, `({ env: {}, browser: true })`)
	if got, want := run(t, []byte(code), "module.exports.execute()"), "undefinedtrue,undefined,true,own,production,undefined"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAbsent lists the modules that packages import and that do not exist here.
func TestAbsent(t *testing.T) {
	dir := tree(t,
		"a.tool.js", `require('stream'); exports.execute = () => require('p');`,
		"node_modules/p/index.js", `require('net'); require('node:tls'); require('path'); require('net'); require('@s/q');`,
		"node_modules/@s/q/package.json", `{"browser": {"zlib": false}}`,
		"node_modules/@s/q/index.js", `require('http'); require('zlib')`,
	)
	var b bundle.Bundler
	want := []bundle.Absent{{Package: "@s/q", Module: "http"}, {Package: "p", Module: "net"}, {Package: "p", Module: "tls"}}
	if diff := cmp.Diff(want, bundled(t, &b, request(t, dir, "a.tool.js")).Absent); diff != "" {
		t.Error(diff)
	}
}

// TestMistakes checks that all errors are reported with their locations.
func TestMistakes(t *testing.T) {
	outside := tree(t, "secret.json", `{"key": "hunter22"}`)
	dir := tree(t,
		"syntax.tool.ts", "export default {\n  execute(: string) {}\n};",
		"lost.tool.js", "import a from './gone.js';\nimport b from './data.csv';\nimport c from './native.node';",
		"data.csv", "a,b", "native.node", "",
		"out.tool.js", "import s from './link.json';\nimport t from '"+outside+"/secret.json';",
		"late.tool.js", "const x = await fetch('http://x');\nexport default x;",
	)
	if err := os.Symlink(filepath.Join(outside, "secret.json"), filepath.Join(dir, "link.json")); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string][]string{
		"syntax.tool.ts": {`2:11: error[bundle]: Expected identifier but found ":"`},
		"lost.tool.js": {
			`1:15: error[bundle]: Could not resolve "./gone.js"`,
			`2:15: error[bundle]: ` + dir + `/data.csv: only JavaScript, TypeScript and JSON can be imported`,
			`3:15: error[bundle]: ` + dir + `/native.node is a native module for Node.js; to use it, set runtime: 'node' in getMetadata`,
		},
		"out.tool.js": {
			`1:15: error[bundle]: ` + outside + `/secret.json is outside ` + dir + `: only files of the tool's repository or folder can be imported`,
		},
		"late.tool.js": {`1:11: error[bundle]: Top-level await is not available in the configured target environment`},
	} {
		var b bundle.Bundler
		_, bad := b.Bundle(request(t, dir, name))
		if len(bad) < len(want) {
			t.Errorf("%s: %v", name, bad)
			continue
		}
		for i, w := range want {
			if got := strings.TrimPrefix(bad[i].String(), filepath.Join(dir, name)+":"); !strings.HasPrefix(got, w) {
				t.Errorf("%s: %s\nwant %s", name, got, w)
			}
		}
	}
}

// TestBounds checks that too large files are rejected while they are read.
func TestBounds(t *testing.T) {
	dir := tree(t, "a.tool.js", "exports.x = require('./big.json');")
	f, err := os.Create(filepath.Join(dir, "big.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil {
		t.Skip(err)
	}
	var b bundle.Bundler
	if _, bad := b.Bundle(request(t, dir, "a.tool.js")); bad == nil || !strings.Contains(bad.Error(), "exceed 5000 files or 32 MiB") {
		t.Errorf("a terabyte: %v", bad)
	}
}

// TestCache checks that a cached bundle is used until one of its files, its packages or its
// package.json changes, and that only its owner can read it.
func TestCache(t *testing.T) {
	dir := tree(t,
		"a.tool.js", "exports.execute = () => require('./b.js') + require('p');",
		"b.js", "module.exports = 'b1';",
		"node_modules/p/package.json", `{"main": "one.js"}`,
		"node_modules/p/one.js", "module.exports = 'p1';",
		"node_modules/p/two.js", "module.exports = 'p2';",
	)
	b := bundle.Bundler{Cache: filepath.Join(dir, "kept")}
	r := request(t, dir, "a.tool.js")
	check := func(want string) {
		t.Helper()
		if got := run(t, bundled(t, &b, r).Code, "module.exports.execute()"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check("b1p1")
	check("b1p1")
	list, err := os.ReadDir(b.Cache)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if info, _ := list[0].Info(); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	kept := filepath.Join(b.Cache, list[0].Name())
	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	write("b.js", "module.exports = 'b2';")
	check("b2p1")
	write("node_modules/p/package.json", `{"main": "two.js"}`)
	check("b2p2")
	if err := os.WriteFile(kept, text[:len(text)/2], 0o600); err != nil { // as a full disk leaves it
		t.Fatal(err)
	}
	check("b2p2")
	if err := os.RemoveAll(filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	check("thrown: Error: no p")
	check("thrown: Error: no p")
}

// TestCacheLacking checks that a bundle without a package is built once, and again when the
// package is installed in any of the possible places: beside the tool, beside a file that
// it imports, in the folder of an existing package, or where tool deps installs it.
func TestCacheLacking(t *testing.T) {
	for _, c := range []struct{ name, file, text string }{
		{"beside the tool", "tools/node_modules/p/index.js", "module.exports = 'come';"},
		{"above it", "node_modules/p/index.js", "module.exports = 'come';"},
		{"as one file", "node_modules/p.js", "module.exports = 'come';"},
		{"beside what is imported", "tools/lib/node_modules/p/index.js", "module.exports = 'come';"},
		{"where its scope is", "tools/node_modules/@s/p/index.js", "module.exports = 'come';"},
		{"where tool deps puts it", "fetched/node_modules/p/index.js", "module.exports = 'come';"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := "p"
			if strings.Contains(c.file, "@s") {
				name = "@s/p"
			}
			dir := tree(t,
				".git/HEAD", "",
				"tools/a.tool.js", "exports.execute = () => require('./lib/b.js');",
				"tools/lib/b.js", "module.exports = require('"+name+"');",
				"tools/node_modules/@s/other/index.js", "",
				"fetched/node_modules/other/index.js", "",
			)
			b := bundle.Bundler{Cache: filepath.Join(dir, "kept")}
			r := request(t, dir, "tools/a.tool.js")
			r.Installed = filepath.Join(dir, "fetched", "node_modules")
			first := bundled(t, &b, r)
			if len(first.Missing) != 1 || first.Missing[0].Pos.File != filepath.Join(dir, "tools/lib/b.js") {
				t.Fatalf("missing: %v", first.Missing)
			}
			kept, err := filepath.Glob(filepath.Join(b.Cache, "*.json"))
			if err != nil || len(kept) != 1 {
				t.Fatalf("kept: %v, %v", kept, err)
			}
			if diff := cmp.Diff(first, bundled(t, &b, r)); diff != "" {
				t.Error(diff)
			}
			path := filepath.Join(dir, c.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := run(t, bundled(t, &b, r).Code, "module.exports.execute()"); got != "come" {
				t.Errorf("%q once the package has come", got)
			}
		})
	}
}

// BenchmarkLacking measures a listing of 200 tools whose packages are not installed, from
// the second time on.
func BenchmarkLacking(b *testing.B) {
	dir := b.TempDir()
	var all []bundle.Request
	for i := range 200 {
		all = append(all, bundle.Request{File: filepath.Join(dir, fmt.Sprintf("t%d.tool.js", i)),
			Source: []byte("const p = require('p');\nexports.execute = () => p();"), Packages: []string{"p"}})
	}
	keeper := bundle.Bundler{Cache: filepath.Join(dir, "kept")}
	list := func() {
		for _, r := range all {
			if _, bad := keeper.Bundle(r); bad != nil {
				b.Fatal(bad)
			}
		}
	}
	list()
	for b.Loop() {
		list()
	}
}

// TestPlaces checks that the source map contains the absolute paths of the files.
func TestPlaces(t *testing.T) {
	dir := tree(t, "tools/a.tool.ts", "import { f } from '../lib/f';\nexport default { execute: f };", "lib/f.ts", "export const f = (): never => { throw new Error('x'); };", ".git/HEAD", "")
	var b bundle.Bundler
	result := bundled(t, &b, request(t, dir, "tools/a.tool.ts"))
	for _, file := range []string{"tools/a.tool.ts", "lib/f.ts"} {
		if !strings.Contains(string(result.Map), `"`+filepath.Join(dir, file)+`"`) {
			t.Errorf("%s is not in %s", file, result.Map)
		}
	}
}

// TestNode: a tool for Node.js keeps its requires (issue 7 part 4).
func TestNode(t *testing.T) {
	dir := tree(t, "a.tool.ts", "import fs from 'node:fs';\nimport _ from 'lodash';\nimport { n } from './n';\nexport default { execute: (): number => _.add(n, fs.statSync('/').size) };", "n.ts", "export const n = 1;")
	var b bundle.Bundler
	r := request(t, dir, "a.tool.ts")
	r.Node = true
	result := bundled(t, &b, r)
	for _, want := range []string{`require("fs")`, `require("lodash")`} {
		if !strings.Contains(string(result.Code), want) {
			t.Errorf("no %s in %s", want, result.Code)
		}
	}
	if len(result.Missing) != 0 {
		t.Errorf("Node finds packages itself: %v", result.Missing)
	}
}

// TestLockFile checks that the lock file is found next to the tool, and that another one means
// another folder of packages.
func TestLockFile(t *testing.T) {
	dir := tree(t, "a.tool.js", "", "a.tool.lock", "one", "b.tool.ts", "", "c.tool.js", "", "c.tool.lock/file", "")
	if got := string(bundle.ReadLock(filepath.Join(dir, "a.tool.js"))); got != "one" {
		t.Errorf("read %q", got)
	}
	for _, name := range []string{"b.tool.ts", "c.tool.js"} {
		if got := bundle.ReadLock(filepath.Join(dir, name)); got != nil {
			t.Errorf("%s: read %q", name, got)
		}
	}
	list := []tool.Dependency{{Name: "a", Range: "1"}}
	folders := map[bundle.Folder]bool{}
	for _, lock := range []string{"", "one", "two"} {
		folders[bundle.Packages("/npm", "a", list, []byte(lock))] = true
	}
	if len(folders) != 3 || bundle.Packages("/npm", "a", nil, nil) != "" {
		t.Errorf("folders: %v", folders)
	}
}
