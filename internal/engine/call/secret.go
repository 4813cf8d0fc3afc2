package call

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/engine/dotenv"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

const (
	secretTimeout = 30 * time.Second // limit for a command that prints a secret
	maxSecret     = 64 << 10         // limit in bytes for a secret from a file or a command
)

// EnvironmentError reports that part of a tool's environment is not available: an env file, or the value of a secret.
// It holds no values.
type EnvironmentError struct {
	Tool     string
	Problems []string
}

func (e *EnvironmentError) Error() string { return strings.Join(e.Problems, "\n") }

// environmentError returns an EnvironmentError with the lines of err, nil for nil.
func (a *Frame) environmentError(err error) error {
	if err == nil {
		return nil
	}
	return &EnvironmentError{Tool: a.Plan.Name(), Problems: strings.Split(a.session.Mask().String(err.Error()), "\n")}
}

// secretCache holds the secrets that were fetched in a run, by their source. Each source is asked only once, however
// many tools of the run need it.
type secretCache struct {
	mu     sync.Mutex
	values map[string]string
}

func (w *secretCache) once(source string, ask func() (string, error)) (string, error) {
	w.mu.Lock() // held while asking, so that others who need the same secret wait for it
	defer w.mu.Unlock()
	if v, ok := w.values[source]; ok {
		return v, nil
	}
	v, err := ask()
	if err == nil {
		if w.values == nil {
			w.values = map[string]string{}
		}
		w.values[source] = v
	}
	return v, err
}

// fetchSecrets fetches the secrets of the tool and of its steps, and masks them.
func (a *Frame) fetchSecrets(ctx context.Context) error {
	a.secrets = map[string]string{}
	var bad []error
	for _, s := range a.Plan.AllSources() {
		v, err := a.fetch(ctx, s)
		switch {
		case a.preview && errors.Is(err, expr.ErrUnknown):
			continue
		case err != nil && a.missing != nil:
			*a.missing = append(*a.missing, a.session.Mask().String(fmt.Sprintf("%s: %v", s.Name, err)))
			continue
		case err == nil:
			err = a.maskSecret(s.Name, v)
		default:
			err = fmt.Errorf("cannot fetch the secret %s: %w", s.Name, err)
		}
		if err != nil {
			bad = append(bad, err)
			continue
		}
		a.secrets[s.Key] = v
	}
	for _, s := range a.Plan.SecretSources { // after all are fetched, because a secret cannot be the source of another one
		if v, ok := a.secrets[s.Key]; ok {
			a.vars.setOwn(s.Name, v)
		} else {
			a.vars.setUnknown(s.Name)
		}
	}
	if len(bad) > 0 && ctx.Err() != nil {
		return fmt.Errorf("cannot fetch the secrets of tool %s: %w", a.Plan.Name(), context.Cause(ctx))
	}
	return a.environmentError(errors.Join(bad...))
}

// AllowMissing lets OpenEnvironment succeed without the secrets that cannot be fetched. It adds
// them to list, each with the reason.
func (a *Frame) AllowMissing(list *[]string) { a.missing = list }

// maskNestedSecrets masks, from the start, what nested tools will take from variables of the process, or from files
// of their own, as secrets. A variable too short to be masked fails its tool later.
func (a *Frame) maskNestedSecrets(p *plan.Plan, seen map[*plan.Plan]bool) {
	if seen[p] {
		return
	}
	seen[p] = true
	for _, s := range p.Steps {
		if s.Script != nil && s.Script.Def.Module != nil {
			if env, err := a.Env(p.Definition, s.Script.Def.Module); err == nil { // the step reports the error
				a.session.Mask().Add(env.Secrets()...)
			}
		}
		if s.Nested == nil {
			continue
		}
		hide := func(name string) { a.session.Mask().Add(a.RunEnv.Vars[name]) }
		for _, name := range s.Nested.Secrets {
			hide(name.S)
		}
		for _, src := range s.Nested.AllSources() {
			hide(src.Env)
		}
		a.maskNestedSecrets(s.Nested, seen)
	}
}

// fetch reads a secret from its source. In a preview, the error is expr.ErrUnknown for a command, because nothing may
// be started.
func (a *Frame) fetch(ctx context.Context, s plan.SecretSource) (string, error) {
	var v string
	var err error
	switch {
	case s.Env != "":
		var ok bool
		if v, ok = a.vars.lookup(s.Env, a.RunEnv.Vars); !ok {
			err = fmt.Errorf("the environment variable %s is not set; set it", s.Env)
		}
	case s.File != nil:
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
		return "", errors.New("it contains a NUL byte, which environment variables cannot")
	}
	return v, nil
}

// fetchFile reads a file with the rights of the tool's own steps: a confined tool gets no secret that its steps may
// not read.
func (a *Frame) fetchFile(s plan.SecretSource) (string, error) {
	path, err := s.File.Text(Scope{Frame: a})
	if err != nil {
		return "", err
	}
	path = a.RunEnv.Resolve("", path)
	if a.Confine.Image != "" && !insideFolder(a.RunEnv.Workspace, path) {
		return "", fmt.Errorf("%s is outside the workspace, and the tool's container cannot read it; take the value from a variable (env)", path)
	}
	return a.secretCache.once(fmt.Sprintf("file %v\x00%s", a.Confine.Reduced, path), func() (text string, err error) {
		err = a.session.WithRights(a.Confine, "read", func() (err error) {
			text, err = dotenv.ReadBounded(path, maxSecret)
			return err
		})
		var at *fs.PathError
		if errors.As(err, &at) {
			err = fmt.Errorf("cannot read %s: %w", path, at.Err)
			if a.Confine.Reduced && errors.Is(err, fs.ErrPermission) {
				err = fmt.Errorf("%w; the tool has reduced privileges: let the group nobody read it, or take the value from a variable (env)", err)
			}
		}
		return withoutLineEnd(text), err
	})
}

// withoutLineEnd removes one line end from the end of a file, also one that an editor on Windows has written.
func withoutLineEnd(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r") }

func (a *Frame) fetchCommand(ctx context.Context, s plan.SecretSource) (string, error) {
	if a.preview {
		return "", expr.ErrUnknown
	}
	argv, err := s.Argv.Argv(Scope{Frame: a})
	if err != nil {
		return "", err
	}
	if a.Confine.Image != "" {
		return "", fmt.Errorf("its command %s would run outside the tool's container; take the value from a variable (env)", valuetext.Quoted(argv[0]))
	}
	// The command has the rights of the tool's steps, so its result is not shared with tools that have other rights.
	source := fmt.Sprintf("command %v\x00%s", a.Confine.Reduced, strings.Join(argv, "\x00"))
	return a.secretCache.once(source, func() (string, error) {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		ctx, cancel := context.WithTimeoutCause(ctx, secretTimeout, fmt.Errorf("it did not finish within %v", secretTimeout))
		defer cancel()
		text, err := a.session.Capture(ctx, steps.Capture{Name: strings.TrimPrefix(string(a.Path)+"/@secrets", "/"), Argv: argv, Dir: a.RunEnv.Workspace, Env: a.vars.files, MaxBytes: maxSecret, Confinement: a.Confine})
		if err != nil {
			err = fmt.Errorf("the command %s failed: %w", valuetext.Quoted(argv[0]), err)
		}
		return value.WithoutLineEnd(text), err
	})
}

// insideFolder reports whether a file is in a folder, with links resolved.
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

// warnUnknownSecrets warns of names in environment.secrets that do not exist, so that nothing is masked, and that are
// similar to an existing name. Other unknown names may be variables that are not set. It does nothing if steps have
// env files, because their variables are not known yet.
func (a *Frame) warnUnknownSecrets() {
	names, files := a.Plan.NamedInside()
	if files {
		return
	}
	for _, s := range a.Plan.Secrets {
		if _, ok := a.vars.lookup(s.S, a.RunEnv.Vars); ok || slices.Contains(names, s.S) {
			continue
		}
		all := slices.Concat(names, slices.Sorted(maps.Keys(a.vars.overrides)), slices.Sorted(maps.Keys(a.RunEnv.Vars)))
		if near := diagnostic.Near(s.S, all); len(near) > 0 {
			a.session.Notify(notice.Notice{Code: notice.Unset, Message: fmt.Sprintf("the secret %s of tool %s masks nothing: no parameter or variable has this name; did you mean %s?",
				s.S, a.Plan.Name(), near[0])})
		}
	}
}
