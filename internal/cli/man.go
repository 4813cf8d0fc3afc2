package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// manCommand returns the command that prints or writes the manual pages, which are generated from
// the help of the commands.
//
// The package cobra/doc is not used, because it converts through Markdown, adds two libraries, and
// joins the paragraphs of our help into one.
func manCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "man [DIR]",
		Short: "Write the manual pages",
		Long: `Write the manual pages to DIR, one for each command and topic: flowrun.1, flowrun-run.1,
and so on. Without DIR, print the page of flowrun itself.`,
		Example: `  flowrun man | man -l -
  flowrun man ~/.local/share/man/man1`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return ui.Usagef(c, "give at most one folder")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return manPage(env.Stdout, c.Root())
			}
			return writeManPages(env, c.Root(), args[0])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
}

func writeManPages(env *ui.Env, root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot write manual pages: %w", err)
	}
	n := 0
	for _, c := range allCommands(root) {
		var b bytes.Buffer
		if err := manPage(&b, c); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, manName(c)+".1"), b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("cannot write manual pages: %w", err)
		}
		n++
	}
	env.Notef("%d pages in %s", n, dir)
	return nil
}

// allCommands returns a command with all its subcommands and topics.
func allCommands(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			list = append(list, allCommands(sub)...)
		}
	}
	return list
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage writes one page with the macros of man(7).
func manPage(w io.Writer, c *cobra.Command) error {
	var b strings.Builder
	build := ui.ThisBuild()
	day, _, _ := strings.Cut(build.Date, "T")
	fmt.Fprintf(&b, ".TH %q 1 %q %q \"flowrun\"\n", strings.ToUpper(manName(c)), day, "flowrun "+build.Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escapeRoff(manName(c)), escapeRoff(c.Short))
	switch {
	case c.HasAvailableSubCommands():
		fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", escapeRoff(c.CommandPath()+" COMMAND"))
	case c.Runnable():
		fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", escapeRoff(c.UseLine()))
	}
	b.WriteString(".SH DESCRIPTION\n")
	manText(&b, cmp.Or(c.Long, c.Short))
	manCommands(&b, c)
	if flags := strings.TrimRight(c.LocalFlags().FlagUsagesWrapped(manWidth), "\n"); flags != "" {
		b.WriteString(".SH OPTIONS\n")
		manText(&b, flags)
	}
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		manText(&b, c.Example)
	}
	manSeeAlso(&b, c)
	_, err := io.WriteString(w, b.String())
	return err
}

// manWidth is the maximum width of text that is printed unfilled.
const manWidth = 72

// manCommands lists the subcommands of a command, in the groups of its help.
func manCommands(b *strings.Builder, c *cobra.Command) {
	list := func(title string, take func(sub *cobra.Command) bool) {
		for _, sub := range c.Commands() {
			if sub.Hidden || !take(sub) {
				continue
			}
			if title != "" {
				fmt.Fprintf(b, ".SH %s\n", escapeRoff(strings.ToUpper(title)))
				title = ""
			}
			fmt.Fprintf(b, ".TP 16\n.B %s\n%s\n", escapeRoff(sub.Name()), escapeRoff(sub.Short))
		}
	}
	for _, g := range c.Groups() {
		list(strings.TrimSuffix(g.Title, ":"), func(sub *cobra.Command) bool { return sub.GroupID == g.ID })
	}
	list("Commands", func(sub *cobra.Command) bool { return sub.GroupID == "" && !sub.IsAdditionalHelpTopicCommand() })
	list("Topics", func(sub *cobra.Command) bool { return sub.IsAdditionalHelpTopicCommand() })
}

// manSeeAlso lists the related pages.
func manSeeAlso(b *strings.Builder, c *cobra.Command) {
	var pages []string
	if c.HasParent() {
		pages = append(pages, manName(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			pages = append(pages, manName(sub))
		}
	}
	b.WriteString(".SH SEE ALSO\n")
	for i, p := range pages {
		comma := ","
		if i == len(pages)-1 {
			comma = ""
		}
		fmt.Fprintf(b, ".BR %s (1)%s\n", escapeRoff(p), comma)
	}
}

// manText writes paragraphs. Indented lines keep their line breaks.
func manText(b *strings.Builder, text string) {
	fixed := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch indented := strings.HasPrefix(line, " "); {
		case line == "":
			if fixed {
				b.WriteString(".fi\n")
			}
			fixed = false
			b.WriteString(".PP\n")
			continue
		case indented != fixed:
			fixed = indented
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[fixed])
		}
		b.WriteString(escapeRoff(line) + "\n")
	}
	if fixed {
		b.WriteString(".fi\n")
	}
}

// escapeRoff escapes characters that are special in troff.
func escapeRoff(text string) string {
	text = roffEscapes.Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") || strings.HasPrefix(text, `\(aq`) {
		return `\&` + text
	}
	return text
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "…", "...")
