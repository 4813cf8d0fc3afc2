package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// nodeModules are the built-in modules of Node.js.
var nodeModules = strings.Fields(`assert async_hooks buffer child_process cluster console constants crypto
	dgram diagnostics_channel dns domain events fs http http2 https inspector module net os path perf_hooks
	process punycode querystring readline repl stream string_decoder sys timers tls trace_events tty url
	util v8 vm wasi worker_threads zlib`)

// nodeModule returns the name of a module of Node.js without the prefix node:, and reports
// whether it is one.
func nodeModule(path string) (string, bool) {
	name, prefixed := strings.CutPrefix(path, "node:")
	first, _, _ := strings.Cut(name, "/")
	return name, (prefixed || !strings.HasSuffix(name, "/")) && slices.Contains(nodeModules, first)
}

// reentry marks a request of this plugin to esbuild, which calls the plugin again for it.
type reentry struct{}

func (w *work) setup(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		switch _, again := a.PluginData.(reentry); {
		case again:
			return api.OnResolveResult{}, nil
		case a.Kind == api.ResolveEntryPoint:
			return api.OnResolveResult{Path: startModule, Namespace: startNamespace}, nil
		case a.Path == w.request.File:
			return api.OnResolveResult{Path: a.Path, Namespace: "file"}, nil
		}
		return w.resolve(build, a), nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: emptyNamespace}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
		text := "module.exports = {}"
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: startNamespace}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
		text := w.startText()
		return api.OnLoadResult{Contents: &text, ResolveDir: filepath.Dir(w.request.File), Loader: api.LoaderJS}, nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "file"}, w.load)
}

// resolve finds the file or package that an import names.
func (w *work) resolve(build api.PluginBuild, a api.OnResolveArgs) api.OnResolveResult {
	builtin, ofNode := nodeModule(a.Path)
	if a.Path == processModule || builtin == "process" && inPackage(a.Importer) && !w.request.Node {
		return api.OnResolveResult{Path: processModule, External: true}
	}
	forNode := !w.request.Node && w.isForNode(a.Importer)
	if ofNode && (w.request.Node || forNode || !inPackage(a.Importer)) {
		return w.builtin(builtin, a)
	}
	if forNode {
		if path := w.resolveForNode(a); path != "" {
			return w.file(path, a.Path)
		}
	}
	find := func(from string) api.ResolveResult {
		return build.Resolve(a.Path, api.ResolveOptions{Importer: a.Importer, Namespace: a.Namespace, ResolveDir: from, Kind: a.Kind, PluginData: reentry{}, With: a.With})
	}
	found := find(a.ResolveDir)
	name, isPackage := packageOf(a.Path)
	if isPackage && !w.inside(found) { // esbuild searches packages up to the root of the file system
		if w.request.Installed != "" {
			if found = find(w.request.Installed); len(found.Errors) == 0 && w.inside(found) {
				return w.file(found.Path, a.Path)
			}
		}
		if !ofNode {
			w.addMissing(name, a)
			return api.OnResolveResult{Path: a.Path, External: true}
		}
		return w.builtin(builtin, a)
	}
	switch {
	case replacedByNothing(found):
		return api.OnResolveResult{Path: found.Path, Namespace: emptyNamespace}
	case len(found.Errors) == 0:
		if isPackage && filepath.IsAbs(found.Path) {
			w.addPackage(name)
			if path := w.chooseNode(a, name, found.Path); path != "" {
				return w.file(path, a.Path)
			}
		}
		return api.OnResolveResult{} // esbuild resolves it by the browser fields of package.json
	case ofNode:
		return w.builtin(builtin, a)
	case !isPackage:
		return api.OnResolveResult{Errors: found.Errors}
	}
	w.addMissing(name, a)
	return api.OnResolveResult{Path: a.Path, External: true}
}

// file returns the result for a file that an import becomes.
func (w *work) file(path, imported string) api.OnResolveResult {
	if name, isPackage := packageOf(imported); isPackage {
		w.addPackage(name)
	}
	return api.OnResolveResult{Path: path, Namespace: "file"}
}

// builtin returns the result for a module of Node.js. If it does not exist here, the package that needs it is recorded.
func (w *work) builtin(name string, a api.OnResolveArgs) api.OnResolveResult {
	if owner := packageOfFile(a.Importer); owner != "" && !available(name) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.absent = append(w.absent, Absent{Package: owner, Module: name})
	}
	return api.OnResolveResult{Path: name, External: true}
}

// packageOfFile returns the name of the package that a file belongs to, or "".
func packageOfFile(file string) string {
	file = filepath.ToSlash(file)
	at := strings.LastIndex(file, "/node_modules/")
	if at < 0 {
		return ""
	}
	name, _ := packageOf(file[at+len("/node_modules/"):])
	return name
}

// inside reports whether a resolved file may be bundled. It is true for an import that was
// not resolved.
func (w *work) inside(found api.ResolveResult) bool {
	return len(found.Errors) > 0 || !filepath.IsAbs(found.Path) || w.allowed(realPath(found.Path))
}

func (w *work) allowed(real string) bool {
	return slices.ContainsFunc(w.roots, func(root string) bool { return within(root, real) })
}

func (w *work) addPackage(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.packages = append(w.packages, name)
}

// addMissing records a package that was not found. The remedy is the same if another package
// imports it, because all dependencies are installed together.
func (w *work) addMissing(name string, a api.OnResolveArgs) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.searched(a.ResolveDir)
	if slices.ContainsFunc(w.missing, func(m Missing) bool { return m.Name == name }) {
		return
	}
	file := a.Importer
	if a.Namespace != "file" {
		file = w.request.File
	}
	w.missing = append(w.missing, Missing{Name: name, Pos: w.findImport(file, a.Path)})
}

// findImport returns the first place where a file names a package: esbuild does not pass it to
// a plugin.
func (w *work) findImport(file, path string) tool.Pos {
	text := w.request.Source
	if file != w.request.File {
		text, _ = os.ReadFile(file)
	}
	for _, quote := range []string{`"`, `'`, "`"} {
		if at := strings.Index(string(text), quote+path+quote); at >= 0 {
			before := string(text[:at])
			line := before[strings.LastIndex(before, "\n")+1:]
			return tool.Pos{File: file, Line: strings.Count(before, "\n") + 1, Col: len([]rune(line)) + 1}
		}
	}
	return tool.Pos{File: file, Line: 1, Col: 1}
}

// packageOf returns the npm package of an import: lodash for lodash/fp.
func packageOf(path string) (string, bool) {
	if path == "" || strings.HasPrefix(path, ".") || strings.HasPrefix(path, "#") || filepath.IsAbs(path) || strings.Contains(path, ":") {
		return "", false
	}
	parts := strings.Split(path, "/")
	if strings.HasPrefix(path, "@") {
		return strings.Join(parts[:min(2, len(parts))], "/"), len(parts) > 1
	}
	return parts[0], true
}

func inPackage(file string) bool {
	return strings.Contains(filepath.ToSlash(file), "/node_modules/")
}

// extensions are the extensions of files that can be imported.
var extensions = []string{"", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".json"}

// load checks that a file may be read and has a kind that can be bundled. The text of the
// tool itself comes from the request.
func (w *work) load(a api.OnLoadArgs) (api.OnLoadResult, error) {
	kind := filepath.Ext(a.Path)
	switch {
	case kind == ".node":
		return api.OnLoadResult{}, fmt.Errorf("%s is a native module for Node.js; to use it, set runtime: 'node' in getMetadata", a.Path)
	case !slices.Contains(extensions, kind):
		return api.OnLoadResult{}, fmt.Errorf("%s: only JavaScript, TypeScript and JSON can be imported", a.Path)
	case a.Path != w.request.File:
		text, err := w.addFile(a.Path)
		if err != nil || w.request.Node || !inPackage(a.Path) || kind == ".json" {
			return api.OnLoadResult{}, err
		}
		if text = withProcess(text); text == nil {
			return api.OnLoadResult{}, nil
		}
		contents := string(text)
		return api.OnLoadResult{Contents: &contents, ResolveDir: filepath.Dir(a.Path), Loader: api.LoaderDefault}, nil
	}
	text := string(w.request.Source)
	answer := api.OnLoadResult{Contents: &text, ResolveDir: filepath.Dir(a.Path), Loader: api.LoaderJS}
	if strings.HasSuffix(kind, "ts") {
		answer.Loader = api.LoaderTS
	}
	return answer, nil
}

// addFile records a file of the bundle, enforces the limits, and returns its text.
func (w *work) addFile(path string) ([]byte, error) {
	if real := realPath(path); !w.allowed(real) {
		return nil, fmt.Errorf("%s is outside %s: only files of the tool's repository or folder can be imported", real, w.roots[0])
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxBytes:
		return nil, w.tooMuch()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes += info.Size()
	w.seen[path] = fileOf(path, text)
	if len(w.seen) > maxFiles || w.bytes > maxBytes {
		return nil, w.tooMuch()
	}
	return text, nil
}

func (w *work) tooMuch() error {
	return fmt.Errorf("the tool and its imports exceed %d files or %d MiB, or one of them is not a regular file", maxFiles, maxBytes>>20)
}

func within(root, path string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}
