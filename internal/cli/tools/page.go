package tools

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// page is the help of a command in the form of the specification: what it does, USAGE,
// OPTIONS in groups, COMMANDS, EXAMPLES, SEE ALSO (S1-360 to S1-370). help COMMAND and
// COMMAND --help print the same.
type page struct {
	title    string
	about    []string
	usage    []string
	options  []optionGroup
	commands []optionLine
	text     []string // paragraphs under headings of their own, for topics
	examples []example
	see      []string
}

type optionGroup struct {
	title string
	lines []optionLine
}

// optionLine is one option: how it is written and what it does. It declares a flag of the
// command where it has a variable for it.
type optionLine struct {
	left, right string
	depth       int  // indents what belongs to the line above
	hidden      bool // the page leaves it out

	to    any      // a *bool, *int, *string or *[]string, which holds the default
	words []string // that completion offers
}

type example struct{ title, text string }

// on makes the page the help of a command, and its options the command's flags.
func (p page) on(c *cobra.Command) *cobra.Command {
	for _, g := range p.options {
		for _, l := range g.lines {
			if !c.DisableFlagParsing {
				l.declare(c)
			}
		}
	}
	var examples []string
	for _, e := range p.examples {
		examples = append(examples, "  "+e.text)
	}
	// The manual is made from these, and from the flags that cobra knows of.
	c.Long, c.Example = strings.Join(p.about, "\n"), strings.Join(examples, "\n")
	for _, t := range p.text {
		heading, body, _ := strings.Cut(t, "\n")
		c.Long += "\n\n" + heading + "\n\n" + indented(body, "  ")
	}
	if c.DisableFlagParsing {
		var b strings.Builder
		p.writeOptions(&b)
		c.Long += "\n" + b.String()
	}
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { p.print(c.OutOrStdout()) })
	return c
}

// declare makes the flag of the line, where it has a variable.
func (l optionLine) declare(c *cobra.Command) {
	words := strings.Fields(l.left)
	name, short := strings.Trim(words[0], "-,"), ""
	if len(words) > 1 && strings.HasPrefix(words[1], "-") {
		short = words[1][1:]
	}
	switch fl := c.Flags(); to := l.to.(type) {
	case *bool:
		fl.BoolVarP(to, name, short, *to, l.right)
	case *int:
		fl.IntVarP(to, name, short, *to, l.right)
	case *string:
		fl.StringVarP(to, name, short, *to, l.right)
	case *[]string:
		fl.StringArrayVarP(to, name, short, *to, l.right)
	}
	if len(l.words) > 0 {
		c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(l.words, cobra.ShellCompDirectiveNoFileComp))
	}
}

func (p page) print(w io.Writer) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", strings.ToUpper(p.title))
	for _, line := range p.about {
		b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
	}
	for i, u := range p.usage {
		if i == 0 {
			b.WriteString("\nUSAGE: " + u + "\n")
		} else {
			b.WriteString("   OR: " + u + "\n")
		}
	}
	if len(p.options) > 0 {
		b.WriteString("\nOPTIONS\n")
	}
	p.writeOptions(&b)
	if len(p.commands) > 0 {
		b.WriteString("\nCOMMANDS\n\n")
		writeLines(&b, p.commands)
	}
	for _, t := range p.text {
		heading, body, _ := strings.Cut(t, "\n")
		fmt.Fprintf(&b, "\n%s\n\n%s\n", heading, indented(body, "  "))
	}
	if len(p.examples) > 0 {
		b.WriteString("\nEXAMPLES\n")
	}
	for i, e := range p.examples {
		fmt.Fprintf(&b, "\n  EXAMPLE %d: %s\n\n%s\n", i+1, e.title, indented(e.text, "    "))
	}
	if len(p.see) > 0 {
		b.WriteString("\nSEE ALSO\n\n")
	}
	for _, s := range p.see {
		fmt.Fprintf(&b, "  %s\n", s)
	}
	io.WriteString(w, b.String())
}

func (p page) writeOptions(b *strings.Builder) {
	for _, g := range p.options {
		fmt.Fprintf(b, "\n  %s\n\n", g.title)
		writeLines(b, g.lines)
	}
}

// widestLeft bounds the column of options; longer ones stick out.
const widestLeft = 40

func writeLines(b *strings.Builder, lines []optionLine) {
	width := 0
	for _, l := range lines {
		if n := utf8.RuneCountInString(l.left) + 2*l.depth; n <= widestLeft {
			width = max(width, n)
		}
	}
	for _, l := range lines {
		if l.hidden {
			continue
		}
		left := strings.Repeat("  ", l.depth) + l.left
		pad := max(0, width-utf8.RuneCountInString(left))
		fmt.Fprintf(b, "    %s%s  %s\n", left, strings.Repeat(" ", pad), l.right)
	}
}

func indented(text, by string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(by+l, " ")
	}
	return strings.Join(lines, "\n")
}
