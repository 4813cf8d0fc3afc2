package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// codes returns diagnostics as severity and code.
func codes(found tool.Diagnostics) string {
	var list []string
	for _, d := range found {
		list = append(list, fmt.Sprintf("%s %s", d.Severity, d.Code))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// answering returns a tool whose methods return the given values.
func answering(methods ...string) string {
	return "module.exports = {\n  execute: () => 1,\n  " + strings.Join(methods, ",\n  ") + "\n}\n"
}

const cachedDescription = `getMetadata: () => ({ description: 'd' })`

// TestLoaderAnswers checks that a description becomes the definition, or is rejected with a code
// and a position.
func TestLoaderAnswers(t *testing.T) {
	rt := hooks.New(hooks.Config{InProcess: true})
	defer rt.Close()
	load := hooks.Loader(hooks.LoaderConfig{Runtime: rt})
	for name, c := range map[string]struct{ src, want, place string }{
		"all well":                     {answering(cachedDescription), "", ""},
		"no description":               {answering(), "warning no-description", ""},
		"another name than the file's": {answering(`getMetadata: () => ({ description: 'd', id: 'other' })`), "warning name-differs", "3:43"},
		"a name that cannot be":        {answering(`getMetadata: () => ({ description: 'd', id: 'a b' })`), "error bad-name", "3:43"},
		"a number for a text":          {answering(`getMetadata: () => ({ description: 7 })`), "error wrong-type, warning no-description", ""},
		"a text for a list":            {answering(`getMetadata: () => ({ description: 'd', tags: 'x' })`), "error wrong-type", ""},
		"a runtime that is not there":  {answering(`getMetadata: () => ({ description: 'd', runtime: 'deno' })`), "error bad-choice", ""},
		"metadata that is a text":      {answering(`getMetadata: () => 'd'`), "error bad-answer, warning no-description", ""},
		"metadata that throws":         {answering(`getMetadata: () => { throw new Error('x') }`), "error tool-threw, warning no-description", ""},
		"a schema that is none":        {answering(cachedDescription, `getSchema: () => ({ parameters: { properties: { a: { type: 'no' } } } })`), "error bad-schema", ""},
		"an output that is a list":     {answering(cachedDescription, `getSchema: () => ({ output: { type: 'array' } })`), "error bad-schema", "4:33"},
		"properties for a schema":      {answering(cachedDescription, `getSchema: () => ({ parameters: { a: { type: 'string' }, n: { type: 'number' } } })`), "warning bad-schema", "4:23"},
		"properties alone":             {answering(cachedDescription, `getSchema: () => ({ a: { type: 'string' } })`), "warning bad-schema", ""},
		"properties with other keys":   {answering(cachedDescription, `getSchema: () => ({ parameters: { a: { type: 'string' }, required: ['a'] } })`), "warning bad-schema", ""},
		"a schema without a type":      {answering(cachedDescription, `getSchema: () => ({ parameters: { not: { type: 'null' }, additionalProperties: { type: 'string' } } })`), "", ""},
		"a package without a name":     {answering(cachedDescription, `getDependencies: () => ({ 'A B': '1' })`), "error bad-dependency", ""},
		"a package of any version":     {answering(cachedDescription, `getDependencies: () => ({ a: ' ' })`), "error bad-dependency", ""},
		"nothing to execute":           {"module.exports = { " + cachedDescription + " }\n", "error no-execute", ""},
		"no tool":                      {"module.exports = 7\n", "error no-tool", ""},
		"a function":                   {"module.exports = function (p) { return 1 }\n", "error no-tool", ""},
		"an arrow function":            {"module.exports = p => 1\n", "error no-tool", ""},
		"an async function":            {"module.exports = async function f (p) { return 1 }\n", "error no-tool", ""},
		"a method":                     {"module.exports = { f () {} }.f\n", "error no-tool", ""},
		"a function with methods":      {"module.exports = p => 1\nmodule.exports.execute = p => 1\nmodule.exports.getMetadata = () => ({ description: 'd' })\n", "", ""},
		"a class":                      {"module.exports = class { execute () {} getMetadata () { return { description: 'd' } } }\n", "", ""},
		"a file that throws":           {"\nthrow new Error('x')\n", "error tool-threw", "2:7"},
		"no JavaScript":                {"module.exports = {\n  execute( {\n", "error js-syntax", ""},
		"a file that is too large":     {strings.Repeat(" ", diagnostic.MaxFileSize+1), "error file-too-large", "1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			def, found := load("mine.tool.js", []byte(c.src))
			if got := codes(found); got != c.want {
				t.Fatalf("got %q, want %q: %v", got, c.want, found)
			}
			if def == nil || def.Name == "" || def.Format != tool.JavaScript {
				t.Fatalf("%+v", def)
			}
			if c.place != "" {
				if got := fmt.Sprintf("%d:%d", found[0].Pos.Line, found[0].Pos.Col); got != c.place || found[0].Pos.File != "mine.tool.js" {
					t.Errorf("at %v, want %s", found[0].Pos, c.place)
				}
			}
			for _, d := range found {
				if d.Message == "" || d.Hint == "" {
					t.Errorf("no way out: %+v", d)
				}
			}
		})
	}
}

func TestLoaderDefinition(t *testing.T) {
	load := hooks.Loader(hooks.LoaderConfig{Bundle: func(r hooks.BundleRequest) (*tool.Module, tool.Diagnostics) {
		return &tool.Module{File: r.File, Code: r.Source}, nil
	}, Runtime: inProcess(t)})
	src := answering(`getMetadata: () => ({ id: 'mine', name: 'Mine', description: 'd', version: '1.2.0', author: 'A', category: 'c', tags: ['t'], keywords: ['k'] })`,
		`getSchema: () => ({ parameters: { type: 'object', properties: { n: { type: 'integer' }, s: { type: 'string' } }, required: ['n'] }, environment: { type: 'object', properties: { KEY: { type: 'string' } } }, output: { type: 'object', required: ['n'] } })`)
	def, found := load("dir/mine.tool.js", []byte("\ufeff"+src))
	if len(found) > 0 {
		t.Fatal(found)
	}
	got := map[string]any{"name": def.Name, "display": def.DisplayName, "description": def.Description, "version": def.Version, "author": def.Author,
		"category": def.Metadata.Category, "tags": def.Tags, "keywords": def.Metadata.SearchKeywords, "whole": def.Cacheable}
	want := map[string]any{"name": "mine", "display": "Mine", "description": "d", "version": "1.2.0", "author": "A",
		"category": "c", "tags": []string{"t"}, "keywords": []string{"k"}, "whole": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(def.Parameters) != 2 || def.Parameters[0].Name != "n" || !def.Parameters[0].Required || def.Parameters[1].Required {
		t.Errorf("parameters %+v", def.Parameters)
	}
	if m := def.Steps[0].Script().Module; m.Environment == nil || m.Environment.Open() {
		t.Errorf("environment %+v", m.Environment)
	}
	if def.OutputSchema == nil || len(def.OutputSchema.Check(map[string]any{})) != 1 {
		t.Errorf("output %+v", def.OutputSchema)
	}
	if string(def.Source) != "\ufeff"+src {
		t.Error("the source is not what the file holds")
	}
	bare, found := load("bare.tool.js", []byte(answering(cachedDescription, `getSchema: () => ({ type: 'object', properties: { n: {} } })`)))
	if len(found) > 0 || len(bare.Parameters) != 1 || bare.Parameters[0].Name != "n" {
		t.Errorf("the schema of the parameters alone: %v, %+v", found, bare.Parameters)
	}
}

// TestLoaderDependencies checks that both forms of getDependencies have the same meaning.
func TestLoaderDependencies(t *testing.T) {
	load := hooks.Loader(hooks.LoaderConfig{Runtime: inProcess(t), Bundle: func(r hooks.BundleRequest) (*tool.Module, tool.Diagnostics) {
		return &tool.Module{File: r.File, Code: r.Source}, nil
	}})
	for _, answer := range []string{`['@scope/a@^1.2', 'b', 'c@2.x || 3']`, `({ '@scope/a': '^1.2', b: '*', c: '2.x || 3' })`} {
		def, found := load("mine.tool.js", []byte(answering(cachedDescription, "getDependencies: () => "+answer)))
		want := []tool.Dependency{{Name: "@scope/a", Range: "^1.2"}, {Name: "b", Range: "*"}, {Name: "c", Range: "2.x || 3"}}
		if diff := cmp.Diff(want, def.Steps[0].Script().Module.Dependencies); diff != "" || found.Err() != nil {
			t.Errorf("%s: %v %s", answer, found, diff)
		}
	}
}

// TestLoaderNodeTop: a tool that runs under Node.js may use what only Node.js has at its top level.
func TestLoaderNodeTop(t *testing.T) {
	load := hooks.Loader(hooks.LoaderConfig{Runtime: inProcess(t)})
	for top, node := range map[string]bool{
		"const X = process.env.HOME": true, "const X = process.cwd() + process.platform": true, "const X = __dirname + '/data'": true,
		"const X = process.argv.slice(2)": true, "if (process.env.DEBUG === '1') process.on('exit', () => {})": true, "const X = __filename": true,
		"const X = 1": false, "const process = { env: {} }; process.env.A": false,
	} {
		for _, runtime := range []string{"", "node"} {
			def, found := load("mine.tool.js", []byte(top+"\n"+answering(`getMetadata: () => ({ description: 'd', runtime: '`+runtime+`' })`)))
			want := ""
			if node && runtime == "" {
				want = "error tool-threw"
			}
			if codes(found) != want || want == "" && def.Description != "d" {
				t.Errorf("%s, runtime %q: %v", top, runtime, found)
			}
		}
	}
}

// TestLoaderSameText: a problem has its place in each file with the same text.
func TestLoaderSameText(t *testing.T) {
	load := hooks.Loader(hooks.LoaderConfig{Runtime: inProcess(t), Cache: t.TempDir()})
	for text, want := range map[string]string{
		"const a = 1\nmodule.exports = { execute () {}, getMetadata () {\n  throw new Error('x') } }\n": "3:9",
		"\nnull.x\n": "2:6",
	} {
		for _, file := range []string{"/one/a.tool.js", "/two/a.tool.js", "/one/a.tool.js"} {
			_, found := load(file, []byte(text))
			i := slices.IndexFunc(found, func(d tool.Diagnostic) bool { return d.Code == "tool-threw" })
			if i < 0 || found[i].Pos.File != file || fmt.Sprintf("%d:%d", found[i].Pos.Line, found[i].Pos.Col) != want {
				t.Errorf("%s: %v, want %s", file, found, want)
			}
		}
	}
}

// TestLoaderNodeModules checks that Node's own modules are no dependencies.
func TestLoaderNodeModules(t *testing.T) {
	load := hooks.Loader(hooks.LoaderConfig{Runtime: inProcess(t)})
	def, found := load("mine.tool.js", []byte(answering(cachedDescription, `getDependencies: () => ({ fs: '*', 'node:path': '*', 'fs/promises': '', child_process: 'latest', crypto: '1.0.1' })`)))
	if list := def.Steps[0].Script().Module.Dependencies; len(list) > 0 || len(found) > 0 {
		t.Errorf("%v, %v", list, found)
	}
}

// TestLoaderNodeFiles: the files that Node.js reads for a tool are known, as those of a bundle are.
func TestLoaderNodeFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"helper.js": "require('./lib'); require('fs'); require('./helper')", "lib/index.js": "require('../data')", "data.json": "{}", "other.js": ""} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	load := hooks.Loader(hooks.LoaderConfig{Runtime: inProcess(t), Bundle: func(r hooks.BundleRequest) (*tool.Module, tool.Diagnostics) {
		return &tool.Module{File: r.File, Code: r.Source}, nil
	}})
	def, found := load(filepath.Join(dir, "mine.tool.js"), []byte("const h = () => require('./helper')\n"+answering(`getMetadata: () => ({ description: 'd', runtime: 'node' })`)))
	var names []string
	for _, part := range def.Files {
		text, err := os.ReadFile(part.Path)
		if name, bad := filepath.Rel(dir, part.Path); err != nil || bad != nil || part.Digest != tool.DigestOf(text) {
			t.Errorf("%+v: %v", part, err)
		} else {
			names = append(names, filepath.ToSlash(name))
		}
	}
	if want := []string{"helper.js", "lib/index.js", "data.json"}; !slices.Equal(names, want) || found.Err() != nil {
		t.Errorf("%q, want %q: %v", names, want, found)
	}
}

func inProcess(t *testing.T) *hooks.Runtime {
	t.Helper()
	rt := hooks.New(hooks.Config{InProcess: true})
	t.Cleanup(func() { rt.Close() })
	return rt
}

// without returns a runtime that cannot start a child.
func without(t *testing.T) *hooks.Runtime {
	rt := hooks.New(hooks.Config{Helper: filepath.Join(t.TempDir(), "none")})
	t.Cleanup(func() { rt.Close() })
	return rt
}

// TestLoaderCache checks that a tool is described only once, and that a cached description is
// used only for the same text and name, and only if it is not damaged.
func TestLoaderCache(t *testing.T) {
	src := []byte(answering(cachedDescription))
	dir := filepath.Join(t.TempDir(), "cache")
	config := hooks.LoaderConfig{Runtime: inProcess(t), Cache: dir}
	offline := hooks.LoaderConfig{Runtime: without(t), Cache: dir}
	if _, found := hooks.Loader(offline)("a.tool.js", src); codes(found) != "error tool-unloadable" {
		t.Fatalf("nothing can be asked: %v", found)
	}
	ahead := config
	ahead.Ahead = true
	if def, found := hooks.Loader(ahead)("a.tool.js", src); def.Name != "a" || def.Description != "" || len(found) > 0 {
		t.Errorf("before it was asked: %+v, %v", def, found)
	}
	if _, found := hooks.Loader(config)("a.tool.js", src); len(found) > 0 {
		t.Fatal(found)
	}
	for name, c := range map[string]hooks.LoaderConfig{"known": offline, "ahead": ahead} {
		if def, found := hooks.Loader(c)("a.tool.js", src); def.Description != "d" || len(found) > 0 {
			t.Errorf("%s: %+v, %v", name, def, found)
		}
	}
	for name, text := range map[string]string{"a.tool.js": string(src) + "\n", "b.tool.js": string(src)} {
		if _, found := hooks.Loader(offline)(name, []byte(text)); codes(found) != "error tool-unloadable" {
			t.Errorf("%s is taken for what is kept: %v", name, found)
		}
	}
	kept, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	whole, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{nil, whole[:len(whole)/2], whole[:len(whole)-1], slices.Concat(whole, []byte(" ")), []byte(strings.Replace(string(whole), `"d"`, `"e"`, 1))} {
		if err := os.WriteFile(kept[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, found := hooks.Loader(offline)("a.tool.js", src); codes(found) != "error tool-unloadable" {
			t.Errorf("damaged to %d bytes it counts: %v", len(damaged), found)
		}
		if _, found := hooks.Loader(config)("a.tool.js", src); len(found) > 0 {
			t.Error(found)
		}
		if now, err := os.ReadFile(kept[0]); err != nil || string(now) != string(whole) {
			t.Errorf("%v: it was not kept anew", err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// TestLoaderCacheGone checks that tools are read even if the cache cannot be written.
func TestLoaderCacheGone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	load := hooks.Loader(hooks.LoaderConfig{Runtime: inProcess(t), Cache: filepath.Join(file, "cache")})
	if def, found := load("a.tool.js", []byte(answering(cachedDescription))); def.Description != "d" || len(found) > 0 {
		t.Errorf("%+v, %v", def, found)
	}
}

// TestLoaderForgets checks that a file that exceeds its time limit is run only once, by one
// loader or by several with the same cache, and that one loader asks further files after such a failure, but
// three of them at most.
func TestLoaderForgets(t *testing.T) {
	config := hooks.LoaderConfig{Runtime: inProcess(t), Cache: t.TempDir(), Context: t.Context()}
	const files = 7
	known, most := 0, 0
	for range files + 1 {
		load, exceeded := hooks.LoaderWithin(50*time.Millisecond, config), 0
		for i := range 2 * files {
			_, found := load("slow.tool.js", fmt.Appendf(nil, "while (true); // %d\n", i%files))
			switch {
			case codes(found) == "error tool-unloadable" && strings.Contains(found[0].Message, "within 50ms"):
				exceeded++
			case codes(found) != "error tool-unloadable" || !strings.Contains(found[0].Message, "other files took"):
				t.Fatal(found)
			}
		}
		kept, err := os.ReadDir(config.Cache)
		if err != nil || len(kept)*2 != exceeded {
			t.Fatalf("%d answers of a file that exceeds the limit, twice each, and %d are remembered: %v", exceeded, len(kept), err)
		}
		known, most = len(kept), max(most, len(kept)-known)
	}
	if known != files || most < 2 || most > 3 {
		t.Errorf("%d files are known, of %d; one loader asked %d", known, files, most)
	}
}

// TestLoaderStops checks that no tool is described once the context is done, and that this
// failure is not cached.
func TestLoaderStops(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no longer wanted"))
	config := hooks.LoaderConfig{Runtime: inProcess(t), Cache: t.TempDir(), Context: ctx}
	src := []byte(answering(cachedDescription))
	if _, found := hooks.Loader(config)("a.tool.js", src); codes(found) != "error tool-unloadable" || !strings.Contains(found[0].Message, "no longer wanted") {
		t.Error(found)
	}
	config.Context = nil
	if _, found := hooks.Loader(config)("a.tool.js", src); len(found) > 0 {
		t.Error(found)
	}
}

// Entries that cannot be used are problems of the definition, each with its position.
func TestInvalidErrorEntries(t *testing.T) {
	load := hooks.Loader(hooks.LoaderConfig{})
	for code, want := range map[string]string{
		`getBusinessErrors() { return 'none' }`:                              "x.tool.js:2:1: error[bad-answer]: getBusinessErrors returned text",
		`getBusinessErrors() { return {A: {match: 5}} }`:                     `x.tool.js:2:35: error[bad-business-error]: entry "A" of getBusinessErrors: match must be text, a regular expression or a function, but is a number`,
		`getBusinessErrors() { return {code: 'A'} }`:                         "x.tool.js:2:1: error[bad-business-error]: the entry of getBusinessErrors: has no match",
		`getBusinessErrors() { return {A: 5} }`:                              `x.tool.js:2:31: error[bad-business-error]: entry "A" of getBusinessErrors: expected an object, got a number`,
		`getBridgeErrors: () => ({"db:open": [{code: 'A', match: /a/}, 7]})`: `x.tool.js:2:63: error[bad-business-error]: entry 2 under "db:open" of getBridgeErrors: expected an object, got a number`,
	} {
		_, found := load("x.tool.js", []byte("module.exports = { getMetadata: () => ({description: 'x'}), execute() {},\n"+code+"}"))
		if len(found) != 1 || !strings.HasPrefix(found.Err().Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", code, found, want)
		}
	}
}
