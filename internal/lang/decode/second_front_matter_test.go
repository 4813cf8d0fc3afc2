package decode

import (
	"strings"
	"testing"
)

// TestSecondFrontMatter: keys of a front matter between two lines of --- are an error wherever they are in the body.
// Rules around other text, and pages that show a front matter, are not.
func TestSecondFrontMatter(t *testing.T) {
	const block = "\n```yaml\ntool: plain\nparameters: {}\n```\n"
	for _, c := range []struct {
		name, body string
		line       int // of the problem; 0 = none
	}{
		{"directly after the first", "---\nname: x\n---\n" + block, 7},
		{"after the blocks", block + "\n---\nname: x\ntype: single\n---\n", 13},
		{"with keys that flowrun does not know, but tool", "---\ntool: true\nicon: x\n---\n" + block, 7},
		{"after a rule", "---\n\n---\ntimeout: 5s\n---\n" + block, 9},
		{"Windows line ends", strings.ReplaceAll("---\nname: x\n---\n"+block, "\n", "\r\n"), 7},
		{"after a comment", "<!-- a -->\n---\nname: x\n---\n" + block, 8},
		{"rules", "a\n\n---\n\nb\n\n---\n" + block, 0},
		{"rules around a note", "---\nNote: this\n---\n" + block, 0},
		{"an empty one", "---\n---\n" + block, 0},
		{"in a block", "```markdown\n---\nname: x\n---\n```\n" + block, 0},
		{"in a comment", "<!--\n---\nname: x\n---\n-->\n" + block, 0},
		{"in a quotation", "> ---\n> name: x\n> ---\n" + block, 0},
		{"around a block", "---\n" + block + "\n---\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := File("t.md", []byte("---\ntool: true\nname: t\ndescription: d\ntype: single\n---\n"+c.body))
			line := 0
			for _, d := range found {
				if d.Code != "second-front-matter" {
					t.Error(d)
				}
				line = d.Pos.Line
			}
			if line != c.line {
				t.Errorf("reported on line %d, want %d: %v", line, c.line, found)
			}
		})
	}
}
