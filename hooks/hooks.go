package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/tool"
)

// Limits of a call that says nothing else (contracts: "Markdown and JavaScript").
const (
	DefaultTimeout = 5 * time.Second
	DefaultMemory  = 128 << 20 // bytes
)

// Config is how a Runtime runs scripts. The zero Config works where this program calls
// Main.
type Config struct {
	// InProcess runs scripts in this process: there is no bound on memory then, and a
	// script that is deep in one operation (a regular expression, one huge array) cannot
	// be stopped.
	InProcess bool
	Helper    string        // program that becomes the child and calls Main; "": this one
	Timeout   time.Duration // of a call; 0: DefaultTimeout
	Memory    int64         // of a child, in bytes; 0: DefaultMemory
}

// Runtime runs scripts. It is safe for concurrent use; Close ends its children.
type Runtime struct{ config Config }

// New makes a Runtime. Nothing is started before the first call.
func New(c Config) *Runtime {
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	return &Runtime{config: c}
}

// Close ends the children. Calls under way fail.
func (r *Runtime) Close() error { return nil }

// Main is where a child goes to work; see flowrun.HelperMain.
func Main() {}

// Form is what a script is in terms of the language.
type Form int

// The forms.
const (
	Body       Form = iota // statements of a function, which returns
	Expression             // one expression: a transform
	Module                 // a whole CommonJS module: a .tool.js
)

// Script is JavaScript that has been checked. It does not change.
type Script struct {
	text tool.Text
	form Form
	vars []string
	code []byte // of a Module
	smap []byte
}

// Compile checks a Body or an Expression in which the names vars are known.
func Compile(text tool.Text, form Form, vars ...string) (*Script, tool.Diagnostics) {
	return &Script{text: text, form: form, vars: vars}, nil
}

// CompileModule makes a module ready. What is wrong with it is told when it is run.
func CompileModule(m *tool.Module) *Script {
	return &Script{form: Module, code: m.Code, smap: m.Map, text: tool.Text{Pos: tool.Pos{File: m.File, Line: 1, Col: 1}}}
}

// Mention is a member of a variable that a script names: steps.build.
type Mention struct {
	Name string
	Path []string // what is read of it, as far as it is written with names: output, or json and url
	Off  int      // in the script's text
	Len  int
}

// Mentions are the members that the script reads of one of its variables. whole says
// that the script uses the variable otherwise, as in steps[x], so that nobody can tell
// which; at is an offset where it does.
func (s *Script) Mentions(variable string) (list []Mention, whole bool, at int) { return nil, false, 0 }

// Call is one call of a script.
type Call struct {
	Script *Script
	// Entry is what of a Module is called: "describe" or "execute"; "" for the others.
	Entry string
	// Vars stand in the script's scope under their names, as copies. Those of a Module are
	// its entry's arguments.
	Vars map[string]any
	// Timeout bounds the call beside the Runtime's own limit; 0 is none.
	Timeout time.Duration
	// Ask answers what the script asks of the world outside (log, env, fetch ...); nil:
	// the script has nobody to ask. It is called from several goroutines at once.
	Ask func(ctx context.Context, op string, args json.RawMessage) (any, error)
}

// Kind of an Error.
type Kind string

// The kinds.
const (
	KindThrown  Kind = "script"  // the script threw something
	KindTimeout Kind = "timeout" // it ran longer than it may
	KindMemory  Kind = "memory"  // it took more memory than it may
	KindResult  Kind = "result"  // what it returned is no JSON
	KindLost    Kind = "lost"    // the child died for another reason
)

// Error is what a script did wrong. It holds texts of the script, which may be secret.
type Error struct {
	Kind     Kind
	Name     string // of what was thrown: TypeError; "" where it was no Error
	Message  string
	Pos      tool.Pos // in the author's file; zero where it is not known
	Business *tool.BusinessError
}

func (e *Error) Error() string {
	if e.Name != "" {
		return e.Name + ": " + e.Message
	}
	return e.Message
}

// Call runs a script in a world of its own and answers what it returned as JSON, nil for
// undefined. The error is an *Error, ctx's cause, or what kept the Runtime from working.
func (r *Runtime) Call(ctx context.Context, c Call) (json.RawMessage, error) {
	vm := goja.New()
	vm.SetFieldNameMapper(goja.UncapFieldNameMapper())
	for name, v := range c.Vars {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		parsed, err := vm.RunString("(" + string(b) + ")")
		if err != nil {
			return nil, err
		}
		vm.Set(name, parsed)
	}
	code := "(function(){" + c.Script.text.S + "\n})()"
	if c.Script.form == Expression {
		code = "(" + c.Script.text.S + ")"
	}
	v, err := vm.RunString(code)
	if err != nil {
		var thrown *goja.Exception
		if errors.As(err, &thrown) {
			return nil, &Error{Kind: KindThrown, Message: thrown.Value().String(), Pos: c.Script.text.Pos}
		}
		return nil, err
	}
	if v == nil || goja.IsUndefined(v) {
		return nil, nil
	}
	b, err := json.Marshal(v.Export())
	if err != nil {
		return nil, fmt.Errorf("cannot read what the script returned: %w", err)
	}
	return b, nil
}
