package bundle

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/flowrun/flowrun/internal/js/jsworld"
)

// A package may have other files for browsers than for Node.js. Those for browsers need no module of Node.js, so they
// are what runs here, with two exceptions: a module that package.json replaces by nothing is empty, and a package whose
// file for browsers needs a page is bundled as for Node.js if its other file can run here.

// Namespaces of modules that are not files.
const (
	startNamespace = "flowrun"       // the module that is bundled
	emptyNamespace = "flowrun-empty" // modules without anything
)

// replacedByNothing reports whether package.json replaces a module by nothing. esbuild does not say so, but the path it
// returns then is that of the import, without an extension.
func replacedByNothing(found api.ResolveResult) bool {
	if len(found.Errors) > 0 || found.External || found.Namespace != "file" {
		return false
	}
	info, err := os.Stat(found.Path)
	return err != nil || info.IsDir()
}

// peek returns the text of a file before it is part of the bundle, or nil if it cannot be.
func peek(path string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxBytes {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}

// needsPage reports whether a file uses the page of a browser.
func needsPage(path string) bool {
	return compiled().page.Match(peek(path))
}

// runsHere reports whether a file for Node.js uses neither a page nor what only Node.js has.
func runsHere(path string) bool {
	text := peek(path)
	if text == nil || compiled().page.Match(text) || usesProcess(text) {
		return false
	}
	for _, m := range compiled().quoted.FindAllSubmatch(text, -1) {
		if name, ofNode := nodeModule(string(m[1])); ofNode && !available(name) {
			return false
		}
	}
	return true
}

// available reports whether a module of Node.js exists here.
func available(name string) bool {
	_, ok := jsworld.Shim(name)
	return ok
}

// chooseNode returns the file for Node.js that an import of a package becomes, or "" if the one for browsers, at path,
// is right.
func (w *work) chooseNode(a api.OnResolveArgs, name, path string) string {
	if !filepath.IsAbs(path) || !needsPage(path) {
		return ""
	}
	other := w.resolveForNode(a)
	if other == "" || other == path || !runsHere(other) {
		return ""
	}
	root := packageRoot(other, name)
	if root == "" {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forNode = append(w.forNode, root)
	return other
}

// isForNode reports whether a file belongs to a package that is bundled as for Node.js.
func (w *work) isForNode(file string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, root := range w.forNode {
		if rest := strings.TrimPrefix(file, root); rest != file && !inPackage(string(filepath.Separator)+rest) {
			return true
		}
	}
	return false
}

// packageRoot returns the folder of the package that a file belongs to, with a separator at its end, or "".
func packageRoot(file, name string) string {
	folder := string(filepath.Separator) + filepath.Join("node_modules", filepath.FromSlash(name)) + string(filepath.Separator)
	at := strings.LastIndex(file, folder)
	if at < 0 {
		return ""
	}
	return file[:at+len(folder)]
}

// resolveForNode returns the file that an import is under Node.js, or "". esbuild resolves all imports of a build for
// one platform, so this is a build of its own.
func (w *work) resolveForNode(a api.OnResolveArgs) string {
	var found api.ResolveResult
	o := api.BuildOptions{EntryPoints: []string{startModule}, AbsWorkingDir: filepath.Dir(w.request.File), Bundle: true, Platform: api.PlatformNode, LogLevel: api.LogLevelSilent}
	if w.request.Installed != "" {
		o.NodePaths = []string{w.request.Installed}
	}
	o.Plugins = []api.Plugin{{Name: "flowrun", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(own api.OnResolveArgs) (api.OnResolveResult, error) {
			if _, again := own.PluginData.(reentry); again {
				return api.OnResolveResult{}, nil
			}
			found = build.Resolve(a.Path, api.ResolveOptions{Importer: a.Importer, Namespace: a.Namespace, ResolveDir: a.ResolveDir, Kind: a.Kind, PluginData: reentry{}, With: a.With})
			return api.OnResolveResult{Path: startModule, External: true}, nil
		})
	}}}
	api.Build(o) // its own errors say nothing: an entry point cannot be external
	if len(found.Errors) > 0 || found.External || found.Namespace != "file" || !w.allowed(realPath(found.Path)) {
		return ""
	}
	return found.Path
}
