package author

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/explain"
	"github.com/flowrun/flowrun/internal/screen/console"
)

func explainCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "explain [CODE...]",
		Short: "Explain what a problem means and how to fix it",
		Long: `Explain a code: of a problem (unknown-step), of a best-practice note (retry-network), of a
rejected parameter (missing), the reason why a step did not succeed (upstream-failed), an
error of the HTTP API (live), or an exit code (3). The page of a problem shows a wrong
example, the corrected example, and the reason. Without a code, list all codes.`,
		Example: `  flowrun explain
  flowrun explain unknown-step
  flowrun explain 124`,
		RunE: func(_ *cobra.Command, args []string) error {
			return explainCodes(env, args, output)
		},
		ValidArgsFunction: completeCode,
	}
	ui.OutputFlag(c, &output, "text", "json")
	return c
}

func explainCodes(env *ui.Env, codes []string, output string) error {
	pages := explain.Pages()
	if len(codes) > 0 {
		pages = nil
	}
	for _, code := range codes {
		found := explain.Find(code)
		if len(found) == 0 {
			return unknownCode(code)
		}
		pages = append(pages, found...)
	}
	switch {
	case output == "json":
		return ui.WriteJSON(env, explainDocument(pages))
	case len(codes) == 0:
		return listPages(env, pages)
	}
	for i, p := range pages {
		if i > 0 {
			fmt.Fprintln(env.Stdout)
		}
		if _, err := fmt.Fprintf(env.Stdout, "%s: %s\n\n%s", p.Code, p.Title, plainPage(p.Text)); err != nil {
			return err
		}
	}
	return nil
}

// unknownCode is the error for a code without a page.
func unknownCode(code string) error {
	var codes []string
	for _, p := range explain.Pages() {
		codes = append(codes, p.Code)
	}
	way := ui.Nearest(code, codes)
	if way == "" {
		way = "; to list all codes: flowrun explain"
	}
	return ui.Missing(fmt.Errorf("unknown code %q%s", code, way))
}

func listPages(env *ui.Env, pages []explain.Page) error {
	for _, kind := range explain.Kinds() {
		if kind != explain.Kinds()[0] {
			fmt.Fprintln(env.Stdout)
		}
		fmt.Fprintf(env.Stdout, "%s:\n", kind.Title())
		var rows [][]string
		for _, p := range pages {
			if p.Kind == kind {
				rows = append(rows, []string{p.Code, p.Title})
			}
		}
		if err := ui.Table(env, []console.Column{{Title: "CODE"}, {Title: "MEANING", Yields: 1, Prose: true}}, rows, nil); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(env.Stdout, "\nFor details: flowrun explain CODE")
	return err
}

// plainPage converts a page from Markdown to plain text for a terminal: examples are indented, and
// backquotes are removed.
func plainPage(text string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside
		case inside && line != "\n":
			b.WriteString("    " + line)
		default:
			b.WriteString(strings.ReplaceAll(line, "`", ""))
		}
	}
	return b.String()
}

// explainJSON is the document of explain -o json (flowrun/explain.v1).
type explainJSON struct {
	Schema string     `json:"schema"`
	Pages  []pageJSON `json:"pages"`
}

type pageJSON struct {
	Code  string `json:"code"`
	Kind  string `json:"kind"`
	Title string `json:"title"`
	Text  string `json:"text"` // Markdown
	Wrong string `json:"wrong"`
	Right string `json:"right"`
}

func explainDocument(pages []explain.Page) explainJSON {
	doc := explainJSON{Schema: "flowrun/explain.v1", Pages: []pageJSON{}}
	for _, p := range pages {
		doc.Pages = append(doc.Pages, pageJSON{p.Code, string(p.Kind), p.Title, p.Text, p.Wrong, p.Right})
	}
	return doc
}

// completeCode completes the codes that have a page.
func completeCode(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, p := range explain.Pages() {
		if strings.HasPrefix(p.Code, prefix) {
			words = append(words, complete.WithDescription(p.Code, cmp.Or(p.Title, string(p.Kind))))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
