package library

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// formats are the kinds of files that have definitions. Safe for concurrent use.
type formats struct {
	mu         sync.Mutex
	extensions []string               // in order of preference
	loaders    map[string]tool.Loader // for files that Decode does not read, by extension
}

func newFormats() *formats {
	return &formats{extensions: []string{".yaml", ".yml", ".json", ".md"}, loaders: map[string]tool.Loader{}}
}

// handle registers the loader for files with an extension.
func (f *formats) handle(extension string, load tool.Loader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.extensions, extension) {
		f.extensions = append(f.extensions, extension)
	}
	f.loaders[extension] = load
}

// byPreference returns all extensions, the preferred one first.
func (f *formats) byPreference() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.extensions)
}

// extension returns the part of a file name that selects its loader, or "" if no extension matches.
func (f *formats) extension(file string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	longest := ""
	for _, e := range f.extensions {
		if len(e) > len(longest) && strings.HasSuffix(strings.ToLower(file), e) {
			longest = e
		}
	}
	return longest
}

// isPath reports whether a name in a definition or from a caller is a path.
func (f *formats) isPath(name string) bool {
	return strings.ContainsAny(name, `/\`) || f.extension(name) != "" && f.extension(name) != name
}

// decode reads a definition from the contents of a file.
func (f *formats) decode(path string, scope tool.Scope, src []byte) (*tool.Definition, tool.Diagnostics) {
	load := f.customLoader(path)
	if load == nil {
		load = decode.File
	}
	def, found := load(path, src)
	if def == nil {
		def = &tool.Definition{Name: tool.Stem(path), File: path, Source: src}
	}
	def.Scope = scope
	return def, found
}

// customLoader returns the loader that Handle registered for a file, or nil.
func (f *formats) customLoader(path string) tool.Loader {
	e := f.extension(path)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.loaders[e]
}

// preference ranks definitions with the same name: 0 is found first. That is the one whose file has the tool's name and
// the most preferred extension.
func (f *formats) preference(e Listed) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, extension := range f.extensions {
		if filepath.Base(e.Path) == e.Name+extension {
			return i
		}
	}
	return len(f.extensions)
}
