package steps

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/internal/stepfile"
)

// valueFiles returns the files in which the attempt writes values.
func (t *attempt) valueFiles() (list []string) {
	for _, file := range []string{t.outputFile, t.stateFile} {
		if file != "" {
			list = append(list, file)
		}
	}
	return list
}

// entries reads a file in which the attempt has written values. variable names the file in messages.
func (t *attempt) entries(path, variable string) ([]stepfile.Entry, error) {
	text, err := t.remote.valueFile(variable)
	if t.remote == nil {
		text, err = readValueFile(path, variable)
	}
	if err != nil {
		return nil, err
	}
	entries, err := stepfile.Parse(text)
	if problem, ok := errors.AsType[*stepfile.Error](err); ok {
		err = problem.In("$" + variable)
	}
	return entries, err
}

// readValueFile reads a file that a step has written. The step may have put something else in its place.
func readValueFile(path, variable string) ([]byte, error) {
	f, err := proc.OpenFile(path, os.O_RDONLY|openNoFollow, 0)
	if err != nil {
		return nil, fmt.Errorf("the step has removed or replaced the file in $%s; write into it", variable)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the step has replaced the file in $%s; write into it", variable)
	}
	return io.ReadAll(io.LimitReader(f, stepfile.Limit+1))
}
