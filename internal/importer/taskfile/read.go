// Package taskfile reads the files of go-task for flowrun import. Each task becomes a tool. go-task runs a task as often
// as it is called, so the steps of a called task are written where it is called.
package taskfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

const (
	maxSteps = 2000 // of one tool: tasks that call tasks can ask for any number
	maxDepth = 30
)

type reader struct {
	result  importer.Result
	budget  importer.Budget
	tasks   map[string]importer.Node
	vars    map[string]value
	env     []importer.Variable
	missing []string // what the file says for all tasks and is left out
	files   []string
	set     []string
	lost    importer.Lost
	run     string // how often a task runs that does not say so
}

// value is what a variable of go-task is: a text, a parameter with a default, or something that is not known.
type value struct {
	text   string
	bad    string
	params []importer.Parameter // global variables in text that the caller can set
}

// Read reads a Taskfile.
func Read(file string, src []byte) (*importer.Result, error) {
	doc, err := importer.ParseYAML(file, src)
	if err != nil {
		return nil, err
	}
	r := &reader{tasks: map[string]importer.Node{}, vars: map[string]value{}}
	for _, t := range doc.Get("tasks").Pairs() {
		r.tasks[t.Key] = t.Node
	}
	for _, p := range doc.Pairs() {
		switch p.Key {
		case "tasks", "output":
		case "version", "interval":
			p.Text()
		case "silent":
			p.True()
		case "vars":
			r.globals(p.Node)
		case "env":
			for _, v := range p.Pairs() {
				b := &builder{reader: r, vars: r.vars}
				if text, why := b.variable(v.Node); why != "" || !importer.ValidVariable(v.Key) || strings.Contains(text, "\x01") {
					r.result.Add("env "+v.Key, v.Line, "", importer.LeftOut, "its value is known only when it runs")
					r.missing = append(r.missing, "env "+v.Key)
					r.lost.Variable(v.Key, "env of the file sets to a value that is known only when it runs")
				} else {
					r.env = append(r.env, importer.Variable{Name: v.Key, Value: text})
					r.result.Outcome("env "+v.Key, v.Line, "", []string{fileWins})
				}
			}
		case "dotenv":
			r.dotenv(p)
		case "set":
			if r.set = p.Texts(); unknownOption(r.set) != "" {
				r.result.Add(p.Key, p.Line, "", importer.LeftOut, "%s", unknownOption(r.set))
			} else {
				r.result.Outcome(p.Key, p.Line, "", nil)
			}
		case "run":
			r.run = p.Text()
		case "includes":
			r.result.Add(p.Key, p.Line, "", importer.LeftOut, "import the other files by themselves; tasks that call them are left out")
			r.missing = append(r.missing, p.Key)
			r.lost.AnyVariable("an included file may set")
		default:
			r.result.Add(p.Key, p.Line, "", importer.LeftOut, "flowrun has no counterpart")
			r.missing = append(r.missing, p.Key)
		}
	}
	taken := map[string]bool{}
	for _, t := range doc.Get("tasks").Pairs() {
		r.task(t, taken)
	}
	return &r.result, doc.Faults()
}

// fileWins is what is different about variables of a file.
const fileWins = "it replaces a variable of the environment with the same name; in go-task the environment wins"

func (r *reader) dotenv(p importer.Pair) {
	for _, f := range p.Texts() {
		if strings.Contains(f, "{{") {
			r.result.Add("dotenv "+f, p.Line, "", importer.LeftOut, "its path is known only when it runs")
			r.missing = append(r.missing, "dotenv "+f)
			r.lost.AnyVariable("dotenv of the file may set, and its path is known only when it runs")
			continue
		}
		r.files = append([]string{f}, r.files...) // the first file wins, in flowrun the last
		r.result.Outcome("dotenv "+f, p.Line, "", []string{fileWins})
	}
}

func (r *reader) globals(n importer.Node) {
	for _, v := range n.Pairs() {
		if fallback, ok := ownDefault(v.Key, v.Node); ok && importer.Name(v.Key) == v.Key {
			p := importer.Parameter{Name: v.Key, Default: fallback, HasDefault: true}
			r.vars[v.Key] = value{text: importer.Ref(v.Key), params: []importer.Parameter{p}}
			r.result.Add("variable "+v.Key, v.Line, "", importer.Changed, "it is a parameter of the tools that use it; "+notFromEnvironment, v.Key)
			continue
		}
		b := &builder{reader: r, vars: r.vars}
		text, why := b.variable(v.Node)
		r.vars[v.Key] = value{text: text, bad: why, params: b.params}
		if why != "" {
			r.result.Add("variable "+v.Key, v.Line, "", importer.LeftOut, "%s; tasks that use it are left out", why)
			if mayFail(v.Node) {
				r.missing = append(r.missing, "the command of the variable "+v.Key+", after whose failure go-task runs nothing,")
			}
			continue
		}
		// A parameter of a global variable would be one of every tool, so its default is written.
		r.result.Add("variable "+v.Key, v.Line, "", importer.Changed, "its value is written into the commands; task %s=... has no counterpart", v.Key)
	}
}

// task adds the tool of a task.
func (r *reader) task(t importer.Pair, taken map[string]bool) {
	what := "task " + t.Key
	b := &builder{reader: r, vars: maps.Clone(r.vars), top: true, names: map[string]bool{}, ran: map[string]bool{}, count: new(int)}
	var tool *importer.Tool
	why := t.Unit(func() (why string) {
		tool, why = b.tool(t)
		return why
	})
	switch {
	case why != "":
		r.result.Add(what, t.Line, "", importer.LeftOut, "%s", why)
		return
	case tool == nil:
		r.result.Outcome(what, t.Line, "", []string{"internal: it is a step of the tasks that call it"})
		return
	}
	tool.Name = importer.Unique(taken, importer.Name(t.Key))
	reasons := append(tool.Reasons(), b.changed...)
	for _, c := range reasons {
		tool.Notes = append(tool.Notes, "Changed: "+c+".")
	}
	r.result.Tools = append(r.result.Tools, tool)
	r.result.Outcome(what, t.Line, tool.Name, reasons)
}

// tool returns the tool of a task, or nil if the task is internal.
func (b *builder) tool(t importer.Pair) (tool *importer.Tool, why string) {
	keys := t.Node
	if !t.IsMap() { // a task can be its commands
		keys = importer.Node{}
	}
	if keys.Get("internal").True() {
		return nil, ""
	}
	if strings.Contains(t.Key, "*") {
		return nil, "flowrun has no wildcards in names"
	}
	if why := unknownOption(b.set); why != "" {
		return nil, why
	}
	b.ran[t.Key] = true
	steps, why := b.task(t.Key, nil, 0)
	if why == "" && len(steps) == 0 {
		why = "it runs nothing"
	}
	if why == "" {
		why = b.lost.InSteps(steps)
	}
	if why != "" {
		return nil, why
	}
	if len(b.env)+len(b.files) > 0 {
		b.change("variables of the file replace those of the environment")
	}
	for _, m := range b.missing {
		b.change("%s of the file is left out", m)
	}
	tool = &importer.Tool{Steps: steps, Parameters: b.params, Environment: b.env, EnvFiles: b.files}
	tool.Description = keys.Get("desc").Text()
	if tool.Description == "" {
		tool.Description = keys.Get("summary").Text()
	}
	if tool.Description == "" || strings.Contains(tool.Description, "{{") {
		tool.Description = "The task " + t.Key + " of a Taskfile"
	}
	tool.Platforms, why = b.platforms(keys.Get("platforms").Texts())
	return tool, why
}

// platforms returns the platforms of flowrun. A task whose platforms have no counterpart would run everywhere.
func (b *builder) platforms(names []string) (list []string, why string) {
	for _, p := range names {
		switch p {
		case "linux", "windows":
			list = append(list, p)
		case "darwin":
			list = append(list, "macos")
		default:
			b.change("the platform %s has no counterpart", p)
		}
	}
	if len(names) == 0 {
		return nil, ""
	}
	if len(list) == 0 {
		return nil, "its platforms have no counterpart: " + short(strings.Join(names, ", "))
	}
	b.change("on another platform flowrun refuses to run it; go-task skips it and succeeds")
	return list, ""
}

// builder makes the steps of one tool.
type builder struct {
	*reader
	vars    map[string]value
	top     bool // variables without a value become parameters
	params  []importer.Parameter
	names   map[string]bool // of steps
	ran     map[string]bool // the tasks so far
	guards  int             // questions and preconditions so far
	changed []string
	count   *int
}

func (b *builder) change(format string, args ...any) {
	if c := fmt.Sprintf(format, args...); !slices.Contains(b.changed, c) {
		b.changed = append(b.changed, c)
	}
}

// name returns an unused name of a step. Parameters have the same names in upper case.
func (b *builder) name(s string) string { return importer.Unique(b.names, importer.Name(s)) }
