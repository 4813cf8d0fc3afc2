package page

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Page is the help of a command: what it does, USAGE, OPTIONS in groups, COMMANDS, EXAMPLES, SEE
// ALSO. help COMMAND and COMMAND --help print the same page.
type Page struct {
	Title    string
	About    []string
	Usage    []string
	Options  []Group
	Commands []Line
	Text     []string // of topics: paragraphs, each with a heading as its first line
	Examples []Example
	SeeAlso  []string
}

// Group is a group of options under a heading.
type Group struct {
	Title string
	Lines []Line
}

// Line is one option: its syntax and its description. If Target is set, it declares a flag of the
// command.
type Line struct {
	Left, Right string
	Depth       int  // indents an option that belongs to the line above
	hidden      bool // not shown on the page

	Target any      // a *bool, *int, *string or *[]string, which holds the default
	Words  []string // offered by completion
}

// Example is a command line and its purpose.
type Example struct{ Title, Text string }

// Apply makes the page the help of a command, and declares its options as flags.
func (p Page) Apply(c *cobra.Command) *cobra.Command {
	for _, g := range p.Options {
		for _, l := range g.Lines {
			if !c.DisableFlagParsing {
				l.declare(c)
			}
		}
	}
	var examples []string
	for _, e := range p.Examples {
		examples = append(examples, "  "+e.Text)
	}
	// The manual pages use these fields, and the flags that are declared with cobra.
	c.Long, c.Example = strings.Join(p.About, "\n"), strings.Join(examples, "\n")
	for _, t := range p.Text {
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

// declare declares the flag of the line, if it has a variable.
func (l Line) declare(c *cobra.Command) {
	words := strings.Fields(l.Left)
	name, short := strings.Trim(words[0], "-,"), ""
	if len(words) > 1 && strings.HasPrefix(words[1], "-") {
		short = words[1][1:]
	}
	switch fl := c.Flags(); to := l.Target.(type) {
	case *bool:
		fl.BoolVarP(to, name, short, *to, l.Right)
	case *int:
		fl.IntVarP(to, name, short, *to, l.Right)
	case *string:
		fl.StringVarP(to, name, short, *to, l.Right)
	case *[]string:
		fl.StringArrayVarP(to, name, short, *to, l.Right)
	}
	if len(l.Words) > 0 {
		c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(l.Words, cobra.ShellCompDirectiveNoFileComp))
	}
}

func (p Page) print(w io.Writer) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", strings.ToUpper(p.Title))
	for _, line := range p.About {
		b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
	}
	for i, u := range p.Usage {
		if i == 0 {
			b.WriteString("\nUSAGE: " + u + "\n")
		} else {
			b.WriteString("   OR: " + u + "\n")
		}
	}
	if len(p.Options) > 0 {
		b.WriteString("\nOPTIONS\n")
	}
	p.writeOptions(&b)
	if len(p.Commands) > 0 {
		b.WriteString("\nCOMMANDS\n\n")
		writeLines(&b, p.Commands)
	}
	for _, t := range p.Text {
		heading, body, _ := strings.Cut(t, "\n")
		fmt.Fprintf(&b, "\n%s\n\n%s\n", heading, indented(body, "  "))
	}
	if len(p.Examples) > 0 {
		b.WriteString("\nEXAMPLES\n")
	}
	for i, e := range p.Examples {
		fmt.Fprintf(&b, "\n  EXAMPLE %d: %s\n\n%s\n", i+1, e.Title, indented(e.Text, "    "))
	}
	if len(p.SeeAlso) > 0 {
		b.WriteString("\nSEE ALSO\n\n")
	}
	for _, s := range p.SeeAlso {
		fmt.Fprintf(&b, "  %s\n", s)
	}
	io.WriteString(w, b.String())
}

func (p Page) writeOptions(b *strings.Builder) {
	for _, g := range p.Options {
		fmt.Fprintf(b, "\n  %s\n\n", g.Title)
		writeLines(b, g.Lines)
	}
}

// maxLeftWidth is the maximum width of the column of options. Wider options extend beyond it.
const maxLeftWidth = 40

func writeLines(b *strings.Builder, lines []Line) {
	width := 0
	for _, l := range lines {
		if n := utf8.RuneCountInString(l.Left) + 2*l.Depth; n <= maxLeftWidth {
			width = max(width, n)
		}
	}
	for _, l := range lines {
		if l.hidden {
			continue
		}
		left := strings.Repeat("  ", l.Depth) + l.Left
		pad := max(0, width-utf8.RuneCountInString(left))
		fmt.Fprintf(b, "    %s%s  %s\n", left, strings.Repeat(" ", pad), l.Right)
	}
}

func indented(text, by string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(by+l, " ")
	}
	return strings.Join(lines, "\n")
}
