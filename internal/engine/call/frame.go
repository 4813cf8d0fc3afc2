package call

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/sharedfiles"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Frame is one call of one tool in progress: its parameters, and what its steps need to know of the run. It does not
// change once the call has begun.
type Frame struct {
	*Params
	*Shared
	RunEnv       *RunEnv // of the call: that in which its parameters were bound, or that of the run
	session      *steps.Session
	vars         environment
	secrets      map[string]string // values of secrets by key
	preview      bool              // a preview: nothing may be started
	missing      *[]string         // see AllowMissing
	Guessed      bool              // in a preview: some parameters are not known
	dir          string
	temp         string
	run          string         // id of the run; "" for a preview
	Path         dag.ID         // of the step that uses the tool; "" for the run's own
	Local        *Local         // names of the loop item in scope
	Kept         map[string]any // the state of the tool, as {state.NAME} reads it; nil: it is not known yet
	Calling      []string       // tools that call each other with api.callTool, outermost first
	Confine      confinement.Confinement
	readsProject bool               // see Enforce
	outer        *permission.Grants // permissions of the enforced tool that uses this one; nil: there is none
}

// Shared is what all calls of one run share. The engine sets it before the call of the run itself begins.
type Shared struct {
	secretCache secretCache
	Artifacts   *artifact.Run    // nil: no files are kept
	Files       *sharedfiles.Run // the files that steps of the run write; nil: nobody asks
	States      StateReader
	Cache       *Caching // nil: results are neither stored nor reused
	Answerable  bool     // a person could answer a question of the run, now or later
	State       string   // the engine's state folder; "" for none
	Tools       string   // folder for data of tools; "" for none
}

// FrameOf returns the call that the arguments of a graph are. The graphs of a plan have no other arguments.
func FrameOf(args dag.Args) *Frame {
	a, ok := args.(*Frame)
	if !ok {
		panic(fmt.Sprintf("the arguments of a graph are %T, not a call of a tool", args))
	}
	return a
}

// Session returns the session of the run. Session, Scope, Environ, Dir, Resolve, Temp, Secret and Confinement make
// Frame a steps.Frame.
func (a *Frame) Session() *steps.Session { return a.session }

// Scope returns the scope in which a step's references are resolved.
func (a *Frame) Scope(v dag.View) expr.Scope { return Scope{View: v, Frame: a} }

// Environ returns the tool's own variables, K=V.
func (a *Frame) Environ() []string { return a.vars.pairs }

// Dir returns the directory in which the tool's steps start.
func (a *Frame) Dir() string { return a.dir }

// Resolve makes a path absolute. A relative one starts at base, "" for the workspace.
func (a *Frame) Resolve(base, path string) string { return a.RunEnv.Resolve(base, path) }

// Temp returns the call's own temporary directory, "" if it has none.
func (a *Frame) Temp() string { return a.temp }

// Secret returns the value of a step's secret, which was fetched when the call began.
func (a *Frame) Secret(key string) string { return a.secrets[key] }

// Confinement returns the restrictions on the tool's steps.
func (a *Frame) Confinement() confinement.Confinement { return a.Confine }

// Begin prepares the call: environment, secrets, directories. path distinguishes the calls of one run.
func (a *Frame) Begin(ctx context.Context, session *steps.Session, run string, path dag.ID) error {
	a.session, a.run, a.Path = session, run, path
	a.warnUndeclared()
	if err := a.OpenEnvironment(ctx); err != nil {
		return err
	}
	if err := a.FindDir(); err != nil {
		return err
	}
	if path != "" { // that of the run itself is read later, when the run has its locks
		if err := a.ReadState(ctx); err != nil {
			return err
		}
	}
	return a.makeTemp(path)
}

// FindDir determines the directory in which the tool's steps start.
func (a *Frame) FindDir() error {
	a.dir = a.RunEnv.Workspace
	if a.Plan.Dir != nil {
		dir, err := a.Plan.Dir.Text(Scope{Frame: a})
		if err != nil {
			return fmt.Errorf("cannot render working-directory: %w", err)
		}
		a.dir = a.RunEnv.Resolve("", dir)
	}
	return nil
}

// OpenEnvironment reads the tool's env files, fetches its secrets, renders its variables, and adds all secret values
// to the mask. The commands of the call are then limited to its permissions, if they are enforced.
func (a *Frame) OpenEnvironment(ctx context.Context) error {
	a.enforceEarly()
	if err := a.openEnvironment(ctx); err != nil {
		return err
	}
	a.enforce()
	return nil
}

func (a *Frame) openEnvironment(ctx context.Context) error {
	if err := a.readEnvFiles(); err != nil {
		return err
	}
	if err := a.fetchSecrets(ctx); err != nil {
		return err
	}
	a.warnUnknownSecrets()
	secret := make(map[string]bool, len(a.Plan.Secrets))
	for _, s := range a.Plan.Secrets {
		secret[s.S] = true
		if err := a.maskSecret(s.S, a.Given[s.S], a.Values[s.S].V, a.RunEnv.Vars[s.S], a.vars.overrides[s.S]); err != nil {
			return err
		}
	}
	size := 0
	for _, e := range a.Plan.Environ {
		v, err := e.Value.Text(Scope{Frame: a})
		if a.preview && errors.Is(err, expr.ErrUnknown) {
			continue
		}
		if size += len(v); size > valuetext.MaxTogether {
			err = &valuetext.SizeError{What: "the environment", Max: valuetext.MaxTogether}
		}
		if err != nil {
			return fmt.Errorf("cannot render environment variable %s: %w", e.Name, err)
		}
		if secret[e.Name] {
			if err := a.maskSecret(e.Name, v); err != nil {
				return err
			}
		}
		a.vars.pairs = append(a.vars.pairs, e.Name+"="+v)
	}
	return a.maskEarly()
}

// readEnvFiles reads the tool's env-files. Their variables override those of the process.
func (a *Frame) readEnvFiles() (err error) {
	files := a.Plan.EnvFiles
	if a.Guessed {
		files = slices.DeleteFunc(slices.Clone(files), func(f steps.EnvFile) bool {
			_, err := f.Path.Text(Scope{Frame: a})
			return errors.Is(err, expr.ErrUnknown)
		})
	}
	a.vars.files, err = a.session.ReadEnvFiles(steps.EnvFiles{Confinement: a.Confine, Files: files, Step: a.Path, Resolve: func(path string) string { return a.RunEnv.Resolve("", path) },
		Outer: func(name string) (string, bool) { v, ok := a.RunEnv.Vars[name]; return v, ok }}, Scope{Frame: a})
	for _, kv := range a.vars.files {
		name, value, _ := strings.Cut(kv, "=")
		a.vars.setOwn(name, value)
	}
	return a.environmentError(err)
}

// maskSecret adds values to the mask, structured ones leaf by leaf.
func (a *Frame) maskSecret(name string, values ...any) error {
	for _, v := range values {
		for _, leaf := range value.Scalars(v) {
			if err := a.session.Mask().Add(leaf); err != nil {
				return fmt.Errorf("cannot mask %s: %w", name, err)
			}
		}
	}
	return nil
}

// WithoutSecrets returns err with secrets masked, so that it may leave the engine. If its text had to be changed, the
// type of the error is lost.
func (a *Frame) WithoutSecrets(err error) error {
	if err == nil {
		return nil
	}
	if text := a.session.Mask().String(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// maskEarly adds the masked-values of the steps that depend only on parameters to the mask before the first step
// starts, because these values also appear in the run's result.
func (a *Frame) maskEarly() error {
	for _, text := range a.Plan.Literals(map[*plan.Plan]bool{}) {
		if err := a.maskSecret("a secret in the definition (a default, an environment variable or an entry of masked-values)", text); err != nil {
			return err
		}
	}
	a.maskNestedSecrets(a.Plan, map[*plan.Plan]bool{})
	var err error
	a.Plan.Each(func(s *plan.Step) {
		if err == nil && s.BaseCommand() != nil {
			err = a.maskValues(s)
		}
	})
	return err
}

// maskValues adds those masked-values of a step to the mask that are known before it starts.
func (a *Frame) maskValues(s *plan.Step) error {
	for _, t := range s.BaseCommand().Masked {
		if slices.ContainsFunc(t.Refs(), func(r expr.Ref) bool { return r.Class == expr.Step || r.Class == expr.State || r.Class == expr.Local }) {
			continue
		}
		v, err := t.Text(Scope{Frame: a})
		if a.preview && errors.Is(err, expr.ErrUnknown) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot render masked-values: %w", err)
		}
		if err := a.maskSecret("masked-values of step "+s.Def.Name, v); err != nil {
			return err
		}
	}
	return nil
}

// makeTemp creates the temporary directory of the call.
func (a *Frame) makeTemp(path dag.ID) error {
	brief := a.Plan.Definition.Resources.DeleteTempFiles
	if a.Plan.Temp == nil && !brief {
		return nil
	}
	parent := a.RunEnv.Temp
	if a.Plan.Temp != nil {
		dir, err := a.Plan.Temp.Text(Scope{Frame: a})
		if err != nil {
			return fmt.Errorf("cannot render temp-directory: %w", err)
		}
		parent = a.RunEnv.Resolve("", dir)
	}
	call := strings.NewReplacer("/", "%", "#", "~").Replace(string(path)) // characters that no step's name has
	var err error
	if a.temp, err = a.session.MakeTemp(steps.TempFolder{Parent: parent, Call: call, Brief: brief}, a.Confine); err != nil {
		return fmt.Errorf("cannot create the temporary directory: %w", err)
	}
	return nil
}

// Caching describes how a run uses stored results.
type Caching struct {
	Open    func() (*cache.Store, error)
	NoReuse bool // store results, but reuse none
	Writers cache.Writers
}

// Inherit takes from outer what a tool shares with the tool that uses it.
func (a *Frame) Inherit(outer *Frame) {
	a.Shared, a.Calling = outer.Shared, outer.Calling
	a.confineWithin(outer)
}

// confineWithin takes the rights away that the tool which uses this one does not have.
func (a *Frame) confineWithin(outer *Frame) {
	a.readsProject = outer.readsProject
	confined := a.Plan.ConfinedBy(outer.Confine)
	a.Confine = a.Confine.Within(confined)
	if confined.Enforced {
		a.outer = &outer.Confine.Grants
	}
}
