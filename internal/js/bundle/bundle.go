package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Limits of one bundle. A larger one is usually a mistake, such as a folder of data or a
// whole framework.
const (
	maxFiles = 5_000
	maxBytes = 32 << 20
)

// Bundler bundles tools. Safe for concurrent use. The zero Bundler works and has no cache.
type Bundler struct {
	Cache string // folder of finished bundles; "" for no cache
}

// Request describes a bundle.
type Request struct {
	File   string // absolute path of the tool's file, which need not exist any more
	Source []byte // the text of the tool
	// Packages are the packages that getDependencies names. They are bundled even if no
	// import names them, for api.importx.
	Packages []string
	// Installed is a node_modules folder that is searched after those beside the tool: the
	// cache that flowrun tool deps fills. "" for none.
	Installed string
	// Node marks a tool that runs under Node.js, which finds packages and its own modules
	// by itself: the bundle joins the tool's files and changes only the syntax.
	Node bool
}

// Result is a tool as one text.
type Result struct {
	Code []byte // CommonJS; module.packages has a function for each package that importx can load
	Map  []byte // source map from Code to the files, with absolute paths
	// Packages are the npm packages in Code. Missing are those that were not found: require
	// of one of them throws when it is executed.
	Packages []string
	Missing  []Missing
	Absent   []Absent // modules that packages import and only Node.js has
	Looked   []string // folders whose node_modules may get the missing packages, in addition to Request.Installed
	// Files are the files that were read: if one of them changes, the bundle is out of
	// date.
	Files []File
}

// Missing is a package that was not found, and the place of its first import.
type Missing struct {
	Name string // lodash, @scope/name
	Pos  tool.Pos
}

// Absent is a module of Node.js that a package imports and that does not exist here. The package may do without it.
type Absent struct{ Package, Module string }

// Diagnostics returns warnings about the missing packages, with hints. declared are the
// packages that getDependencies names.
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

// Bundle bundles a tool. All problems of the files are reported together, with their
// locations. A package that is not found is not an error; see Result.
func (b *Bundler) Bundle(r Request) (Result, tool.Diagnostics) {
	if result, ok := b.cached(r); ok {
		return result, nil
	}
	w := &work{request: r, roots: roots(r), seen: map[string]File{}, searchedDirs: map[string]bool{}}
	answer := api.Build(w.options())
	result := w.result(answer)
	bad := w.diagnostics(answer.Errors)
	if bad == nil && result.stillMissing(r.Installed) { // otherwise a missing package was installed during the build, and the result is out of date
		b.store(r, result)
	}
	return result, bad
}

// work is the state of one build. esbuild calls it from several goroutines.
type work struct {
	request Request
	roots   []string

	mu           sync.Mutex
	seen         map[string]File
	bytes        int64
	packages     []string
	missing      []Missing
	absent       []Absent
	forNode      []string        // folders of packages that are bundled as for Node.js
	searchedDirs map[string]bool // folders that were searched without success, see searched
}

// roots returns the folders that bundled files must be in.
func roots(r Request) []string {
	list := []string{realPath(home(filepath.Dir(r.File)))}
	if r.Installed != "" {
		list = append(list, realPath(r.Installed))
	}
	return list
}

// home returns the root of the repository that contains a folder. Outside of a repository
// it returns the folder that contains .flowrun, otherwise the folder itself.
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

// unsupported are syntax features that goja does not support; the tests compare them with goja
// itself.
var unsupported = map[string]bool{
	"async-generator":      false,
	"dynamic-import":       false,
	"for-await":            false,
	"regexp-match-indices": false,
	"regexp-set-notation":  false,
	"top-level-await":      false,
	"using":                false,
}

// asyncIterator defines the symbol that goja lacks, under the name that esbuild's code for
// async generators uses.
const asyncIterator = `Symbol.asyncIterator??Object.defineProperty(Symbol,"asyncIterator",{value:Symbol.for("Symbol.asyncIterator")});`

// nodeEnv is the variable by which packages decide how much they check; it is replaced by a text.
const nodeEnv = "process.env.NODE_ENV"

// startModule is the name of the module that is bundled: it imports the tool and the packages for
// importx.
const startModule = "flowrun:start"

func (w *work) options() api.BuildOptions {
	dir := filepath.Dir(w.request.File)
	o := api.BuildOptions{
		EntryPoints:    []string{startModule},
		Outfile:        filepath.Join(dir, "flowrun-bundle.js"), // not written; paths in the map are relative to it
		AbsWorkingDir:  dir,
		Bundle:         true,
		Format:         api.FormatCommonJS,
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		LogLevel:       api.LogLevelSilent,
		TsconfigRaw:    "{}", // a file outside of the tool's folder must not change the meaning of the tool
		Charset:        api.CharsetUTF8,
		LegalComments:  api.LegalCommentsNone,
		Plugins:        []api.Plugin{{Name: "flowrun", Setup: w.setup}},
	}
	if w.request.Node {
		o.Platform, o.Packages, o.Target = api.PlatformNode, api.PackagesExternal, api.ES2022
		return o
	}
	o.Platform, o.Target, o.Supported = api.PlatformBrowser, api.ES2023, unsupported
	o.Define = map[string]string{nodeEnv: `"production"`, "global": "globalThis", "self": "globalThis"}
	o.Banner = map[string]string{"js": asyncIterator}
	if w.request.Installed != "" {
		o.NodePaths = []string{w.request.Installed}
	}
	return o
}

// startText returns the text of the module start.
func (w *work) startText() string {
	var b strings.Builder
	if names := w.importable(); len(names) > 0 && !w.request.Node {
		b.WriteString("module.packages = {\n")
		for _, name := range names {
			fmt.Fprintf(&b, "  %q: () => import(%q),\n", name, name)
		}
		b.WriteString("};\n")
	}
	fmt.Fprintf(&b, "module.exports = require(%q);\n", w.request.File)
	return b.String()
}
