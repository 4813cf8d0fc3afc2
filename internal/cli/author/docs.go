package author

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/docpages"
)

func docsCommand(env *ui.Env) *cobra.Command {
	var f docsFlags
	c := &cobra.Command{
		Use:   "docs [TOPIC]",
		Short: "Read the documentation",
		Long: `Print a page of the documentation of this version, as Markdown. Without a topic, print the
list of all pages. The target of a link is a topic, such as guides/use-secrets.md; the name
alone is enough. Files to which pages link, such as examples/db-dump.yaml, are printed as they
are. No network is needed.

On a terminal, the page is shown with FLOWRUN_PAGER, PAGER or less, unless --no-pager is
given.`,
		Example: `  flowrun docs
  flowrun docs 1-first-tool
  flowrun docs --search retry exit code
  flowrun docs --llms > flowrun.txt
  flowrun docs -o json`,
		RunE: func(c *cobra.Command, args []string) error {
			print, err := f.printer(c, env, args)
			if err != nil {
				return err
			}
			if f.noPager || f.output == "json" {
				return print()
			}
			return env.Page(print)
		},
		ValidArgsFunction: completeTopic,
	}
	c.Flags().BoolVar(&f.search, "search", false, "list the sections that contain all these words")
	c.Flags().BoolVar(&f.llms, "llms", false, "print all tutorials, guides and reference pages as one text for language models")
	c.Flags().BoolVar(&f.noPager, "no-pager", false, "do not use a pager on a terminal")
	ui.OutputFlag(c, &f.output, "text", "json")
	return c
}

// docsFlags are the flags of flowrun docs.
type docsFlags struct {
	search, llms, noPager bool
	output                string
}

// printer returns the function that prints what the flags and arguments ask for.
func (f docsFlags) printer(c *cobra.Command, env *ui.Env, args []string) (func() error, error) {
	pages, err := readPages()
	if err != nil {
		return nil, err
	}
	found, err := f.find(c, pages, args)
	switch {
	case err != nil:
		return nil, err
	case f.output == "json":
		return func() error { return ui.WriteJSON(env, f.document(pages, found)) }, nil
	case f.search:
		return func() error { return listSections(env, found.sections) }, nil
	case f.llms:
		return func() error { return printAll(env.Stdout, found.pages) }, nil
	}
	return func() error { _, err := io.WriteString(env.Stdout, found.pages[0].text); return err }, nil
}

// docsFound is what the flags and arguments ask for: sections with --search, otherwise pages.
type docsFound struct {
	pages    []docsPage
	sections []docsSection
	list     bool // the pages are listed, without their text
}

func (f docsFlags) find(c *cobra.Command, pages []docsPage, args []string) (found docsFound, err error) {
	switch {
	case f.search && f.llms:
		return found, ui.Usagef(c, "--search lists sections and --llms prints all pages: use one of them")
	case f.search && len(args) == 0:
		return found, ui.Usagef(c, "--search needs words, such as: flowrun docs --search retry exit code")
	case f.search:
		found.sections = searchPages(pages, args)
		if len(found.sections) == 0 {
			return found, ui.Missing(fmt.Errorf("no section contains all these words: %s; search for fewer words, or list the pages with flowrun docs", strings.Join(args, " ")))
		}
		return found, nil
	case f.llms && len(args) > 0, len(args) > 1:
		return found, ui.Usagef(c, "unexpected argument %q", args[len(args)-1])
	case f.llms:
		return docsFound{pages: pagesForModels(pages)}, nil
	case len(args) == 0 && f.output == "json":
		return docsFound{pages: pages, list: true}, nil
	}
	word := strings.Join(args, "")
	if file, ok := linkedFile(word); ok {
		return docsFound{pages: []docsPage{file}}, nil
	}
	page, err := findPage(pages, word)
	return docsFound{pages: []docsPage{page}}, err
}

// linkedFile returns a file that is not a page, by the target of a link to it: ../../examples/db-dump.yaml.
func linkedFile(word string) (docsPage, bool) {
	target, _, _ := strings.Cut(word, "#")
	name := strings.TrimPrefix(strings.TrimPrefix(path.Clean("/"+target), "/"), "docs/")
	text, err := fs.ReadFile(docpages.Linked(), name)
	return docsPage{name, string(text)}, err == nil
}

// docsPage is a page of the documentation. Its topic is its path without .md.
type docsPage struct{ topic, text string }

// title is the first heading of the page.
func (p docsPage) title() string {
	title, _, _ := strings.Cut(strings.TrimPrefix(p.text, "# "), "\n")
	return title
}

// docsIndex is the page that lists all pages.
const docsIndex = "README"

func readPages() (pages []docsPage, err error) {
	files := docpages.Markdown()
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		pages = append(pages, docsPage{strings.TrimSuffix(name, ".md"), strings.ReplaceAll(string(text), "\r\n", "\n")})
		return err
	})
	return pages, err
}

// findPage returns the page of a topic: states, explanation/states, docs/explanation/states.md or
// ../explanation/states.md#a-heading.
func findPage(pages []docsPage, word string) (docsPage, error) {
	topic, _, _ := strings.Cut(word, "#")
	topic = strings.TrimSuffix(path.Clean("/"+topic), ".md")
	topic = cmp.Or(strings.TrimPrefix(strings.TrimPrefix(topic, "/docs/"), "/"), docsIndex)
	folder, base := path.Split(topic)
	var names, inFolder []string
	for _, p := range pages {
		in, name := path.Split(p.topic)
		if name == base && (folder == "" || folder == in) {
			return p, nil
		}
		names = append(names, name)
		if in == topic+"/" {
			inFolder = append(inFolder, name)
		}
	}
	way := ui.Nearest(word, names)
	switch {
	case len(inFolder) > 0:
		way = "; its pages: " + strings.Join(inFolder, ", ")
	case way == "":
		way = "; to search: flowrun docs --search " + base
	}
	return docsPage{}, ui.Missing(fmt.Errorf("there is no page %q%s", word, way))
}

// docsSection is a part of a page below a heading.
type docsSection struct {
	topic, heading string
	score          int
}

// searchPages returns the sections that contain all words, those with words in their headings first.
func searchPages(pages []docsPage, words []string) (found []docsSection) {
	words = strings.Fields(strings.ToLower(strings.Join(words, " ")))
	for _, p := range pages {
		for _, s := range sections(p.text) {
			heading, _, _ := strings.Cut(strings.TrimLeft(s, "# "), "\n")
			if score := relevance(strings.ToLower(p.title()+" "+heading), strings.ToLower(s), words); score > 0 {
				found = append(found, docsSection{p.topic, heading, score})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b docsSection) int { return b.score - a.score })
	return found[:min(len(found), 20)]
}

// sections cuts a page before each heading that is not in a code block.
func sections(text string) (list []string) {
	var b strings.Builder
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if strings.HasPrefix(line, "#") && !code && b.Len() > 0 {
			list = append(list, b.String())
			b.Reset()
		}
		b.WriteString(line)
	}
	return append(list, b.String())
}

// relevance is 0 unless each word is in the heading or in the text.
func relevance(heading, text string, words []string) (score int) {
	for _, word := range words {
		n := min(strings.Count(text, word), 5)
		if strings.Contains(heading, word) {
			n += 20
		}
		if n == 0 {
			return 0
		}
		score += n
	}
	return score
}

func listSections(env *ui.Env, found []docsSection) error {
	var rows [][]string
	for _, s := range found {
		rows = append(rows, []string{s.topic, s.heading})
	}
	return ui.Table(env, []console.Column{{Title: "TOPIC"}, {Title: "SECTION", Yields: 1, Prose: true}}, rows, nil)
}

// pagesForModels returns the pages for users. Diagnostics are left out: flowrun explain prints each, and all of them
// are longer than everything else.
func pagesForModels(pages []docsPage) []docsPage {
	return slices.DeleteFunc(slices.Clone(pages), func(p docsPage) bool {
		return p.topic == "reference/diagnostics" || p.topic == "reference/requirements"
	})
}

// printAll prints the pages, one after the other.
func printAll(w io.Writer, pages []docsPage) error {
	for _, p := range pages {
		if _, err := fmt.Fprintf(w, "<!-- docs/%s.md -->\n\n%s\n", p.topic, p.text); err != nil {
			return err
		}
	}
	return nil
}

// completeTopic completes the topics, with the titles of their pages.
func completeTopic(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	pages, err := readPages()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, p := range pages {
		for _, topic := range []string{path.Base(p.topic), p.topic} {
			if strings.HasPrefix(topic, prefix) {
				words = append(words, complete.WithDescription(topic, p.title()))
				break
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
