package decode

import (
	"bytes"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/markdown"
)

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

// IsNotTool reports whether a file turned out to be Markdown that is not a tool. Listings and lookups by name ignore it.
func IsNotTool(found diagnostic.Diagnostics) bool {
	return slices.ContainsFunc(found, func(d diagnostic.Diagnostic) bool { return d.Code == "not-a-tool" })
}
