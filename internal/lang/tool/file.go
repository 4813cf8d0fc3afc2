package tool

import (
	"path/filepath"
	"slices"
	"strings"
)

// extensions are the extensions of definition files. A longer one comes before a shorter one of the same kind.
var extensions = []string{".yaml", ".yml", ".json", ".md", ".tool.js", ".tool.ts"}

// Extension returns the end of a file name that determines the format of the definition: .yaml, .yml, .json, .md,
// .tool.js or .tool.ts. It returns "" for other names.
func Extension(file string) string {
	name := strings.ToLower(filepath.Base(file))
	i := slices.IndexFunc(extensions, func(e string) bool { return strings.HasSuffix(name, e) })
	if i < 0 {
		return ""
	}
	return extensions[i]
}

// Stem returns the base name of a file without its extension, and "" for standard input.
func Stem(file string) string {
	base := filepath.Base(file)
	end := Extension(file)
	if end == "" {
		end = filepath.Ext(base)
	}
	if name := base[:len(base)-len(end)]; file != "" && name != "-" { // "-" is standard input
		return name
	}
	return ""
}
