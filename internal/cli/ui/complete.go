package ui

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// Completion never prints errors, because the user is typing a line. It opens the history only to
// complete runs and their steps.

// CompleteTool completes tool names and files.
func (env *Env) CompleteTool(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return env.CompleteTools(c, args, prefix)
}

// CompleteTools is CompleteTool for commands that take several tools.
func (env *Env) CompleteTools(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, e := range env.Library().List() {
		if strings.HasPrefix(e.Name, prefix) && e.ShadowedBy == "" && !slices.Contains(args, e.Name) {
			words = append(words, WithDescription(e.Name, e.Description))
		}
	}
	return words, cobra.ShellCompDirectiveDefault
}

// CompleteRun completes tools, then the parameters of the tool.
func (env *Env) CompleteRun(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return env.CompleteTool(c, args, prefix)
	}
	plan, err := Compile(env, args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeParams(plan, args[1:], prefix)
}

// completeParams completes the parameters of a tool that are not in given yet, or the value of the
// parameter that prefix names.
func completeParams(p *engine.Plan, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if name, value, ok := strings.Cut(prefix, "="); ok {
		return completeValue(p, name, value)
	}
	var words []string
	for _, d := range p.Definition.Parameters {
		again := slices.ContainsFunc(given, func(w string) bool { return strings.HasPrefix(w, d.Name+"=") || strings.HasPrefix(w, d.Name+":=") })
		if !strings.HasPrefix(d.Name, prefix) || again && d.Type != "array" {
			continue
		}
		about := d.Description
		if d.Required && d.Default == nil {
			about = "(required) " + about
		}
		words = append(words, WithDescription(d.Name+"=", about))
	}
	return words, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// completeValue completes the value of a parameter: values that the definition mentions, and files
// for a path or after @.
func completeValue(p *engine.Plan, name, value string) ([]string, cobra.ShellCompDirective) {
	d := p.Definition.Parameter(name)
	if d == nil || p.Secret(name) && !strings.HasPrefix(value, "@") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if file, ok := strings.CutPrefix(value, "@"); ok {
		return completeFile(name+"=@", file)
	}
	var words []string
	for _, v := range Candidates(d) {
		if strings.HasPrefix(v, value) && canOffer(v) {
			words = append(words, name+"="+v)
		}
	}
	if d.Path {
		files, directive := completeFile(name+"=", value)
		return append(words, files...), directive
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// canOffer reports whether a shell can show a word, which it prints as it is: without control characters.
func canOffer(word string) bool { return console.Clean(word) == word }

// maxFiles is how many files of a folder completion offers at most.
const maxFiles = 200

// completeFile completes a file name, with before in front of it. The shell cannot do this, because
// it takes the whole word for the name of the file.
func completeFile(before, value string) ([]string, cobra.ShellCompDirective) {
	dir, base := filepath.Split(value)
	from := dir
	if at, err := home.Dir(); err == nil && strings.HasPrefix(dir, "~/") {
		from = at + dir[1:]
	}
	if from == "" {
		from = "."
	}
	entries, _ := os.ReadDir(from)
	directive := cobra.ShellCompDirectiveNoFileComp
	var words []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(base, ".")
		if !strings.HasPrefix(e.Name(), base) || hidden || !canOffer(e.Name()) || len(words) == maxFiles {
			continue
		}
		word := before + dir + e.Name()
		if info, err := os.Stat(filepath.Join(from, e.Name())); err == nil && info.IsDir() {
			word += "/"
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		words = append(words, word)
	}
	return words, directive
}

// CompleteStep completes the steps of the tool named on the line.
func (env *Env) CompleteStep(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	plan, err := Compile(env, args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, name := range plan.Steps() {
		if strings.HasPrefix(name, prefix) {
			words = append(words, name)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// CompletePath completes the steps of a tool, including nested ones.
func (env *Env) CompletePath(name, prefix string) ([]string, cobra.ShellCompDirective) {
	plan, err := Compile(env, name)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all := Paths(plan, "")
	return slices.DeleteFunc(all, func(p string) bool { return !strings.HasPrefix(p, prefix) }), cobra.ShellCompDirectiveNoFileComp
}

// CompleteWith completes the parameters of the run named on the line.
func (env *Env) CompleteWith(_ *cobra.Command, args []string, prefix string) (words []string, directive cobra.ShellCompDirective) {
	directive = cobra.ShellCompDirectiveNoFileComp
	if len(args) == 0 {
		return nil, directive
	}
	env.ReadHistory(func(ctx context.Context, s History) error {
		p, err := env.LoadRun(ctx, s, findrun.Rerun, args[0])
		if err == nil {
			words, directive = completeParams(p.Plan, nil, prefix)
		}
		return err
	})
	return words, directive
}

// Candidates returns values to offer for a parameter: its allowed values, its examples, its
// default.
func Candidates(p *tool.Parameter) []string {
	values := append(append([]tool.Value(nil), p.Validation.Enum...), p.Examples...)
	if p.Default != nil {
		values = append(values, *p.Default)
	}
	var words []string
	for _, v := range values {
		word := ""
		if v.Text != nil || v.Scalar != nil {
			word = v.Spelling()
		}
		if word != "" && word == console.Clean(word) && !strings.Contains(word, "{") && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if p.Type == "boolean" {
		for _, word := range []string{"true", "false"} {
			if !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}

// WithDescription returns a completion with a description in one line, in the form that shells
// expect.
func WithDescription(word, text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text = console.Sanitize(text)
	if text == "" {
		return word
	}
	return word + "\t" + text
}
