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
		if mayFail(v.Node) {
			return nil, "its variable " + v.Key + " is the output of a command, and go-task stops if that fails"
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
	deps, why := b.deps(n.Get("deps"), depth)
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
		return unknownOption(c.options)
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
	case "run": // see call
		p.Text()
	case "method":
		if p.Text() != "checksum" {
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

// plainText returns a text for a reason: placeholders are written in braces.
func plainText(s string) string { return strings.NewReplacer("\x01", "{", "\x02", "}").Replace(s) }
