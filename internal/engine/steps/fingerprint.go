package steps

import (
	"errors"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/commandline"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Fingerprint is everything that determines what a command does, without what differs between
// attempts. It contains secrets.
type Fingerprint struct {
	Shell     string
	Strict    bool
	NoInherit bool
	Dir       string
	Command   []string // argv; or the script, then name and value of each variable that it reads
	Input     []string // content of stdin; empty if the command has no input
	Env       []EnvValue
	Container []string // image, mounts and services; empty if the command has no container
	// Unknown lists the fields that are empty because they refer to a value that is not known yet.
	// That happens only outside of a run.
	Unknown struct{ Command, Input, Dir, Container bool }
}

// EnvValue is a variable of the graph or the step, not an inherited one.
type EnvValue struct {
	Name, Value string
	Unknown     bool
}

// Fingerprint resolves the command and starts nothing. It fails for a rejected value, as Run would.
func (c *Command) Fingerprint(frame Frame, v dag.View) (*Fingerprint, error) {
	t := &start{attempt: &attempt{Command: c, frame: frame, call: &dag.Call{View: v}, session: frame.Session(), scope: frame.Scope(v)}}
	f := &Fingerprint{Shell: c.Shell, Strict: c.Strict, NoInherit: c.NoInherit}
	r, err := t.resolve()
	if f.Unknown.Command, err = unknown(err); err != nil {
		return nil, err
	}
	f.Command = r.words()
	if c.Input != nil {
		text, err := t.inputText()
		if f.Unknown.Input, err = unknown(err); err != nil {
			return nil, err
		}
		f.Input = []string{text}
	}
	t.dir, err = t.workingDirectory()
	f.Dir = t.dir
	if f.Unknown.Dir, err = unknown(err); err != nil {
		return nil, err
	}
	f.Container, err = c.Container.Words(t.scope)
	if f.Unknown.Container, err = unknown(err); err != nil {
		return nil, err
	}
	f.Env, err = t.ownVariables()
	return f, err
}

// WorkingDirectory returns the directory in which the command runs.
func (c *Command) WorkingDirectory(frame Frame, v dag.View) (string, error) {
	t := &start{attempt: &attempt{Command: c, frame: frame, call: &dag.Call{View: v}, session: frame.Session(), scope: frame.Scope(v)}}
	return t.workingDirectory()
}

// unknown reports whether err means that a value is not known yet, and returns all other errors.
func unknown(err error) (bool, error) {
	if errors.Is(err, expr.ErrUnknown) {
		return true, nil
	}
	return false, err
}

func (r *resolvedCommand) words() []string {
	if r.argv != nil {
		return r.argv
	}
	words := []string{r.script.Text}
	for _, v := range r.script.Vars {
		words = append(words, v.Name, v.Value)
	}
	return words
}

// ownVariables returns the variables of the graph and of the step, sorted by name. Those of the
// step override those of the graph.
func (t *start) ownVariables() ([]EnvValue, error) {
	byName := map[string]EnvValue{}
	for _, kv := range t.frame.Environ() {
		name := commandline.NameOf(kv)
		byName[name] = EnvValue{Name: name, Value: strings.TrimPrefix(kv[len(name):], "=")}
	}
	files, err := t.envFiles()
	if _, err = unknown(err); err != nil {
		return nil, err
	}
	for _, kv := range files {
		name := commandline.NameOf(kv)
		byName[name] = EnvValue{Name: name, Value: strings.TrimPrefix(kv[len(name):], "=")}
	}
	for _, v := range t.Secrets {
		value := t.frame.Secret(v.Key)
		byName[v.Name] = EnvValue{Name: v.Name, Value: value, Unknown: value == ""} // a secret cannot be empty
	}
	for _, v := range t.Env {
		text, err := t.variable(v)
		e := EnvValue{Name: v.Name, Value: text}
		if e.Unknown, err = unknown(err); err != nil {
			return nil, err
		}
		byName[v.Name] = e
	}
	list := make([]EnvValue, 0, len(byName))
	for _, e := range byName {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b EnvValue) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Interpreter returns the program that runs the command as a script, and its options. It is nil for a command without a
// shell. The options of cmd and PowerShell are always the same and not included.
func (c *Command) Interpreter() []string {
	sh, _ := expr.ShellByName(c.Shell)
	switch {
	case c.Shell == "":
		return nil
	case sh == expr.Bash || sh == expr.Sh:
		return append([]string{c.Shell}, commandline.ShellOptions(c.Shell, c.Strict)...)
	}
	return []string{c.Shell}
}
