package decode

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/markdown"
)

// checkOneFrontMatter reports a second front matter in the body of a page: its keys would be only text. Rules (lines of
// ---) around other text are allowed.
func checkOneFrontMatter(d *keytable.Decoder, body diagnostic.Span, blocks []markdown.Fence) {
	open, commented := -1, false
	for at := body.From; at < body.To; at = d.Src.LineAfter(at) {
		for len(blocks) > 0 && blocks[0].Body.To <= at {
			blocks = blocks[1:]
		}
		if len(blocks) > 0 && blocks[0].Body.From <= at {
			continue
		}
		line := d.Src.LineFrom(at)
		commented = inComment(line, commented)
		if commented || strings.TrimRight(line, " \t") != "---" {
			continue
		}
		if open >= 0 && isFrontMatter(d.Src.Between(diagnostic.Span{From: d.Src.LineAfter(open), To: at})) {
			d.Report(diagnostic.Diagnostic{Code: "second-front-matter", Severity: diagnostic.Error, Pos: d.Src.Pos(open), Len: len("---"),
				Message: "the page has a second front matter here, which has no effect", Hint: "merge it into the first one; another tool needs a page of its own"})
			return
		}
		open = at
	}
}

// inComment reports whether an HTML comment is open at the end of a line, if one was open at its start or not.
func inComment(line string, open bool) bool {
	begin, end := strings.LastIndex(line, "<!--"), strings.LastIndex(line, "-->")
	if begin < 0 && end < 0 {
		return open
	}
	return begin > end
}

// isFrontMatter reports whether a text between two lines of --- has the keys of a front matter and no others.
func isFrontMatter(text string) bool {
	root, err := keytable.ParseOne([]byte(text))
	if err != nil || root.Kind != yaml.MappingNode || len(root.Content) == 0 {
		return false
	}
	for i := 0; i < len(root.Content); i += 2 {
		if pageTable().front.Field(root.Content[i].Value) == nil {
			return claimsTool(root)
		}
	}
	return true
}
