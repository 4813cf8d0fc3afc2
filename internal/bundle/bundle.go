package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/flowrun/flowrun/tool"
)

// What one bundle may be made of (issue 7, part 4): more is a mistake, such as a folder of
// data or a whole framework.
const (
	maxFiles = 5_000
	maxBytes = 32 << 20
)

// Bundler bundles tools. It is safe for concurrent use. The zero Bundler works and keeps
// nothing.
type Bundler struct {
	Cache string // folder where finished bundles are kept; "": none are
}

// Request is what to bundle.
type Request struct {
	File   string // absolute path of the tool's file; it need not exist any more
	Source []byte // what stands in it
	// Packages are those that getDependencies names. They are bundled even where no
	// import names them, for api.importx.
	Packages []string
	// Installed is a node_modules folder that is asked after those beside the tool: the cache
	// that flowrun tool deps fills. "": there is none.
	Installed string
	// Node is a tool that runs under Node.js, which finds packages and its own modules by
	// itself: only the syntax is changed, and files of the tool are joined.
	Node bool
}

// Result is a tool as one text.
type Result struct {
	Code []byte // CommonJS; module.packages holds a function for each of Request.Packages
	Map  []byte // source map from Code to the files, which have absolute paths
	// Packages are the npm packages in Code, and Missing those that were found nowhere:
	// require of one of them throws when it is reached.
	Packages []string
	Missing  []Missing
	Looked   []string // folders whose node_modules they may come to, beside Request.Installed
	// Files are those that were read: where one has changed, so has the result.
	Files []File
}

// Missing is a package that was not found, and where it is asked for first.
type Missing struct {
	Name string // lodash, @scope/name
	Pos  tool.Pos
}

// Diagnostics are warnings about packages that were not found, with the way out; declared
// are those that getDependencies names.
func (r Result) Diagnostics(name string, declared []string) tool.Diagnostics {
	var list tool.Diagnostics
	for _, m := range r.Missing {
		hint := fmt.Sprintf("install it with flowrun tool deps %s", name)
		if !slices.Contains(declared, m.Name) {
			hint = "list it in getDependencies and run flowrun tool deps, or add it to node_modules next to the tool"
		}
		list = append(list, tool.Diagnostic{Code: "missing-package", Severity: tool.Warning, Pos: m.Pos,
			Message: fmt.Sprintf("the npm package %s is not installed; calls that need it fail", m.Name), Hint: hint})
	}
	return list
}

// Bundle makes one text of a tool. What is wrong with the files is told with its place in
// them, everything at once. A package that is found nowhere is no error; see Result.
func (b *Bundler) Bundle(r Request) (Result, tool.Diagnostics) {
	if result, ok := b.kept(r); ok {
		return result, nil
	}
	w := &work{request: r, roots: roots(r), seen: map[string]File{}, vain: map[string]bool{}}
	answer := api.Build(w.options())
	result := w.result(answer)
	bad := w.diagnostics(answer.Errors)
	if bad == nil && result.lacks(r.Installed) { // a package that is there in part may become whole
		b.keep(r, result)
	}
	return result, bad
}

// work is one bundle in the making. esbuild calls it from several goroutines.
type work struct {
	request Request
	roots   []string

	mu       sync.Mutex
	seen     map[string]File
	bytes    int64
	packages []string
	missing  []Missing
	vain     map[string]bool // see searched
}

// roots are the folders below which files may lie.
func roots(r Request) []string {
	list := []string{realPath(home(filepath.Dir(r.File)))}
	if r.Installed != "" {
		list = append(list, realPath(r.Installed))
	}
	return list
}

// home is the root of the repository that a folder is in, outside of one the folder that
// holds .flowrun, else the folder itself.
func home(dir string) string {
	project := dir
	for at := dir; ; at = filepath.Dir(at) {
		if filepath.Base(at) == ".flowrun" {
			project = filepath.Dir(at)
		}
		for _, mark := range []string{".git", ".hg", ".jj"} {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at
			}
		}
		if filepath.Dir(at) == at {
			return project
		}
	}
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// lacking is what goja has no syntax for; the tests hold it against goja itself.
var lacking = map[string]bool{
	"async-generator":      false,
	"dynamic-import":       false,
	"for-await":            false,
	"regexp-match-indices": false,
	"regexp-set-notation":  false,
	"top-level-await":      false,
	"using":                false,
}

// asyncIterator is the symbol that goja lacks, under the name that esbuild's code for
// async generators looks for.
const asyncIterator = `Symbol.asyncIterator??Object.defineProperty(Symbol,"asyncIterator",{value:Symbol.for("Symbol.asyncIterator")});`

// start is the module that is bundled: the tool, and what importx may ask for.
const start = "flowrun:start"

func (w *work) options() api.BuildOptions {
	dir := filepath.Dir(w.request.File)
	o := api.BuildOptions{
		EntryPoints:    []string{start},
		Outfile:        filepath.Join(dir, "flowrun-bundle.js"), // is not written; the map's paths count from it
		AbsWorkingDir:  dir,
		Bundle:         true,
		Format:         api.FormatCommonJS,
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		LogLevel:       api.LogLevelSilent,
		TsconfigRaw:    "{}", // a file outside the tool's folder must not change what it means
		Charset:        api.CharsetUTF8,
		LegalComments:  api.LegalCommentsNone,
		Plugins:        []api.Plugin{{Name: "flowrun", Setup: w.setup}},
	}
	if w.request.Node {
		o.Platform, o.Packages, o.Target = api.PlatformNode, api.PackagesExternal, api.ES2022
		return o
	}
	o.Platform, o.Target, o.Supported = api.PlatformBrowser, api.ES2023, lacking
	o.Define = map[string]string{"process.env.NODE_ENV": `"production"`, "global": "globalThis"}
	o.Banner = map[string]string{"js": asyncIterator}
	if w.request.Installed != "" {
		o.NodePaths = []string{w.request.Installed}
	}
	return o
}

// startText is the text of the module start.
func (w *work) startText() string {
	var b strings.Builder
	if len(w.request.Packages) > 0 && !w.request.Node {
		b.WriteString("module.packages = {\n")
		for _, name := range w.request.Packages {
			fmt.Fprintf(&b, "  %q: () => import(%q),\n", name, name)
		}
		b.WriteString("};\n")
	}
	fmt.Fprintf(&b, "module.exports = require(%q);\n", w.request.File)
	return b.String()
}
