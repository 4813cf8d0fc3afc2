package grammar

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// block reads the text below a name: | keeps line breaks, > joins lines. The last line break is kept, all of them with |+,
// none with |-.
func (d *Parser) block(s *schema.Schema) (node.Node, bool) {
	n := node.Node{Kind: node.Quoted, Off: d.At(d.Pos)}
	folded := d.Text[d.Pos] == '>'
	d.Pos++
	chomp := d.ByteAt(d.Pos)
	if chomp == '-' || chomp == '+' {
		d.Pos++
	}
	if d.Pos = d.SkipLineSpaces(d.Pos); !d.LineEnd(d.Pos) || !s.Allows("string") {
		return n, d.FailAt("ambiguous", d.Pos, "%s: | and > may be text or start a block; put the text in quotes", d.Here())
	}
	text, used, ok := d.blockText(d.Top().Indent + 1)
	switch {
	case !ok:
		return n, d.FailAt("syntax", d.Pos, "%s has no value", d.Here())
	case folded && hasIndentedLine(text):
		return n, d.FailAt("ambiguous", d.Pos, "%s: indented lines in folded text (>) are not supported; put the text in quotes", d.Here())
	}
	end := strings.TrimRight(text, "\n")
	rest := text[len(end):]
	if folded {
		end = joinLines(end)
	}
	switch {
	case chomp == '-':
		rest = ""
	case chomp != '+' && rest != "":
		rest = "\n"
	}
	n.Text = end + rest
	d.Pos = min(d.Pos+used, len(d.Text))
	return n, true
}

// blockText returns the lines below pos with at least this indentation, without the indentation, and the number of bytes
// used.
func (d *Parser) blockText(least int) (text string, used int, ok bool) {
	var b strings.Builder
	rest := d.Text[d.Pos:]
	rest = rest[min(len(rest), 1):]
	indent := -1
	used = 1
	for line := range strings.Lines(rest) {
		blank := strings.TrimSpace(line) == ""
		depth := len(line) - len(strings.TrimLeft(line, " "))
		if !blank && depth < max(indent, least) {
			break
		}
		if indent < 0 && !blank {
			indent = depth
		}
		used += len(line)
		if blank && (indent < 0 || len(line) <= indent) {
			line = "\n"
		} else {
			line = line[indent:]
		}
		b.WriteString(line)
	}
	return b.String(), used, indent >= 0
}

func hasIndentedLine(text string) bool {
	return strings.Contains("\n"+text, "\n ") || strings.Contains("\n"+text, "\n\t")
}

// joinLines joins the lines of folded text: a single line break becomes a space, and of several, one is removed.
func joinLines(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '\n' {
			b.WriteByte(text[i])
			i++
			continue
		}
		breaks := len(text[i:]) - len(strings.TrimLeft(text[i:], "\n"))
		if breaks == 1 {
			b.WriteByte(' ')
		} else {
			b.WriteString(text[i+1 : i+breaks])
		}
		i += breaks
	}
	return b.String()
}
