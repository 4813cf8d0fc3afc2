package steps

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/commandline"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/dotenv"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/codeenv"
)

// EnvFile is a file of environment variables. Package dotenv defines its syntax.
type EnvFile struct {
	Path     *expr.Template
	Optional bool // it may be missing
	// Foreign means that somebody other than the author of the definition chooses the file. Then a
	// variable that makes programs run code, such as PATH, is an error unless it is in Granted.
	Foreign bool
	Granted []string
}

// EnvFiles is a list of env files and how to read them. Later files override earlier ones.
type EnvFiles struct {
	Files   []EnvFile
	Step    dag.ID                      // for notices; "" for the run
	Resolve func(path string) string    // makes a path absolute
	Outer   func(string) (string, bool) // variables that values may refer to, in addition to those of the files

	Confinement confinement.Confinement // of the steps that get the variables
}

// ReadEnvFiles returns the variables of the files, K=V, each name once. Doubtful entries that can
// be used are reported as Notices. The error lists all missing files and all problems of the
// others, one per line; it contains no values.
func (s *Session) ReadEnvFiles(files EnvFiles, sc expr.Scope) ([]string, error) {
	var bad []error
	all := commandline.NewEnviron(nil)
	for _, f := range files.Files {
		path, err := f.Path.Text(sc)
		if err != nil {
			return nil, fmt.Errorf("cannot determine the path of the env file: %w", err)
		}
		path = files.Resolve(path)
		var text string
		err = s.WithRights(files.Confinement, "read", func() (err error) {
			text, err = dotenv.Read(path)
			return err
		})
		switch {
		case errors.Is(err, fs.ErrNotExist) && f.Optional:
			continue
		case errors.Is(err, fs.ErrNotExist):
			bad = append(bad, fmt.Errorf("cannot read the env file %s: it does not exist; create it, or set optional: true", path))
			continue
		case err != nil:
			bad = append(bad, fmt.Errorf("cannot read the env file %s: %w", path, reason(err)))
			continue
		}
		vars, problems := dotenv.Parse(path, text, func(name string) (string, bool) {
			if v, ok := all.Lookup(name); ok {
				return v, true
			}
			return files.Outer(name)
		})
		for _, p := range problems.Warnings() {
			s.Notify(notice.Notice{Code: notice.EnvFile, Step: files.Step, Message: p.String()})
		}
		if err := problems.Err(); err != nil {
			bad = append(bad, err)
		}
		for _, v := range vars {
			if f.Foreign && codeenv.RunsCode(v.Name) && !slices.Contains(f.Granted, v.Name) {
				bad = append(bad, fmt.Errorf("cannot set %s from the env file %s: the variable makes programs run code, and the path of the file comes from a parameter or a step; write a fixed path, list the values of the parameter in validation.enum, or add %s to security.required-permissions", v.Name, path, permission.EnvironmentPrefix+v.Name))
				continue
			}
			all.Set(v.Name, v.Value)
		}
	}
	return all.List, errors.Join(bad...)
}

// reason returns why a file could not be read, without its path.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// envFiles reads the env files of the step and masks the variables in Hidden.
func (t *start) envFiles() ([]string, error) {
	if len(t.EnvFiles) == 0 {
		return nil, nil
	}
	vars, err := t.session.ReadEnvFiles(EnvFiles{Files: t.EnvFiles, Step: t.call.Path, Resolve: func(path string) string { return t.frame.Resolve(t.dir, path) }, Outer: t.inheritedVariable, Confinement: t.confine}, t.scope)
	if err != nil {
		return nil, place.BadInput(err)
	}
	for _, name := range t.Hidden {
		if err := t.session.mask.Add(commandline.Lookup(vars, name)); err != nil {
			return nil, place.BadInput(fmt.Errorf("cannot keep %s secret: %w", name, err))
		}
	}
	return vars, nil
}

// inheritedVariable returns a variable of the graph or of the Session.
func (t *start) inheritedVariable(name string) (string, bool) {
	for _, list := range [][]string{t.frame.Environ(), t.session.inherits.List} {
		if v, ok := commandline.Find(list, name); ok {
			return v, true
		}
	}
	return "", false
}
