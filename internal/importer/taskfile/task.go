package taskfile

import (
	"maps"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// task returns the steps of a task that is called with some variables.
func (b *builder) task(name string, given map[string]value, depth int) (steps []*importer.Step, why string) {
	n, ok := b.tasks[name]
	switch {
	case !ok:
		return nil, "it needs the task " + name + ", which is not in the file"
	case depth > maxDepth:
		return nil, "its tasks call each other in a cycle"
	}
	saved := b.vars
	defer func() { b.vars = saved }()
	b.vars = maps.Clone(b.vars)
	maps.Copy(b.vars, given)
	b.vars["TASK"] = value{text: name}
	if depth > 0 {
		defer func(top bool) { b.top = top }(b.top)
		b.top = false
		for k := range given {
			if b.vars[k].bad != "" {
				return nil, b.vars[k].bad
			}
		}
	}
	if !n.IsMap() { // a task can be its commands
		return b.commands(name, n, common{}, depth)
	}
	if depth > 0 && n.Get("platforms").Exists() {
		return nil, "it needs " + name + ", which is for some platforms only"
	}
	c := common{}
	if why := b.require(n.Get("requires"), n.Get("vars"), name); why != "" {
		return nil, why
	}
	for _, v := range n.Get("vars").Pairs() {
		if _, ok := given[v.Key]; ok {
			continue
		}
		text, why := b.variable(v.Node)
		b.vars[v.Key] = value{text: text, bad: why}
	}
	for _, p := range n.Pairs() {
		if why := b.key(p, name, &c); why != "" {
			return nil, why
		}
	}
	return b.steps(name, n, c, depth)
}

// steps returns the steps of a task whose variables and keys are read: its question, its dependencies, its preconditions, its
// folder and its commands.
func (b *builder) steps(name string, n importer.Node, c common, depth int) (steps []*importer.Step, why string) {
	deps, why := b.deps(name, n.Get("deps"), depth)
	if why != "" {
		return nil, why
	}
	checks, why := b.preconditions(name, n.Get("preconditions"), c)
	if why != "" {
		return nil, why
	}
	commands := n.Get("cmds")
	if n.Get("cmd").Exists() {
		commands = n.Get("cmd")
	}
	body, why := b.commands(name, commands, c, depth)
	if why != "" {
		return nil, why
	}
	if len(body) == 1 {
		body[0].Inputs, body[0].Outputs = c.inputs, c.outputs
	} else if len(c.inputs) > 0 {
		b.change("%s runs also if its sources have not changed", name)
	}
	if c.dir != importer.Ref("WORKSPACE") && strings.Trim(c.dir, "./") != "" && len(body) > 0 { // it may be missing
		if importer.Plain(c.dir) {
			body = append([]*importer.Step{{Name: b.name(name + " folder"), Shell: "bash", Script: "mkdir -p -- " + c.dir}}, body...)
		} else {
			b.change("the folder %s must exist; go-task creates it", short(plainText(c.dir)))
		}
	}
	if c.ask != "" {
		steps = append(steps, &importer.Step{Name: b.name("confirm"), Approve: c.ask})
	}
	return append(append(append(steps, deps...), checks...), body...), ""
}

// common is what the keys of a task say of all its commands.
type common struct {
	dir         string
	env         []importer.Variable
	ignore      bool
	interactive bool
	options     []string
	inputs      []string
	outputs     []string
	ask         string
}

// key reads a key of a task that is not a command.
func (b *builder) key(p importer.Pair, task string, c *common) (why string) {
	switch p.Key {
	case "cmds", "cmd", "deps", "vars", "desc", "summary", "silent", "internal", "requires", "preconditions", "platforms", "label", "prefix":
	case "aliases":
		b.change("its aliases are left out")
	case "dir":
		c.dir, why = b.expand(p.Text())
	case "env":
		for _, v := range p.Pairs() {
			text, why := b.variable(v.Node)
			if why != "" || !importer.ValidVariable(v.Key) {
				return "its variable " + v.Key + ": " + why
			}
			c.env = append(c.env, importer.Variable{Name: v.Key, Value: text})
			b.change("variables of the file replace those of the environment")
		}
	case "ignore_error":
		c.ignore = p.True()
	case "interactive":
		c.interactive = p.True()
	case "set":
		c.options = p.Texts()
	case "sources", "generates":
		list := &c.inputs
		if p.Key == "generates" {
			list = &c.outputs
		}
		for _, s := range p.Items() {
			text, why := b.expand(s.Text())
			if why != "" || !s.IsScalar() || strings.Contains(text, "\x01") || strings.HasPrefix(text, "/") || strings.Contains(text, "..") || strings.Contains(text, "~") {
				c.inputs, c.outputs = nil, nil
				b.change("%s runs also if its sources have not changed", task)
				return ""
			}
			*list = append(*list, strings.TrimPrefix(text, "./"))
		}
		b.change("sources and generates are a cache, which also restores the files of earlier inputs")
	case "status":
		b.change("its status is left out: it always runs")
	case "method", "run":
		if p.Text() != "checksum" && p.Text() != "always" {
			b.change("%s: %s is left out", p.Key, short(p.Text()))
		}
	case "prompt":
		c.ask, why = b.expand(p.Text())
		b.change("its question is an approval, which other entry points can answer as well")
	default:
		return "flowrun has no counterpart for " + p.Key
	}
	if why != "" {
		return p.Key + ": " + why
	}
	return ""
}

// require makes parameters of the variables that a task requires and does not set itself.
func (b *builder) require(n, own importer.Node, task string) (why string) {
	for _, v := range n.Get("vars").Items() {
		name := v.Text()
		if v.IsMap() {
			name = v.Get("name").Text()
			b.change("the values that %s allows are not checked", name)
		}
		if _, ok := b.vars[name]; ok || own.Get(name).Exists() {
			continue
		}
		if !b.top {
			return "it calls " + task + " without the variable " + name
		}
		if importer.Name(name) != name || b.names[strings.ToLower(name)] {
			return "the variable " + name + " has a name that is not possible in flowrun"
		}
		b.names[strings.ToLower(name)] = true
		b.params = append(b.params, importer.Parameter{Name: name})
		b.vars[name] = value{text: importer.Ref(name)}
		b.change("a parameter is always one word, and the shell never reads it as code")
		b.change(notFromEnvironment, name)
	}
	return ""
}

// deps returns the steps of dependencies, which run at the same time.
func (b *builder) deps(task string, n importer.Node, depth int) (steps []*importer.Step, why string) {
	for i, d := range n.Items() {
		s, why := b.call(d, depth)
		if why != "" {
			return nil, why
		}
		if s == nil {
			continue
		}
		s.Parallel = i > 0 && len(steps) > 0
		steps = append(steps, s)
	}
	return steps, ""
}

// call returns a step for a call of another task: {task, vars} or a name.
func (b *builder) call(n importer.Node, depth int) (*importer.Step, string) {
	name := n.Text()
	given := map[string]value{}
	if n.IsMap() {
		for _, p := range n.Pairs() {
			switch p.Key {
			case "task":
				name = p.Text()
			case "silent", "ignore_error":
			case "vars":
				for _, v := range p.Pairs() {
					text, why := b.variable(v.Node)
					if why != "" {
						return nil, "it passes " + v.Key + ": " + why
					}
					given[v.Key] = value{text: text}
				}
			default:
				return nil, "flowrun has no counterpart for " + p.Key + " of a call"
			}
		}
	}
	name, why := b.expand(name)
	if why != "" {
		return nil, why
	}
	name = strings.TrimPrefix(name, ":")
	label := b.name(name)
	steps, why := b.task(name, given, depth+1)
	switch {
	case why != "":
		return nil, why
	case len(steps) == 0:
		return nil, ""
	case len(steps) == 1 && !steps[0].Parallel:
		steps[0].Name = label
		steps[0].Tolerate = steps[0].Tolerate || n.Get("ignore_error").True()
		return steps[0], ""
	}
	return &importer.Step{Name: label, Steps: steps, Tolerate: n.Get("ignore_error").True()}, ""
}

func (b *builder) preconditions(task string, n importer.Node, c common) (steps []*importer.Step, why string) {
	for _, p := range n.Items() {
		script := p.Text()
		if p.IsMap() {
			script = p.Get("sh").Text()
		}
		script, why := b.expand(script)
		if why != "" {
			return nil, "a precondition: " + why
		}
		steps = append(steps, b.step(task+" precondition", []importer.Line{{Text: script}}, c))
	}
	return steps, ""
}

// commands returns the steps of commands. Commands that follow each other are one step.
func (b *builder) commands(task string, n importer.Node, c common, depth int) (steps []*importer.Step, why string) {
	var lines []importer.Line
	flush := func() {
		if len(lines) > 0 {
			steps = append(steps, b.step(task, lines, c))
			lines = nil
		}
	}
	for _, item := range n.Items() {
		if *b.count++; *b.count > maxSteps {
			return nil, "it has too many commands"
		}
		text := item.Text()
		line := importer.Line{Ignore: c.ignore}
		if item.IsMap() {
			for _, p := range item.Pairs() {
				switch p.Key {
				case "cmd", "silent", "task", "vars":
				case "ignore_error":
					line.Ignore = p.True()
				case "defer":
				default:
					return nil, "flowrun has no counterpart for " + p.Key + " of a command"
				}
			}
			if item.Get("task").Exists() {
				flush()
				s, why := b.call(item, depth)
				if why != "" {
					return nil, why
				}
				if s != nil {
					steps = append(steps, s)
				}
				continue
			}
			if d := item.Get("defer"); d.Exists() {
				if why := b.deferred(task, d, c, depth); why != "" {
					return nil, why
				}
				continue
			}
			text = item.Get("cmd").Text()
		}
		line.Text, why = b.expand(text)
		if why != "" {
			return nil, "a command: " + why
		}
		if strings.TrimSpace(line.Text) != "" {
			lines = append(lines, line)
		}
	}
	flush()
	return steps, ""
}

// deferred adds a command that runs last.
func (b *builder) deferred(task string, d importer.Node, c common, depth int) (why string) {
	if depth > 0 {
		return "a called task has a defer"
	}
	var s *importer.Step
	if d.IsMap() {
		if s, why = b.call(d, depth); why != "" || s == nil {
			return why
		}
	} else {
		text, why := b.expand(d.Text())
		if why != "" {
			return "a defer: " + why
		}
		s = b.step(task+" cleanup", []importer.Line{{Text: text}}, c)
	}
	b.change("defer runs also if its command was not reached")
	b.finally = append([]*importer.Step{s}, b.finally...) // the last one first
	return ""
}

// plainText returns a text for a reason: placeholders are written in braces.
func plainText(s string) string { return strings.NewReplacer("\x01", "{", "\x02", "}").Replace(s) }

func (b *builder) step(name string, lines []importer.Line, c common) *importer.Step {
	script := importer.StrictScript(lines)
	for _, o := range append(append([]string(nil), b.set...), c.options...) {
		switch o {
		case "e", "errexit": // always
		case "u", "nounset":
			script = "set -u\n" + script
		case "pipefail":
			script = "set -o pipefail\n" + script
		case "x", "xtrace":
			script = "set -x\n" + script
		default:
			b.change("set: %s is left out", short(o))
		}
	}
	return &importer.Step{Name: b.name(name), Shell: "bash", Script: script, Dir: c.dir, Environment: c.env, Interactive: c.interactive}
}
