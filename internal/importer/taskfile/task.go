package taskfile

import (
	"maps"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// task returns the steps of a task that is called with some variables.
func (b *builder) task(name string, given map[string]value, depth int) (steps []*importer.Step, why string) {
	n := b.tasks[name]
	if depth > maxDepth {
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
		return b.commands(name, n.Items(), common{}, depth)
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
	status, why := b.status(name, n, c)
	if why != "" {
		return nil, why
	}
	commands := n.Get("cmds")
	if n.Get("cmd").Exists() {
		if commands.Exists() {
			return nil, "it has cmd and cmds"
		}
		commands = n.Get("cmd")
	}
	body, why := b.commands(name, commands.Items(), c, depth)
	if why != "" {
		return nil, why
	}
	if len(body) == 1 && body[0].Script != "" {
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
	for _, question := range c.ask {
		steps = append(steps, &importer.Step{Name: b.name("confirm"), Approve: question})
	}
	b.guards += len(c.ask) + len(checks)
	steps = append(append(steps, deps...), checks...)
	if status != nil {
		steps = append(steps, status)
		for _, s := range body {
			s.When = importer.Ref(status.Name+".exit-code") + " != 0"
		}
	}
	return append(steps, body...), ""
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
	ask         []string
}

// key reads a key of a task that is not a command.
func (b *builder) key(p importer.Pair, task string, c *common) (why string) {
	switch p.Key {
	case "cmds", "cmd", "deps", "vars", "requires", "preconditions", "platforms", "status":
	case "desc", "summary", "label", "prefix":
		p.Text()
	case "silent", "internal":
		p.True()
	case "aliases":
		b.change("its aliases are left out: %s", short(strings.Join(p.Texts(), ", ")))
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
			if !s.IsScalar() && !s.IsMap() { // {exclude: FILE}
				s.Text()
			}
			text, why := "", "it is not a text"
			if s.IsScalar() {
				text, why = b.expand(s.Text())
			}
			if why != "" || strings.Contains(text, "\x01") || strings.HasPrefix(text, "/") || strings.Contains(text, "..") || strings.Contains(text, "~") {
				c.inputs, c.outputs = nil, nil
				b.change("%s runs also if its sources have not changed", task)
				return ""
			}
			*list = append(*list, strings.TrimPrefix(text, "./"))
		}
	case "method", "run":
		if p.Text() != "checksum" && p.Text() != "always" {
			b.change("%s: %s is left out", p.Key, short(p.Text()))
		}
	case "prompt":
		for _, question := range p.Texts() {
			if question, why = b.expand(question); why != "" {
				break
			}
			if strings.TrimSpace(question) != "" {
				c.ask = append(c.ask, question)
			}
		}
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
	for _, p := range n.Pairs() {
		if p.Key != "vars" {
			return "flowrun has no counterpart for " + p.Key + " of requires"
		}
	}
	for _, v := range n.Get("vars").Items() {
		required, why := v, ""
		var allowed []string
		if v.IsMap() {
			required = v.Get("name")
			if allowed, why = enum(v); why != "" {
				return why
			}
		}
		name := required.Text()
		if _, ok := b.vars[name]; ok || own.Get(name).Exists() {
			if len(allowed) > 0 {
				return "flowrun does not check the values of " + name + ", which the file sets itself"
			}
			continue
		}
		if !b.top {
			return "it calls " + task + " without the variable " + name
		}
		if importer.Name(name) != name || b.names[strings.ToLower(name)] {
			return "the variable " + name + " has a name that is not possible in flowrun"
		}
		b.names[strings.ToLower(name)] = true
		b.params = append(b.params, importer.Parameter{Name: name, Enum: allowed})
		b.vars[name] = value{text: importer.Ref(name)}
		b.change("a parameter is always one word, and the shell never reads it as code")
		b.change(notFromEnvironment, name)
	}
	return ""
}

// enum returns the values that a variable of requires can have.
func enum(v importer.Node) (values []string, why string) {
	for _, p := range v.Pairs() {
		switch {
		case p.Key == "name":
		case p.Key == "enum" && (p.IsList() || p.IsScalar()):
			values = p.Texts()
		default:
			return nil, "flowrun has no counterpart for " + p.Key + " of requires"
		}
	}
	return values, ""
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
	called, tolerate := n, false
	given := map[string]value{}
	if n.IsMap() {
		called = n.Get("task")
		for _, p := range n.Pairs() {
			switch p.Key {
			case "task":
			case "silent":
				p.True()
			case "ignore_error":
				tolerate = p.True()
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
	name, why := b.expand(called.Text())
	if why != "" {
		return nil, why
	}
	name = strings.TrimPrefix(name, ":")
	if _, ok := b.tasks[name]; !ok {
		return nil, "it needs the task " + name + ", which is not in the file"
	}
	label, guards := b.name(name), b.guards
	var steps []*importer.Step
	why = b.tasks[name].Unit(func() (why string) {
		steps, why = b.task(name, given, depth+1)
		return why
	})
	switch {
	case why != "" && depth == 0: // deeper, the reasons would be nested
		return nil, importer.Needs(name, why)
	case why != "":
		return nil, why
	case tolerate && b.guards > guards:
		return nil, "flowrun would ignore also the answer no, or a precondition that fails, of " + name
	case len(steps) == 0:
		return nil, ""
	case len(steps) == 1 && !steps[0].Parallel:
		steps[0].Name = label
		steps[0].Tolerate = steps[0].Tolerate || tolerate
		return steps[0], ""
	}
	return &importer.Step{Name: label, Steps: steps, Tolerate: tolerate}, ""
}

func (b *builder) preconditions(task string, n importer.Node, c common) (steps []*importer.Step, why string) {
	for _, p := range n.Items() {
		command := p
		if p.IsMap() {
			command = p.Get("sh")
		}
		script, why := b.expand(command.Text())
		if why == "" && strings.TrimSpace(script) == "" {
			why = "it has no command"
		}
		if why != "" {
			return nil, "a precondition: " + why
		}
		steps = append(steps, b.step(task+" precondition", []importer.Line{{Text: script}}, c))
	}
	return steps, ""
}

// status returns a step that fails if the task is not up to date, or nil if the file does not say when it is.
func (b *builder) status(task string, n importer.Node, c common) (s *importer.Step, why string) {
	if !n.Get("status").Exists() {
		return nil, ""
	}
	if n.Get("sources").Exists() {
		return nil, "flowrun has no counterpart for status together with sources"
	}
	var lines []importer.Line
	for _, text := range n.Get("status").Texts() {
		text, why := b.expand(text)
		if why != "" {
			return nil, "its status: " + why
		}
		lines = append(lines, importer.Line{Text: text})
	}
	if len(lines) == 0 {
		return nil, ""
	}
	s = b.step(task+" status", lines, c)
	s.Tolerate = true
	return s, ""
}

// commands returns the steps of commands. Commands that follow each other are one step.
func (b *builder) commands(task string, items []importer.Node, c common, depth int) (steps []*importer.Step, why string) {
	var lines []importer.Line
	flush := func() {
		if len(lines) > 0 {
			steps = append(steps, b.step(task, lines, c))
			lines = nil
		}
	}
	for i, item := range items {
		if *b.count++; *b.count > maxSteps {
			return nil, "it has too many commands"
		}
		kind, line, why := b.command(item, c)
		switch {
		case why != "":
			return nil, why
		case kind == "task":
			flush()
			s, why := b.call(item, depth)
			if why != "" {
				return nil, why
			}
			if s != nil {
				steps = append(steps, s)
			}
		case kind == "defer":
			flush()
			rest, why := b.commands(task, items[i+1:], c, depth)
			if why != "" {
				return nil, why
			}
			last, why := b.deferred(task, item.Get("defer"), c, depth)
			return append(steps, withDeferred(b.name, task, rest, last)...), why
		case strings.TrimSpace(line.Text) != "":
			lines = append(lines, line)
		}
	}
	flush()
	return steps, ""
}

// command reads one command. kind is cmd, task or defer; line is the command if it is cmd.
func (b *builder) command(item importer.Node, c common) (kind string, line importer.Line, why string) {
	line.Ignore = c.ignore
	text := item
	if item.IsMap() {
		text = item.Get("cmd")
		for _, p := range item.Pairs() {
			switch p.Key {
			case "vars":
			case "silent":
				p.True()
			case "ignore_error":
				line.Ignore = p.True()
			case "cmd", "task", "defer":
				if kind != "" {
					return "", line, "a command has " + kind + " and " + p.Key
				}
				kind = p.Key
			default:
				return "", line, "flowrun has no counterpart for " + p.Key + " of a command"
			}
		}
	}
	if kind == "task" || kind == "defer" {
		return kind, line, ""
	}
	if line.Text, why = b.expand(text.Text()); why != "" {
		why = "a command: " + why
	}
	return "cmd", line, why
}

// deferred returns a step for a command that runs after those below it. go-task ignores its failure.
func (b *builder) deferred(task string, d importer.Node, c common, depth int) (s *importer.Step, why string) {
	if d.IsMap() {
		s, why = b.call(d, depth)
	} else {
		text, bad := b.expand(d.Text())
		if bad != "" {
			return nil, "a defer: " + bad
		}
		s = b.step(task+" cleanup", []importer.Line{{Text: text}}, c)
	}
	if s != nil {
		s.Tolerate = true
	}
	return s, why
}

// withDeferred returns the steps below a defer together with its step. They are a group, so that the deferred step runs
// only if the defer is reached.
func withDeferred(name func(string) string, task string, below []*importer.Step, deferred *importer.Step) []*importer.Step {
	switch {
	case deferred == nil:
		return below
	case len(below) == 0:
		return []*importer.Step{deferred}
	}
	return []*importer.Step{{Name: name(task), Steps: below, Finally: []*importer.Step{deferred}}}
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
