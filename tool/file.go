package tool

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
)

// extensions are those of definition files, the longest of a kind first.
var extensions = []string{".yaml", ".yml", ".json", ".md", ".tool.js", ".tool.ts"}

// Extension is the end of a file's name that says how the definition in it is written:
// .yaml, .yml, .json, .md, .tool.js or .tool.ts; "" where it says nothing.
func Extension(file string) string {
	name := strings.ToLower(filepath.Base(file))
	i := slices.IndexFunc(extensions, func(e string) bool { return strings.HasSuffix(name, e) })
	if i < 0 {
		return ""
	}
	return extensions[i]
}

// stem is the base name of a file without its extension.
func stem(file string) string {
	base := filepath.Base(file)
	end := Extension(file)
	if end == "" {
		end = filepath.Ext(base)
	}
	if name := base[:len(base)-len(end)]; file != "" && name != "-" { // - is standard input
		return name
	}
	return ""
}

// Sniff is the extension that the text of a definition would have whose file is not
// known, as on standard input: that of Markdown begins with front matter that says
// tool: true, that of JavaScript says what it exports, and the rest is YAML.
func Sniff(text []byte) string {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	switch {
	case bytes.HasPrefix(text, []byte("---")) && frontSays(text) || bytes.HasPrefix(text, []byte("````")):
		return ".md"
	case exports(text):
		return ".tool.js"
	}
	return ".yaml"
}

// frontSays says whether front matter marks a tool.
func frontSays(text []byte) bool {
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	front, _, closed := bytes.Cut(rest, []byte("\n---"))
	return closed && slices.ContainsFunc(bytes.Split(front, []byte("\n")), func(line []byte) bool {
		key, value, _ := bytes.Cut(line, []byte(":"))
		return string(bytes.TrimSpace(key)) == "tool" && string(bytes.TrimSpace(value)) == "true"
	})
}

// exports says whether a line of a text exports something, as a module does.
func exports(text []byte) bool {
	return slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("module.exports")) || bytes.HasPrefix(line, []byte("export default"))
	})
}
