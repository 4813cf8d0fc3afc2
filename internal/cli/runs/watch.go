package runs

import (
	"context"
	"errors"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/watch"
)

// watchRun runs a tool again whenever one of its files changes, until Ctrl-C. A change during a run
// starts the next run after that has ended. Errors in the definition are reported, and watching
// continues.
func watchRun(env *ui.Env, c *cobra.Command, args []string, f runFlags) error {
	if f.params == "-" {
		return ui.Usagef(c, "--watch cannot be combined with --params -, because stdin can be read only once; give --params a file")
	}
	for _, p := range f.watchPaths {
		if err := watch.Check(p); err != nil {
			return ui.Usagef(c, "--watch-path %q: %v", p, err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), ui.TerminationSignals()...)
	defer stop()
	set, answers := &watch.Set{Files: []string{ui.AbsPath(args[0])}}, map[string]any{}
	for {
		known := set.Take() // a change while the definition is being read counts as a change
		r, err := parse(env, c, args, f, answers)
		if err == nil {
			set, answers = watchSet(r.plan, r.params, f.watchPaths), r.params
		} else {
			set.Files = append(set.Files, filesInError(err)...)
		}
		before := set.Take()
		for path, stamp := range known {
			if _, ok := before[path]; ok {
				before[path] = stamp
			}
		}
		if err == nil {
			err = authorize(env, r, f)
		}
		code := 0
		if err != nil {
			code = env.ReportError(err)
		}
		var use *ui.UsageError
		if ctx.Err() != nil || len(before) == 0 || errors.As(err, &use) {
			return ui.CodeError(code)
		}
		if ui.Verbose(f.Progress) {
			env.Notef("watching %s; press Ctrl-C to stop", plural.Of(len(before), "file"))
		}
		changed, err := set.Wait(ctx, before)
		if err != nil {
			return ui.CodeError(code)
		}
		if ui.Verbose(f.Progress) {
			for i, path := range changed {
				changed[i] = console.ShortPath(path)
			}
			env.Notef("changed: %s; rerunning", ui.Listed(changed))
		}
	}
}

// watchSet returns the files and patterns to watch: the definitions of the plan, the files that the
// caches of its steps depend on, and the patterns of --watch-path.
func watchSet(p *engine.Plan, params map[string]any, more []string) *watch.Set {
	s := &watch.Set{Patterns: slices.Clone(more), SkipFolders: []string{engine.DefaultStateDir()}}
	addPlan(s, p, params)
	return s
}

func addPlan(s *watch.Set, p *engine.Plan, params map[string]any) {
	if file := p.Definition.File; file != "" && !slices.Contains(s.Files, ui.AbsPath(file)) {
		s.Files = append(s.Files, ui.AbsPath(file))
	}
	for _, name := range p.Steps() {
		step := p.Step(name)
		if c := step.Cache; c != nil {
			dir := ""
			if step.WorkingDirectory != nil {
				dir = substitute(step.WorkingDirectory.S, params)
			}
			s.Patterns = append(s.Patterns, patterns(dir, c.Inputs, params)...)
			s.Exclude = append(s.Exclude, patterns(dir, c.Outputs, params)...)
		}
		if inner := p.Nested(name); inner != nil {
			addPlan(s, inner, nil)
		}
	}
}

// patterns returns the patterns of a cache as paths, relative to the working directory.
func patterns(dir string, texts []tool.Text, params map[string]any) (list []string) {
	for _, t := range texts {
		p := substitute(t.S, params)
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		list = append(list, p)
	}
	return list
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_.-]*\}`) })

// substitute replaces the placeholders in a pattern by the values of parameters. Placeholders whose
// values are known only during the run become *.
func substitute(text string, params map[string]any) string {
	return placeholder().ReplaceAllStringFunc(text, func(h string) string {
		if v, ok := params[h[1:len(h)-1]].(string); ok {
			return v
		}
		return "*"
	})
}

// filesInError returns the files that an error refers to.
func filesInError(err error) (list []string) {
	var diags tool.Diagnostics
	errors.As(err, &diags)
	for _, d := range diags {
		if d.Pos.File != "" && !slices.Contains(list, ui.AbsPath(d.Pos.File)) {
			list = append(list, ui.AbsPath(d.Pos.File))
		}
	}
	return list
}
