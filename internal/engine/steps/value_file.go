package steps

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// valueFile is a file in which an attempt writes values.
type valueFile struct {
	variable string // has the path
	path     string
	made     *os.File // open while the step runs, so that no other file can have its identity
}

// makeValueFiles creates the files for the outputs and the state that the command declares.
func (t *start) makeValueFiles() error {
	for _, one := range []struct {
		variable, pattern string
		declared          int
	}{{outputVariable, "output-*", len(t.Outputs)}, {stateVariable, "state-*", len(t.State)}} {
		if one.declared == 0 {
			continue
		}
		f, err := t.session.newValueFile(one.pattern)
		if err != nil {
			return err
		}
		f.variable = one.variable
		t.valueFiles = append(t.valueFiles, f)
	}
	return nil
}

// newValueFile creates an empty file that only this user can read. The caller removes it.
func (s *Session) newValueFile(pattern string) (f valueFile, err error) {
	if f.path, err = s.secretFile(pattern, ""); err != nil {
		return f, err
	}
	if f.made, err = proc.OpenFile(f.path, os.O_RDONLY, 0); err != nil {
		os.Remove(f.path)
		return valueFile{}, fmt.Errorf("cannot open a file for a step: %w", err)
	}
	return f, nil
}

func (f valueFile) remove() {
	f.made.Close()
	os.Remove(f.path)
}

// valuePaths returns the paths of the files in which the attempt writes values.
func (t *start) valuePaths() (list []string) {
	for _, f := range t.valueFiles {
		list = append(list, f.path)
	}
	return list
}

// entries reads the file in a variable, in which the attempt has written values.
func (t *start) entries(variable string) ([]stepfile.Entry, error) {
	text, err := t.place.values(t, variable)
	if err != nil {
		return nil, err
	}
	entries, err := stepfile.Parse(text)
	if problem, ok := errors.AsType[*stepfile.Error](err); ok {
		err = problem.In("$" + variable)
	}
	return entries, err
}

// read reads the file that a step has written. It is an error if the step has put something else in its place.
func (f valueFile) read() ([]byte, error) {
	in, err := proc.OpenFile(f.path, os.O_RDONLY|openNoFollow, 0)
	if err != nil {
		return nil, fmt.Errorf("the step has removed or replaced the file in $%s; write into it", f.variable)
	}
	defer in.Close()
	mine, err := f.made.Stat()
	if err != nil {
		return nil, err
	}
	if its, err := in.Stat(); err != nil || !os.SameFile(mine, its) {
		return nil, fmt.Errorf("the step has replaced the file in $%s; write into it", f.variable)
	}
	return io.ReadAll(io.LimitReader(in, stepfile.Limit+1))
}
