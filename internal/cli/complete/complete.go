// Package complete completes command lines: tools, runs, parameters, steps and files.
//
// Completion never prints errors, because the user is typing a line. It opens the history only to
// complete runs and their steps.
package complete

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// Tool completes one tool name or file.
func Tool(env *ui.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return Tools(env)(c, args, prefix)
	}
}

// Tools is Tool for commands that take several tools.
func Tools(env *ui.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) (words []string, _ cobra.ShellCompDirective) {
		for _, e := range env.Library().List() {
			if strings.HasPrefix(e.Name, prefix) && e.ShadowedBy == "" && !slices.Contains(args, e.Name) {
				words = append(words, WithDescription(e.Name, e.Description))
			}
		}
		return words, cobra.ShellCompDirectiveDefault
	}
}

// Run completes tools, then the parameters of the tool.
func Run(env *ui.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return Tool(env)(c, args, prefix)
		}
		plan, err := ui.Compile(env, args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeParams(plan, args[1:], prefix)
	}
}

// Param completes a flag whose value is a parameter of the tool named on the line.
func Param(env *ui.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return Run(env)(c, args, prefix)
	}
}

// completeParams completes the parameters of a tool that are not in given yet, or the value of the
// parameter that prefix names.
func completeParams(p *engine.Plan, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if name, value, ok := strings.Cut(prefix, "="); ok {
		if name, ok = strings.CutSuffix(name, ":"); ok {
			return completeJSON(p, name, value)
		}
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
		if strings.HasPrefix(v, value) && v[0] != '@' { // which would name a file
			words = append(words, name+"="+v)
		}
	}
	if d.Path {
		files, directive := completeFile(name+"=", value)
		return append(words, files...), directive
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeJSON completes the value of a parameter as JSON: values that the definition mentions.
func completeJSON(p *engine.Plan, name, value string) (words []string, _ cobra.ShellCompDirective) {
	if d := p.Definition.Parameter(name); d != nil && !p.Secret(name) {
		for _, v := range mentioned(d) {
			word := valuetext.JSON(v.Data())
			if strings.HasPrefix(word, value) && canOffer(word) && !slices.Contains(words, name+":="+word) {
				words = append(words, name+":="+word)
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// mentioned returns the values of a parameter that its definition mentions: those that are allowed, examples, and the
// default unless it may refer to other parameters.
func mentioned(p *tool.Parameter) []tool.Value {
	values := slices.Concat(p.Validation.Enum, p.Examples)
	if p.Default != nil && !mayRefer(*p.Default) {
		values = append(values, *p.Default)
	}
	return values
}

// mayRefer reports whether a text in a value may hold placeholders.
func mayRefer(v tool.Value) bool {
	return v.Text != nil && strings.Contains(v.Text.S, "{") || slices.ContainsFunc(v.List, mayRefer) ||
		slices.ContainsFunc(v.Map, func(e tool.Entry) bool { return mayRefer(e.Value) })
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

// Step completes the steps of the tool named on the line.
func Step(env *ui.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return steps(env, args, prefix, (*engine.Plan).Steps)
	}
}

// Path completes the steps of the tool named on the line, including nested ones.
func Path(env *ui.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return steps(env, args, prefix, func(p *engine.Plan) []string { return ui.Paths(p, "") })
	}
}

// steps completes some steps of the tool named on the line.
func steps(env *ui.Env, args []string, prefix string, of func(*engine.Plan) []string) (words []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		if plan, err := ui.Compile(env, args[0]); err == nil {
			words = slices.DeleteFunc(slices.Clone(of(plan)), func(p string) bool { return !strings.HasPrefix(p, prefix) })
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// Parameters completes the parameters of the run named on the line.
func Parameters(env *ui.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) (words []string, directive cobra.ShellCompDirective) {
		directive = cobra.ShellCompDirectiveNoFileComp
		if len(args) == 0 {
			return nil, directive
		}
		env.ReadHistory(func(ctx context.Context, s ui.History) error {
			p, err := env.LoadRun(ctx, s, findrun.Rerun, args[0])
			if err == nil {
				words, directive = completeParams(p.Plan, nil, prefix)
			}
			return err
		})
		return words, directive
	}
}

// Candidates returns values to offer for a parameter: its allowed values, its examples, its
// default.
func Candidates(p *tool.Parameter) []string {
	var words []string
	for _, v := range mentioned(p) {
		word := ""
		if v.Text != nil || v.Scalar != nil {
			word = v.Spelling()
		}
		if word != "" && canOffer(word) && !slices.Contains(words, word) {
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
