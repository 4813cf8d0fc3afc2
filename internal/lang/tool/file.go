package tool

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/markdown"
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

// Sniff guesses the extension of a definition that has no file name, such as one from standard input: .md if it begins
// with front matter of a tool, .tool.js if it exports something, and .yaml otherwise.
func Sniff(text []byte) string {
	text = bytes.TrimSpace(diagnostic.WithoutMark(text))
	switch {
	case bytes.HasPrefix(text, []byte("---")) && marksTool(text) || bytes.HasPrefix(text, []byte("````")):
		return ".md"
	case hasExport(text):
		return ".tool.js"
	}
	return ".yaml"
}

// marksTool reports whether the text begins with front matter that claims to be that of a tool.
func marksTool(text []byte) bool {
	s := diagnostic.NewSource("", text)
	p := markdown.Split(s)
	why, _ := notToolReason(s, p)
	return p.Closed && why == ""
}

// hasExport reports whether the text exports something, as a JavaScript module does.
func hasExport(text []byte) bool {
	return slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("module.exports")) || bytes.HasPrefix(line, []byte("export default"))
	})
}
