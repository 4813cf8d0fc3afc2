package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/permtrace"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/findings"
	"github.com/flowrun/flowrun/internal/lang/lint"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/buildinfo"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/timetable"
	"github.com/flowrun/flowrun/library"
)

// printDiagnostics prints the result of a validation on stdout. source returns the text of a file.
func printDiagnostics(env *ui.Env, ds tool.Diagnostics, targets int, f validateFlags, source func(string) []byte) error {
	if f.output != "text" && f.limit > 0 {
		ds = diagnostic.Reported(ds)
	}
	switch f.output {
	case "json":
		b, err := ui.WithPaths(ds, ui.InRepository).MarshalDocument()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(env.Stdout, "%s\n", b)
		return err
	case "github":
		return findings.GitHub(env.Stdout, ds, ui.InRepository)
	case "sarif":
		return findings.SARIF(env.Stdout, ds, buildinfo.Stamped().Version, source, ui.InRepository)
	}
	shown, left := ui.LimitDiagnostics(ds, f.limit)
	diagnostic.Render(env.Stdout, ui.WithPaths(shown, console.ShortPath), source, env.Style(env.Stdout))
	if left > 0 {
		fmt.Fprintf(env.Stdout, "\n+%d more; to show all: --limit 0\n", left)
	}
	if len(ds) > 0 {
		fmt.Fprintln(env.Stdout)
	}
	_, err := fmt.Fprintln(env.Stdout, summary(ds, targets))
	return err
}

// summary returns the last line: how many definitions were checked, with the number of problems.
func summary(ds tool.Diagnostics, targets int) string {
	var parts []string
	fixable := 0
	for _, s := range []tool.Severity{tool.Error, tool.Warning, tool.Note} {
		if n := diagnostic.Count(ds, s); n > 0 {
			parts = append(parts, plural.Of(n, string(s)))
		}
	}
	for _, d := range ds {
		if len(d.Fix) > 0 {
			fixable++
		}
	}
	words := validCount(targets)
	if ds.Err() != nil {
		words = plural.Of(targets, "definition") + " checked"
	}
	if len(parts) > 0 {
		words += ": " + strings.Join(parts, ", ")
	}
	if fixable > 0 {
		words += fmt.Sprintf("; flowrun validate --fix can fix %d", fixable)
	}
	return words
}

func validCount(n int) string {
	switch n {
	case 0:
		return "no definitions found; to create examples: flowrun init"
	case 1:
		return "1 definition is valid"
	}
	return plural.Of(n, "definition") + " are valid"
}

// validateFlags are the flags of flowrun validate and of flowrun tool validate.
type validateFlags struct {
	output   string
	limit    int
	strict   bool
	detailed bool
	fix      bool
	dryRun   bool
	against  string
	on       string
}

func newValidateFlags() validateFlags { return validateFlags{output: "text", limit: ui.MaxDiagnostics} }

var diagnosticForms = []string{"text", "json", "github", "sarif"}

func validateCommand(env *ui.Env) *cobra.Command {
	f := newValidateFlags()
	c := &cobra.Command{
		Use:   "validate [PATH|NAME...]",
		Short: "Check definitions and report all problems",
		Long: `Check definitions: files, folders of files, or tools by name. Without an argument, check
all available tools. The command checks everything that does not require a run: keys,
references, conditions, shell syntax, cycles and used tools. It notes commands in scripts
whose failure nobody would notice.

--fix fixes problems that have only one solution. It never changes the meaning of a
definition, and keeps comments and order. With --dry-run, it only shows the changes.
--detailed adds best-practice notes, and names permissions that no traced run used
(flowrun run --trace-permissions). For details of a problem: flowrun explain CODE

The command exits with 3 if a definition has an error.`,
		Example: `  flowrun validate
  flowrun validate .flowrun/tools deploy.yaml
  flowrun validate --fix --dry-run deploy.yaml
  flowrun validate --detailed --strict deploy.yaml
  flowrun validate -o json | jq .diagnostics
  flowrun validate --against old/deploy.yaml deploy.yaml
  flowrun validate --on temporal deploy.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			lib := env.Library()
			return validate(env, targets(lib, args), unreadableFolders(lib, args, ui.AnyScope), f)
		},
		ValidArgsFunction: complete.Tools(env),
	}
	fl := c.Flags()
	fl.BoolVar(&f.fix, "fix", false, "fix problems where possible, and report the rest")
	fl.BoolVar(&f.dryRun, "dry-run", false, "with --fix: show the changes as a diff, and write nothing")
	fl.BoolVar(&f.detailed, "detailed", false, "add best-practice notes, each with a reason and a recommendation")
	fl.BoolVar(&f.strict, "strict", false, "count warnings as errors")
	fl.StringVar(&f.against, "against", "", "report parameter changes without a new major version that break callers of the older definitions at this `path` (a file or folder)")
	fl.StringVar(&f.on, "on", "", "also report what is refused on this `engine`: temporal")
	fl.IntVar(&f.limit, "limit", f.limit, "show at most `n` problems as text; 0 shows all, in each form")
	fl.StringVarP(&f.output, "output", "o", f.output, "print in this `form`: text|json|github|sarif")
	c.RegisterFlagCompletionFunc("on", cobra.FixedCompletions([]string{"temporal"}, cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(diagnosticForms, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (f *validateFlags) check(c *cobra.Command) error {
	if err := ui.OneOf(c, "output", f.output, diagnosticForms); err != nil {
		return err
	}
	if f.limit < 0 {
		return ui.Usagef(c, "--limit must be at least 1, or 0 for all")
	}
	if f.on != "" && f.on != "temporal" {
		return ui.Usagef(c, "--on %q is not an engine with limits of its own: write temporal", f.on)
	}
	if f.dryRun && !f.fix {
		return ui.Usagef(c, "--dry-run requires --fix")
	}
	return nil
}

// validate validates the targets, fixes them if --fix is given, and prints their problems together
// with found, which are known already.
func validate(env *ui.Env, targets []target, found tool.Diagnostics, f validateFlags) error {
	v := &validation{env: env, flags: f, lib: env.Library(), found: found, ids: namesInFolders{}, texts: map[string][]byte{}}
	if f.on != "" {
		settings, err := ui.RunSettings(env, ui.InteractionFlags{})
		if err != nil {
			return err
		}
		v.pools = settings.Pools()
	}
	if f.against != "" {
		var err error
		if v.older, err = olderDefinitions(env.Library(), f.against); err != nil {
			return err
		}
	}
	var failed []error
	counter := env.Counter("checking file")
	for i, t := range targets {
		if err := v.validateTarget(t); err != nil { // continue, to report the problems of the other targets too
			failed = append(failed, err)
		}
		counter.Show(i+1, len(targets))
	}
	if len(failed) > 0 && len(failed) == len(targets) {
		return reportAllButLast(env, failed)
	}
	all := v.found.Sorted()
	if f.strict {
		all = warningsAsErrors(all)
	}
	if err := printDiagnostics(env, all, len(targets)-len(failed), f, v.source); err != nil {
		return err
	}
	launch.NoteModelLimits(env, slices.Values(v.sound), false)
	switch {
	case len(failed) > 0:
		return reportAllButLast(env, failed)
	case all.Err() != nil:
		return ui.CodeError(outcome.ExitInvalid)
	}
	return nil
}

// reportAllButLast prints all errors except the last, which it returns.
func reportAllButLast(env *ui.Env, failed []error) error {
	last := len(failed) - 1
	for _, err := range failed[:last] {
		env.Notef("%v", err)
	}
	return failed[last]
}

// warningsAsErrors returns the diagnostics with warnings turned into errors.
func warningsAsErrors(ds tool.Diagnostics) tool.Diagnostics {
	ds = slices.Clone(ds)
	for i := range ds {
		if ds[i].Severity == tool.Warning {
			ds[i].Severity = tool.Error
		}
	}
	return ds
}

// validation is one execution of the command.
type validation struct {
	env   *ui.Env
	flags validateFlags
	lib   *library.Library
	older map[string]*tool.Definition // by name
	pools map[string]history.Pool     // of the settings, for the flag on
	found tool.Diagnostics
	sound []*tool.Definition // those without errors
	ids   namesInFolders
	texts map[string][]byte // fixed texts that were not written, by file
}

func (v *validation) validateTarget(t target) error {
	if v.flags.fix {
		done, err := v.fix(t)
		if done || err != nil {
			return err
		}
	}
	before := len(v.found)
	p, err := engine.Compile(v.lib, t.name)
	var ds tool.Diagnostics
	switch {
	case errors.As(err, &ds):
		v.found = append(v.found, ds...)
	case err != nil && t.found: // an unreadable file must not hide the problems of the other files
		v.found = append(v.found, tool.Diagnostic{Code: "unreadable", Severity: tool.Error, Pos: tool.Pos{File: t.name, Line: 1, Col: 1},
			Message: err.Error(), Hint: "make it readable, or remove it"})
	case err != nil:
		return ui.MarkMissing(err, t.name)
	default:
		v.found = append(v.found, p.Warnings...)
		if v.flags.on != "" {
			v.found = append(v.found, engine.NotOnTemporal(p, v.pools)...)
		}
	}
	if def, found, err := v.lib.Lookup(t.name, nil); err == nil {
		v.checkDuplicate(t, def, found)
		v.lintDefinition(def, ds.Err() == nil)
		v.found = append(v.found[:before], ui.AppliedFixes(v.lib, v.found[before:], ui.ReadSource)...)
	}
	return nil
}

// lintDefinition adds notes and breaking changes, if the flags demand them.
func (v *validation) lintDefinition(def *tool.Definition, sound bool) {
	if sound {
		v.sound = append(v.sound, def)
		v.found = append(v.found, timetable.ExceptProblems(def)...)
	}
	switch {
	case sound && v.flags.detailed:
		v.found = append(v.found, lint.Of(def)...)
		v.found = append(v.found, unusedPermissions(def)...)
	case sound:
		v.found = append(v.found, lint.LostFailures(def)...)
	}
	if before := v.older[def.Name]; before != nil {
		v.found = append(v.found, lint.Breaking(before, def)...)
	}
}

// unusedPermissions returns notes about permissions that traced runs of a definition did not use.
func unusedPermissions(def *tool.Definition) tool.Diagnostics {
	state, err := ui.StateDir()
	if err != nil || len(def.Security.RequiredPermissions) == 0 {
		return nil
	}
	return lint.Unused(def, permtrace.NeverUsed(permtrace.Records(state, def.Pos.File)))
}

// olderDefinitions returns the definitions in a file or folder, by name. It ignores their problems.
func olderDefinitions(lib *library.Library, path string) (map[string]*tool.Definition, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, ui.MarkMissingFile(fmt.Errorf("cannot read the older definitions: %w", err))
	}
	files := []target{{name: path}}
	if st.IsDir() {
		files = definitionsIn(path)
	}
	older := map[string]*tool.Definition{}
	for _, t := range files {
		def, _, err := lib.Load(t.name)
		if err != nil {
			return nil, err
		}
		older[def.Name] = def
	}
	return older, nil
}

// target is a name or path to compile. found means that it was found in a folder or scope, not
// named by the user.
type target struct {
	name  string
	found bool
}

// targets returns what args stand for, or all available tools if args is empty.
func targets(lib *library.Library, args []string) []target {
	var list []target
	if len(args) == 0 {
		for _, e := range lib.List() {
			list = append(list, target{e.Path, true})
		}
		return list
	}
	for _, arg := range args {
		st, err := os.Stat(arg)
		switch {
		case err == nil && st.IsDir():
			list = append(list, definitionsIn(arg)...)
		case err == nil:
			list = append(list, target{explicitPath(arg), false})
		default:
			list = append(list, target{arg, false}) // the name of a tool, or not found
		}
	}
	return list
}

// unreadableFolders returns diagnostics for the folders of the scopes that cannot be read. It
// returns none if args name the tools.
func unreadableFolders(lib *library.Library, args []string, scope string) tool.Diagnostics {
	switch {
	case len(args) > 0:
		return nil
	case scope == ui.AnyScope:
		scope = ""
	}
	return lib.Unreadable(tool.Scope(scope))
}

// explicitPath returns a path that cannot be mistaken for the name of a tool.
func explicitPath(path string) string {
	if filepath.Base(path) == path {
		return "." + string(filepath.Separator) + path
	}
	return path
}

// isDefinition reports whether a file in a folder is a definition. A JSON file counts only in the
// folders of scopes, because other JSON files usually are something else. A Markdown file counts if
// its front matter says so.
func isDefinition(path string) bool {
	switch tool.Extension(path) {
	case ".yaml", ".yml", ".tool.js", ".tool.ts":
		return true
	case ".md":
		text, err := os.ReadFile(path)
		return err == nil && decode.Sniff(text) == ".md"
	case ".json":
		abs, err := filepath.Abs(path)
		tools := filepath.Dir(abs)
		return err == nil && filepath.Base(tools) == "tools" && slices.Contains([]string{".flowrun", ".cycod"}, filepath.Base(filepath.Dir(tools)))
	}
	return false
}

// definitionsIn returns the definitions in a folder and its subfolders. It includes paths that
// cannot be opened, so that compiling them reports the reason.
func definitionsIn(dir string) []target {
	var list []target
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && isDefinition(path) {
			list = append(list, target{explicitPath(path), true})
		}
		return nil
	})
	return list
}
