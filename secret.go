package flowrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/dotenv"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// secretSource is where the value of a secret comes from (S1-174). Exactly one of
// env, file and argv is set.
type secretSource struct {
	name string // of the variable that gets the value
	key  string // under which a call of the tool keeps it
	env  string
	file *expr.Template
	argv *expr.Template
}

const (
	secretTimeout = 30 * time.Second // for a command that answers with a secret
	maxSecret     = 64 << 10         // bytes of a secret from a file or a command
)

// secretSources compiles the secrets that have a source. owner keeps those of different
// steps apart.
func (c *compiler) secretSources(def *tool.Definition, list []tool.Secret, path, owner string, n names, note func(tool.Text, []expr.Ref)) []secretSource {
	var out []secretSource
	for i, s := range list {
		if !s.Sourced() {
			continue
		}
		if _, taken := n.params[s.Name.S]; taken {
			c.errorf("two-values", s.Name, "give the secret another name, or write the parameter's name alone to mask it",
				"%s is a parameter, and a secret with a source of its own", s.Name.S)
		}
		part := func(at *tool.Text, key string, sh expr.Shell) *expr.Template {
			key = fmt.Sprintf("%s[%d].%s", path, i, key)
			t := c.template(at, key, sh, n)
			if t == nil || !c.safeVariable(def, n, s.Name.S, *at, key, t) || !c.mentionsNone(*at, t.Refs(), "a secret is fetched before the first step runs", "write the source out, or take it from a parameter") {
				return nil
			}
			note(*at, t.Refs())
			return t
		}
		src := secretSource{name: s.Name.S, key: owner + "/" + s.Name.S, file: part(s.File, "file", expr.Plain), argv: part(s.Command, "command", expr.Argv)}
		if s.Env != nil {
			src.env = s.Env.S
		}
		out = append(out, src)
	}
	return out
}

// plainSecrets are the secrets that are only named.
func plainSecrets(list []tool.Secret) []tool.Text {
	var names []tool.Text
	for _, s := range list {
		if !s.Sourced() {
			names = append(names, s.Name)
		}
	}
	return names
}

// EnvironmentError says that what the environment of a tool is made of is not to be
// had: an env file, or the value of a secret. It holds no values.
type EnvironmentError struct {
	Tool     string
	Problems []string
}

func (e *EnvironmentError) Error() string { return strings.Join(e.Problems, "\n") }

// unfit is an EnvironmentError with the lines of err, nil for nil.
func (a *callArgs) unfit(err error) error {
	if err == nil {
		return nil
	}
	return &EnvironmentError{Tool: a.plan.Name(), Problems: strings.Split(a.session.Mask().String(err.Error()), "\n")}
}

// answers are secrets that were fetched in a run, by their source. Each is asked for
// once, however many tools of the run want it.
type answers struct {
	mu    sync.Mutex
	known map[string]string
}

func (w *answers) once(source string, ask func() (string, error)) (string, error) {
	w.mu.Lock() // held while asking: who wants the same waits
	defer w.mu.Unlock()
	if v, ok := w.known[source]; ok {
		return v, nil
	}
	v, err := ask()
	if err == nil {
		if w.known == nil {
			w.known = map[string]string{}
		}
		w.known[source] = v
	}
	return v, err
}

// fetchSecrets gets the values of the tool's secrets and of its steps' and hides them.
func (a *callArgs) fetchSecrets(ctx context.Context) error {
	a.fetched = map[string]string{}
	var bad []error
	for _, s := range a.plan.allSources() {
		v, err := a.fetch(ctx, s)
		switch {
		case a.ahead && errors.Is(err, expr.ErrUnknown):
			continue
		case err == nil:
			err = a.keepSecret(s.name, v)
		default:
			err = fmt.Errorf("cannot fetch the secret %s: %w", s.name, err)
		}
		if err != nil {
			bad = append(bad, err)
			continue
		}
		a.fetched[s.key] = v
	}
	for _, s := range a.plan.sourced { // after all are fetched: one secret is no source of another
		if v, ok := a.fetched[s.key]; ok {
			a.setOwn(s.name, v)
		} else {
			a.unset(s.name)
		}
	}
	if len(bad) > 0 && ctx.Err() != nil {
		return fmt.Errorf("cannot fetch the secrets of tool %s: %w", a.plan.Name(), context.Cause(ctx))
	}
	return a.unfit(errors.Join(bad...))
}

// foreseen hides, from the start, what tools that a plan uses will take from the
// process's variables, or from files of their own, and keep secret. A variable too short
// to be hidden fails its tool.
func (a *callArgs) foreseen(p *compiledPlan, seen map[*compiledPlan]bool) {
	if seen[p] {
		return
	}
	seen[p] = true
	for _, s := range p.steps {
		if s.script != nil && s.script.def.Module != nil {
			if env, err := a.toolEnv(p.Definition, s.script.def.Module); err == nil { // else the step tells
				a.session.Mask().Add(env.secrets()...)
			}
		}
		if s.nested == nil {
			continue
		}
		hide := func(name string) { a.session.Mask().Add(a.world.vars[name]) }
		for _, name := range s.nested.secrets {
			hide(name.S)
		}
		for _, src := range s.nested.allSources() {
			hide(src.env)
		}
		a.foreseen(s.nested, seen)
	}
}

// allSources are those of the tool and of its steps.
func (p *compiledPlan) allSources() []secretSource {
	list := slices.Clone(p.sourced)
	p.each(func(s *planStep) { list = append(list, s.sourced...) })
	return list
}

// fetch asks a source. The error is expr.ErrUnknown for a command where nothing may be
// started.
func (a *callArgs) fetch(ctx context.Context, s secretSource) (string, error) {
	var v string
	var err error
	switch {
	case s.env != "":
		var ok bool
		if v, ok = a.env(s.env); !ok {
			err = fmt.Errorf("the variable %s is not set; set it", s.env)
		}
	case s.file != nil:
		v, err = a.fetchFile(s)
	default:
		v, err = a.fetchCommand(ctx, s)
	}
	switch {
	case err != nil:
		return "", err
	case v == "":
		return "", errors.New("it is empty")
	case strings.ContainsRune(v, 0):
		return "", errors.New("it holds a NUL byte, which no variable can")
	}
	return v, nil
}

// fetchFile reads a file as far as the tool's own steps could: a confined tool is handed
// nothing that they may not read.
func (a *callArgs) fetchFile(s secretSource) (string, error) {
	path, err := s.file.Text(scope{args: a})
	if err != nil {
		return "", err
	}
	path = a.world.resolve(path)
	if a.confine.Image != "" && !insideFolder(a.world.Workspace, path) {
		return "", fmt.Errorf("%s is outside the workspace, and the tool's container may not read it; take the value from a variable (env)", path)
	}
	return a.answers.once(fmt.Sprintf("file %v\x00%s", a.confine.Reduced, path), func() (text string, err error) {
		err = a.session.WithRights(a.confine, func() (err error) {
			text, err = dotenv.ReadBounded(path, maxSecret)
			return err
		})
		var at *fs.PathError
		if errors.As(err, &at) {
			err = fmt.Errorf("cannot read %s: %w", path, at.Err)
			if a.confine.Reduced && errors.Is(err, fs.ErrPermission) {
				err = fmt.Errorf("%w; the tool has reduced privileges: let the group nobody read it, or take the value from a variable (env)", err)
			}
		}
		return withoutLineEnd(text), err
	})
}

func (a *callArgs) fetchCommand(ctx context.Context, s secretSource) (string, error) {
	if a.ahead {
		return "", expr.ErrUnknown
	}
	argv, err := s.argv.Argv(scope{args: a})
	if err != nil {
		return "", err
	}
	if a.confine.Image != "" {
		return "", fmt.Errorf("its command %s would run outside the tool's container; take the value from a variable (env)", expr.Quoted(argv[0]))
	}
	// With the rights of the tool's steps; not shared with tools that have other rights.
	source := fmt.Sprintf("command %v\x00%s", a.confine.Reduced, strings.Join(argv, "\x00"))
	return a.answers.once(source, func() (string, error) {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		ctx, cancel := context.WithTimeoutCause(ctx, secretTimeout, fmt.Errorf("it gave no answer within %v", secretTimeout))
		defer cancel()
		text, err := a.session.Capture(ctx, steps.Capture{Name: strings.TrimPrefix(string(a.path)+"/@secrets", "/"), Argv: argv, Dir: a.world.Workspace, Env: a.files, Most: maxSecret, Confinement: a.confine})
		if err != nil {
			err = fmt.Errorf("its command %s: %w", expr.Quoted(argv[0]), err)
		}
		return withoutLineEnd(text), err
	})
}

// insideFolder says whether a file lies in a folder, links resolved.
func insideFolder(dir, path string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// withoutLineEnd takes one line end off the end of a text.
func withoutLineEnd(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r") }
