package tool

import (
	"bytes"
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

// stem returns the base name of a file without its extension, and "" for standard input.
func stem(file string) string {
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
// with front matter that contains tool: true, .tool.js if it exports something, and .yaml otherwise.
func Sniff(text []byte) string {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	switch {
	case bytes.HasPrefix(text, []byte("---")) && marksTool(text) || bytes.HasPrefix(text, []byte("````")):
		return ".md"
	case hasExport(text):
		return ".tool.js"
	}
	return ".yaml"
}

// marksTool reports whether the front matter contains tool: true.
func marksTool(text []byte) bool {
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	front, _, closed := bytes.Cut(rest, []byte("\n---"))
	return closed && slices.ContainsFunc(bytes.Split(front, []byte("\n")), func(line []byte) bool {
		key, value, _ := bytes.Cut(line, []byte(":"))
		return string(bytes.TrimSpace(key)) == "tool" && string(bytes.TrimSpace(value)) == "true"
	})
}

// hasExport reports whether the text exports something, as a JavaScript module does.
func hasExport(text []byte) bool {
	return slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("module.exports")) || bytes.HasPrefix(line, []byte("export default"))
	})
}
