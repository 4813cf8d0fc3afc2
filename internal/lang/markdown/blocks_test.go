package markdown

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
)

// goldmarkBlocks returns the fenced blocks that goldmark finds outside of quotations.
func goldmarkBlocks(src []byte) (list []block) {
	p := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	var visit func(n ast.Node)
	visit = func(n ast.Node) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			switch c := c.(type) {
			case *ast.FencedCodeBlock:
				if c.Info == nil && c.Lines().Len() == 0 {
					continue
				}
				var b block
				at := 0
				if c.Info != nil {
					b.info = string(c.Info.Segment.Value(src))
					at = c.Info.Segment.Start
				} else {
					at = max(0, bytes.LastIndexByte(src[:c.Lines().At(0).Start], '\n'))
				}
				b.line = bytes.LastIndexByte(src[:at], '\n') + 1
				if n := c.Lines().Len(); n > 0 {
					b.bodyEnd = c.Lines().At(n - 1).Stop
				}
				list = append(list, b)
			case *ast.List, *ast.ListItem:
				visit(c)
			}
		}
	}
	visit(p.Parse(text.NewReader(src)))
	return list
}

// ourBlocks returns the same of blocksOf.
func ourBlocks(src []byte) (list []block) {
	for _, b := range blocksOf(string(src)) {
		if !b.inQuotes && (b.info != "" || b.bodyEnd > 0) {
			list = append(list, block{line: b.line, info: b.info, bodyEnd: b.bodyEnd})
		}
	}
	return list
}

// emptyItem matches a line that ends with the mark of a list item. What belongs to such an item is another question to
// goldmark than to CommonMark.
var emptyItem = regexp.MustCompile(`(?:[-*+]|\d[.)])[ \t]*$`)

// TestBlocksLikeGoldmark compares with goldmark.
func TestBlocksLikeGoldmark(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"```", "```yaml", "~~~", "text", "- ", "1. ", "2) ", "  ", "    ", "> ", "# title", "---", "===",
			"<!-- note", "-->", "<div>", "</div>", "<b>", "<script>", "</script>", "\t", "* * *", "````", "`x`", "\u00a0", "\f"}), 1, 4)
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			if rapid.IntRange(0, 4).Draw(t, "blank") == 0 {
				return ""
			}
			line := strings.Join(pieces.Draw(t, "pieces"), "")
			if emptyItem.MatchString(line) {
				line += "text"
			}
			return line
		}), 1, 10).Draw(t, "lines")
		src := []byte(strings.Join(lines, "\n") + "\n")
		if diff := cmp.Diff(goldmarkBlocks(src), ourBlocks(src), cmp.AllowUnexported(block{})); diff != "" {
			t.Fatalf("%s\n(-goldmark +ours):\n%s", src, diff)
		}
	})
}
