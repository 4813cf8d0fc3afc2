package toolstate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/dotenv"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// CodeMissingVariable and CodeBadVariable are the problem codes of a tool whose environment does not match its
// schema.
const (
	CodeMissingVariable = "MISSING_ENV_VAR"
	CodeBadVariable     = "INVALID_ENV_VAR"
)

// Env is the environment of a .tool.js: the variables in its own .env file, and those that its schema declares, with
// the value from the process's environment, else the schema's default. Values are text. Safe for concurrent use.
type Env struct {
	file     string // "" if the engine keeps no state
	outer    map[string]string
	declared []*tool.Parameter // declared by the schema
	schema   *dataschema.Schema
	mask     *mask.Mask

	mu  sync.Mutex
	own map[string]string
}

// OpenEnv reads the environment of a tool. An error means that the .env file is unreadable or invalid.
func OpenEnv(file string, outer map[string]string, secrets *mask.Mask, m *tool.Module) (*Env, error) {
	e := &Env{file: file, outer: outer, schema: m.Environment, mask: secrets, own: map[string]string{}}
	if m.Environment != nil {
		e.declared = tool.ParametersOf(m.Environment)
	}
	if e.file == "" {
		return e, nil
	}
	text, err := ownership.ReadFile(e.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	e.own, err = e.parse(text)
	return e, err
}

func (e *Env) parse(text []byte) (map[string]string, error) {
	vars, problems := dotenv.Parse(e.file, string(text), func(name string) (string, bool) { v, ok := e.outer[name]; return v, ok })
	own := map[string]string{}
	for _, v := range vars {
		own[v.Name] = v.Value
	}
	return own, problems.Err()
}

// Get returns the value of a variable as text, nil if there is none.
func (e *Env) Get(name string) any {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, ok := e.value(name)
	if !ok {
		return nil
	}
	if e.secret(name) { // the variable may exist only in the tool's file
		e.mask.Add(v)
	}
	return v
}

func (e *Env) value(name string) (string, bool) {
	if v, ok := e.own[name]; ok {
		return v, true
	}
	p := e.parameter(name)
	if p == nil { // a tool does not see other variables of the process
		return "", false
	}
	if v, ok := e.outer[name]; ok {
		return v, true
	}
	if p.Default != nil {
		return value.Plain(p.Default.Data()), true
	}
	return "", false
}

func (e *Env) parameter(name string) *tool.Parameter {
	if i := slices.IndexFunc(e.declared, func(p *tool.Parameter) bool { return p.Name == name }); i >= 0 {
		return e.declared[i]
	}
	return nil
}

// All returns the variables that the tool's file sets or its schema declares.
func (e *Env) All() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := maps.Clone(e.own)
	for _, p := range e.declared {
		if v, ok := e.value(p.Name); ok {
			all[p.Name] = v
		}
	}
	return all
}

// Set writes variables to the tool's file. Values of secret variables are masked from then on.
func (e *Env) Set(values map[string]string) error {
	for name, v := range values {
		if !value.IsVariableName(name) {
			return fmt.Errorf("%q cannot be the name of an environment variable", name)
		}
		if strings.ContainsRune(v, 0) {
			return fmt.Errorf("the value of %s contains a NUL byte, which no variable can contain", name)
		}
		if e.secret(name) {
			e.mask.Add(v) // a value too short to be masked is accepted here, because it is the tool's own
		}
	}
	return e.update(func(own map[string]string) { maps.Copy(own, values) })
}

// Remove deletes variables from the tool's file, all of them if names is nil.
func (e *Env) Remove(names []string) error {
	return e.update(func(own map[string]string) {
		maps.DeleteFunc(own, func(name, _ string) bool { return names == nil || slices.Contains(names, name) })
	})
}

// update changes the tool's file without losing concurrent changes of other processes.
func (e *Env) update(change func(own map[string]string)) error {
	if e.file == "" {
		return errors.New("cannot store variables: this program has no folder for them (flowrun.Config.ToolDir)")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := ownership.CheckFile(e.file); err != nil {
		return err
	}
	return atomicfile.Update(e.file, func(was []byte) ([]byte, error) {
		own, err := e.parse(was)
		if err != nil {
			return nil, err
		}
		change(own)
		e.own = own
		return formatEnv(own), nil
	})
}

// formatEnv returns the text of a .env file.
func formatEnv(vars map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString("# Environment of this tool. api.environment.set rewrites this file: comments are not kept.\n")
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		fmt.Fprintf(&b, "%s=\"%s\"\n", name, escape.Replace(vars[name]))
	}
	return b.Bytes()
}

// secret reports whether a variable's value is masked: because of its name, or because of writeOnly or format:
// password in the schema.
func (e *Env) secret(name string) bool {
	return tool.LooksSecret(name) || e.schema != nil && slices.Contains(secretsOf(e.schema), name)
}

// secretsOf returns the properties of a schema that are marked as secret.
func secretsOf(s *dataschema.Schema) (list []string) {
	source, _ := s.MarshalJSON()
	var top struct {
		Properties map[string]struct {
			WriteOnly any
			Format    any
		}
	}
	json.Unmarshal(source, &top) // a schema of another form has no such properties
	for name, p := range top.Properties {
		if p.WriteOnly == true || p.Format == "password" {
			list = append(list, name)
		}
	}
	return list
}

// Secrets returns the values to mask before the run's first step starts.
func (e *Env) Secrets() (list []string) {
	for name := range e.All() {
		if v, ok := e.value(name); ok && e.secret(name) {
			list = append(list, v)
		}
	}
	return list
}

// Problems returns everything that is wrong with the environment according to its schema: missing variables with
// their descriptions, and invalid ones with the reason.
func (e *Env) Problems() (missing, bad []string) {
	if e.schema == nil {
		return nil, nil
	}
	values := map[string]any{}
	for _, p := range e.declared {
		if v, ok := e.value(p.Name); ok {
			values[p.Name] = typedVariable(p.Type, v)
		}
	}
	for _, problem := range e.schema.Check(values) {
		p := e.parameter(problem.Field)
		switch {
		case problem.Missing && p != nil && p.Description != "":
			missing = append(missing, problem.Field+" ("+p.Description+")")
		case problem.Missing:
			missing = append(missing, problem.Field)
		default:
			bad = append(bad, problem.Field+": "+problem.Message)
		}
	}
	return missing, bad
}

// typedVariable parses a variable's text as the type in the schema. Text that does not parse stays text, so that the
// schema rejects it.
func typedVariable(kind, text string) any {
	var v any
	if kind == "string" || value.StrictJSON(text, &v) != nil {
		return text
	}
	if _, isText := v.(string); isText || kind == "any" {
		return text
	}
	return v
}

// Hint says how the user can set variables.
func (e *Env) Hint() string {
	if e.file == "" {
		return "set them in the environment of the program"
	}
	return "write NAME=value to " + e.file + ", or set them in the environment"
}
