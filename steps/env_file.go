package steps

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/codeenv"
	"github.com/flowrun/flowrun/internal/dotenv"
)

// EnvFile is a file of environment variables, by the rules of package dotenv.
type EnvFile struct {
	Path     *expr.Template
	Optional bool // it may be missing
	// Foreign says that others than the definition's author choose the file: a variable
	// in it that makes programs run code, as PATH does, is an error.
	Foreign bool
}

// EnvFiles is a list of them; the later ones win.
type EnvFiles struct {
	Files   []EnvFile
	Step    dag.ID                      // for notices; "" for the run
	Resolve func(path string) string    // makes a path absolute
	Outer   func(string) (string, bool) // variables that values may name, beside those of the files

	Confinement Confinement // of the steps that the variables are for
}

// ReadEnvFiles reads the variables of files, K=V, each name once. What looks wrong but
// can be used is a Notice. The error names every file that is missing, and everything
// that is wrong with the others, a line each; it holds no values.
func (s *Session) ReadEnvFiles(files EnvFiles, sc expr.Scope) ([]string, error) {
	var bad []error
	all := environ{index: map[string]int{}}
	for _, f := range files.Files {
		path, err := f.Path.Text(sc)
		if err != nil {
			return nil, fmt.Errorf("cannot tell which env file to read: %w", err)
		}
		path = files.Resolve(path)
		var text string
		err = s.WithRights(files.Confinement, func() (err error) {
			text, err = dotenv.Read(path)
			return err
		})
		switch {
		case errors.Is(err, fs.ErrNotExist) && f.Optional:
			continue
		case errors.Is(err, fs.ErrNotExist):
			bad = append(bad, fmt.Errorf("cannot read the env file %s: there is no such file; make it, or say optional: true", path))
			continue
		case err != nil:
			bad = append(bad, fmt.Errorf("cannot read the env file %s: %w", path, reason(err)))
			continue
		}
		vars, problems := dotenv.Parse(path, text, func(name string) (string, bool) {
			if i, ok := all.index[name]; ok {
				return all.list[i][len(name)+1:], true
			}
			return files.Outer(name)
		})
		for _, p := range problems.Warnings() {
			s.Notify(Notice{Code: NoticeEnvFile, Step: files.Step, Message: p.String()})
		}
		if err := problems.Err(); err != nil {
			bad = append(bad, err)
		}
		for _, v := range vars {
			if f.Foreign && codeenv.RunsCode(v.Name) {
				bad = append(bad, fmt.Errorf("cannot take %s from the env file %s: it makes programs run code, and the path of the file comes from a parameter or a step; write the path out, or list the parameter's values in validation.enum", v.Name, path))
				continue
			}
			all.set(v.Name, v.Value)
		}
	}
	return all.list, errors.Join(bad...)
}

// reason is why a file could not be read, without its path.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// envFiles reads the step's own files and hides what is secret in them.
func (t *attempt) envFiles() ([]string, error) {
	if len(t.EnvFiles) == 0 {
		return nil, nil
	}
	vars, err := t.session.ReadEnvFiles(EnvFiles{Files: t.EnvFiles, Step: t.call.Path, Resolve: t.resolvePath, Outer: t.inheritedVariable, Confinement: t.confine}, t.scope)
	if err != nil {
		return nil, inputError{err}
	}
	for _, name := range t.Hidden {
		if err := t.session.mask.Add(lookup(vars, name)); err != nil {
			return nil, inputError{fmt.Errorf("cannot keep %s secret: %w", name, err)}
		}
	}
	return vars, nil
}

// resolvePath makes a path absolute: a relative one counts from the step's directory.
func (t *attempt) resolvePath(path string) string {
	if filepath.IsAbs(path) || path == "~" || strings.HasPrefix(path, "~/") || t.dir == "" {
		return t.frame.Resolve(path)
	}
	return filepath.Join(t.dir, path)
}

// inheritedVariable is a variable that the step gets from around it.
func (t *attempt) inheritedVariable(name string) (string, bool) {
	for _, list := range [][]string{t.frame.Environ(), t.session.inherits.list} {
		if v, ok := find(list, name); ok {
			return v, true
		}
	}
	return "", false
}
