package tools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/netclient"
	"github.com/flowrun/flowrun/internal/service/tooltest"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/steps/sqlclient"
)

// completeTest completes the tests of the tools named on the line, or of all tools if there are
// none.
func completeTest(env *ui.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		lib := env.Library()
		if len(args) == 0 {
			for _, e := range lib.List() {
				args = append(args, e.Path)
			}
		}
		var words []string
		for _, t := range targets(lib, args) {
			def, _, err := lib.Lookup(t.name, nil)
			if err != nil {
				continue
			}
			for _, test := range def.Tests {
				if strings.HasPrefix(test.Name, prefix) {
					words = append(words, complete.WithDescription(test.Name, def.Name))
				}
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// testFlags are the flags of flowrun tool test.
type testFlags struct {
	scopes        page.Scope
	scope         string // set by check
	tests         []string
	verbose       bool
	stopOnFailure bool
	jobs          int
	inPlace       bool
	offline       bool
	reports       []string
	output        string
}

var testForms = []string{"text", "json"}

const defaultJobs = 4

func toolTestCommand(env *ui.Env) *cobra.Command {
	f := testFlags{output: testForms[0]}
	c := &cobra.Command{
		Use:               "test [NAME|PATH ...]",
		Short:             "Run the tests in definitions",
		RunE:              func(c *cobra.Command, args []string) error { return toolTest(env, c, args, f) },
		ValidArgsFunction: complete.Tools(env),
	}
	page.Page{
		Title: "flowrun tool test",
		About: []string{
			"Run the tests in definitions. Give tools by name, files, or folders of files. Without an",
			"argument, test all available tools.",
			"",
			"Each test runs in a new folder, which is the tool's {WORKSPACE}; {TEMP} is also a new",
			"folder. Cleanup commands run even if a test fails. Runs are not recorded. The command",
			"asks no questions: tests of tools that are denied or need elevated permissions are skipped.",
			"",
			"Exits 1 when a test failed, 3 when a definition has an error, 130 after Ctrl-C.",
		},
		Usage: []string{"flowrun tool test [TOOL_NAME|PATH ...] [--scope] [options]"},
		Options: []page.Group{
			f.scopes.Options("Test the tool from %s", "Test the tool from the first scope it's found in", ui.AnyScope),
			{Title: "TEST OPTIONS", Lines: []page.Line{
				{Left: "--test TEST_NAME", Right: "Name of specific test to run (if omitted, runs all tests); can be repeated", Target: &f.tests},
				{Left: "--verbose", Right: "Show detailed output, including that of successful tests", Target: &f.verbose},
				{Left: "--stop-on-failure", Right: "Stop testing after the first failure", Target: &f.stopOnFailure},
				{Left: "--jobs N", Right: "Run N tests at once (default: 4; 1 with --in-place)", Target: &f.jobs},
				{Left: "--in-place", Right: "Run in the working directory instead of a new folder", Target: &f.inPlace},
				{Left: "--offline", Right: "Skip tests of tools that have permission to use the network", Target: &f.offline},
				{Left: "--report FORM=FILE", Right: "Write a report, junit=FILE or json=FILE (- is stdout); can be repeated", Target: &f.reports},
				{Left: "--output, -o FORM", Right: "Print the results as text or as json, as --report json=FILE writes them (default: text)", Target: &f.output, Words: testForms},
			}},
		},
		Examples: []page.Example{
			{Title: "Run all tests for a tool", Text: "flowrun tool test weather-lookup"},
			{Title: "Run a specific test with verbose output", Text: "flowrun tool test weather-lookup --test basic-test --verbose"},
			{Title: "Run the tests of a folder, with a report", Text: "flowrun tool test ./tools --jobs 8 --report junit=tests.xml"},
		},
		SeeAlso: []string{"flowrun help tool", "flowrun help tools"},
	}.Apply(c)
	c.RegisterFlagCompletionFunc("test", completeTest(env))
	return c
}

func (f *testFlags) check(c *cobra.Command) error {
	var err error
	if f.scope, err = f.scopes.Choose(c, ui.AnyScope); err != nil {
		return err
	}
	if f.jobs < 0 || c.Flags().Changed("jobs") && f.jobs == 0 {
		return ui.Usagef(c, "--jobs must be at least 1")
	}
	if f.jobs == 0 {
		f.jobs = defaultJobs
		if f.inPlace {
			f.jobs = 1
		}
	}
	if err := ui.OneOf(c, "output", f.output, testForms); err != nil {
		return err
	}
	for _, r := range f.reports {
		if form, file, _ := strings.Cut(r, "="); form != "junit" && form != "json" || file == "" {
			return ui.Usagef(c, "--report %q is neither junit=FILE nor json=FILE", r)
		}
	}
	if f.documents() > 1 {
		return ui.Usagef(c, "only one document can be printed on standard output; write the other to a file: --report junit=FILE")
	}
	return nil
}

// documents returns the number of documents that are printed on stdout. If there is one, the results
// are printed on stderr, because a reader of stdout expects only the document.
func (f *testFlags) documents() (n int) {
	if f.output == "json" {
		n++
	}
	for _, r := range f.reports {
		if _, file, _ := strings.Cut(r, "="); file == "-" {
			n++
		}
	}
	return n
}

func toolTest(env *ui.Env, c *cobra.Command, args []string, f testFlags) error {
	if err := f.check(c); err != nil {
		return err
	}
	lib := env.Library()
	cases, broken, err := cases(env, lib, args, f)
	if err != nil {
		return err
	}
	if len(broken) > 0 {
		env.Diagnose(broken.Sorted())
	}
	if cases, err = filterCases(cases, f.tests); err != nil {
		return err
	}
	rules, err := launch.DecideTests(cases)
	if err != nil {
		return err
	}
	if len(cases) == 0 && len(broken) == 0 {
		env.Notef("%s", availableTests(nil))
	}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	sig := env.Signals(stop)
	defer sig.Stop()
	began := time.Now()
	results := env.Stdout
	if f.documents() > 0 {
		results = env.Stderr
	}
	done := func(o tooltest.Outcome) { printOutcome(results, &o, f.verbose) }
	if f.output == "json" {
		done = nil
	}
	outcomes, err := tooltest.Run(ctx, cases, tooltest.Options{Library: lib, Jobs: f.jobs, InPlace: f.inPlace, Offline: f.offline,
		StopOnFailure: f.stopOnFailure, Force: sig.Force, Done: done, HTTP: netclient.Status, Fetch: netclient.Fetch, Database: sqlclient.Open, MayCall: rules.MayCall, JavaScript: env.JavaScript()})
	if err != nil {
		return err
	}
	report := &tooltest.Report{Outcomes: outcomes, Broken: broken.Sorted(), Began: began, Took: time.Since(began), Name: ui.InRepository}
	rememberResults(env, lib, outcomes)
	s := tooltest.Count(outcomes)
	switch {
	case f.output == "json":
		err = report.WriteJSON(env.Stdout)
	case len(outcomes) > 0:
		printSummary(results, s, report.Took)
	}
	if err != nil {
		return err
	}
	if err := writeReports(env, f.reports, report); err != nil {
		return err
	}
	switch {
	case sig.Code() != 0:
		return ui.CodeError(sig.Code())
	case s.Failed > 0:
		return ui.CodeError(outcome.ExitFailed)
	case len(broken) > 0:
		return ui.CodeError(outcome.ExitInvalid)
	}
	return nil
}

// rememberResults stores the results of available tools, so that the web UI can show them.
func rememberResults(env *ui.Env, lib *library.Library, outcomes []tooltest.Outcome) {
	dir := engine.DefaultStateDir()
	available := slices.DeleteFunc(slices.Clone(outcomes), func(o tooltest.Outcome) bool {
		file, err := filepath.Abs(o.Plan.Definition.File)
		return err != nil || !slices.ContainsFunc(lib.Folders(), func(f library.Folder) bool { return f.Path == filepath.Dir(file) })
	})
	if dir == "" || len(available) == 0 {
		return
	}
	if err := tooltest.Remember(dir, available, time.Now()); err != nil {
		env.Notef("cannot store the results for the web UI: %v", err)
	}
}

// cases returns the tests of the tools that args name. broken has the problems of definitions that cannot be used:
// one must not hide the results of the others, nor be missing in a report.
func cases(env *ui.Env, lib *library.Library, args []string, f testFlags) (cases []tooltest.Case, broken tool.Diagnostics, err error) {
	targets, err := testTargets(env, lib, args, f.scope)
	if err != nil {
		return nil, nil, err
	}
	broken = unreadableFolders(lib, args, f.scope)
	for _, t := range targets {
		def, _, err := lib.Lookup(t.name, nil)
		if err != nil && t.found {
			broken = append(broken, tool.Diagnostic{Code: "unreadable", Severity: tool.Error, Pos: tool.Pos{File: t.name, Line: 1, Col: 1},
				Message: err.Error(), Hint: "make it readable, or remove it"})
			continue
		} else if err != nil {
			return nil, nil, ui.MarkMissing(err, t.name)
		}
		if t.found && len(def.Tests) == 0 {
			continue
		}
		plan, err := engine.Compile(lib, t.name)
		var ds tool.Diagnostics
		switch {
		case errors.As(err, &ds):
			broken = append(broken, ds...)
			continue
		case err != nil:
			return nil, nil, ui.MarkMissing(err, t.name)
		}
		for _, test := range def.Tests { // an alias has its own tests, not those of its base tool
			cases = append(cases, tooltest.Case{Tool: def.Name, Plan: plan, Test: test})
		}
	}
	return cases, broken, nil
}

// testTargets returns the tools to test.
func testTargets(env *ui.Env, lib *library.Library, args []string, scope string) ([]target, error) {
	if len(args) > 0 {
		return targetsInScope(env, args, scope)
	}
	var list []target
	for _, e := range lib.List() {
		if scope == ui.AnyScope && e.ShadowedBy == "" || scope == string(e.Scope) {
			list = append(list, target{e.Path, true})
		}
	}
	return list, nil
}

// filterCases returns the cases with the given names, or all cases if names is empty. An unknown
// name is an error.
func filterCases(cases []tooltest.Case, names []string) ([]tooltest.Case, error) {
	if len(names) == 0 {
		return cases, nil
	}
	var known []string
	for _, c := range cases {
		known = append(known, c.Test.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, ui.Missing(fmt.Errorf("unknown test %q%s", name, cmp.Or(ui.Nearest(name, known), "; "+availableTests(known))))
		}
	}
	return slices.DeleteFunc(cases, func(c tooltest.Case) bool { return !slices.Contains(names, c.Test.Name) }), nil
}

// availableTests lists the names of the available tests.
func availableTests(names []string) string {
	if len(names) == 0 {
		return "no tests found; write tests under the key tests of a definition"
	}
	return "the tests are " + ui.Listed(names)
}

// printOutcome prints the result of one test.
func printOutcome(w io.Writer, o *tooltest.Outcome, verbose bool) {
	name := console.Sanitize(o.Tool + ": " + o.Test.Name)
	switch o.Status {
	case tooltest.Passed:
		fmt.Fprintf(w, "ok       %s (%s)\n", name, shortTime(o.Duration))
	case tooltest.Failed:
		fmt.Fprintf(w, "FAILED   %s (%s) %s\n", name, shortTime(o.Duration), place(o.Test.Pos))
		printIndented(w, o.Details())
	default:
		fmt.Fprintf(w, "%-8s %s (%s)\n", o.Status, name, console.Sanitize(o.Reason))
	}
	if verbose && o.Status == tooltest.Passed && o.Output != "" {
		printIndented(w, strings.Split(strings.TrimSuffix(o.Output, "\n"), "\n"))
	}
	for _, warning := range o.Warnings {
		fmt.Fprintf(w, "    warning: %s\n", console.Sanitize(warning))
	}
}

func printIndented(w io.Writer, lines []string) {
	for _, l := range lines {
		fmt.Fprintf(w, "    %s\n", console.OutputLine(l))
	}
}

// place returns the location of a test.
func place(p tool.Pos) string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

func shortTime(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }

// printSummary prints the last line: the number of tests by result.
func printSummary(w io.Writer, s tooltest.Summary, took time.Duration) {
	parts := []string{fmt.Sprintf("%d ok", s.Passed)}
	for _, p := range []struct {
		n    int
		word string
	}{{s.Failed, "failed"}, {s.Skipped, "skipped"}, {s.Stopped, "stopped"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	fmt.Fprintf(w, "tests: %s (%s)\n", strings.Join(parts, ", "), shortTime(took))
}

// writeReports writes the reports that --report demands. The file - is stdout.
func writeReports(env *ui.Env, reports []string, report *tooltest.Report) error {
	for _, r := range reports {
		form, file, _ := strings.Cut(r, "=")
		write := report.WriteJSON
		if form == "junit" {
			write = report.WriteJUnit
		}
		var text bytes.Buffer
		err := write(&text)
		switch {
		case err != nil:
		case file == "-":
			_, err = env.Stdout.Write(text.Bytes())
		default:
			err = atomicfile.Output(file, text.Bytes(), 0o600) // private, because it contains output of steps
		}
		if err != nil {
			return fmt.Errorf("cannot write the report %s: %w", file, err)
		}
	}
	return nil
}
