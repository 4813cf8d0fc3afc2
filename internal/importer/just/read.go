package just

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

const maxSteps = 5000

// Read reads a justfile.
func Read(src []byte) (*importer.Result, error) {
	p := &parser{vars: map[string]*variable{}, recipes: map[string]*recipe{}, shell: "sh -u"}
	p.parse(diagnostic.WithoutMark(string(src)))
	taken := map[string]bool{}
	total := 0
	for _, name := range p.order {
		r := p.recipes[name]
		if r.private {
			p.result.Outcome("recipe "+name, r.line, "", []string{"private: it is a step of the recipes that need it"})
			continue
		}
		r.lists()
		b := &builder{parser: p, done: map[string]bool{}, names: map[string]bool{}}
		for _, prm := range r.params {
			b.names[strings.ToLower(prm.Name)] = true
		}
		why := b.add(name, r)
		total += len(b.steps)
		switch {
		case why == "" && len(b.steps) == 0:
			why = "it runs nothing"
		case total > maxSteps:
			why = "the file has too many steps"
		}
		exported := b.exported()
		if why == "" {
			why = p.lost.InSteps(b.steps)
		}
		if why != "" {
			p.result.Add("recipe "+name, r.line, "", importer.LeftOut, "%s", why)
			continue
		}
		t := &importer.Tool{Name: importer.Unique(taken, importer.Name(name)), Description: r.about, Parameters: r.params, Platforms: r.platforms, Steps: b.steps, Environment: exported}
		if t.Description == "" {
			t.Description = "The recipe " + name + " of a justfile"
		}
		if p.dotenv {
			file := p.dotfile
			if file == "" {
				file = ".env"
			}
			t.EnvFiles = []string{file}
			b.change("variables of %s replace those of the environment; in just the environment wins", file)
		}
		for _, m := range p.missing {
			b.change("%s is left out", m)
		}
		reasons := append(t.Reasons(), b.changed...)
		for _, c := range reasons {
			t.Notes = append(t.Notes, "Changed: "+c+".")
		}
		p.result.Tools = append(p.result.Tools, t)
		p.result.Outcome("recipe "+name, r.line, t.Name, reasons)
	}
	return &p.result, nil
}

// builder makes the steps of one tool: just runs every recipe once, after its dependencies.
type builder struct {
	*parser
	steps   []*importer.Step
	done    map[string]bool
	names   map[string]bool
	changed []string
}

func (b *builder) change(format string, args ...any) {
	if c := fmt.Sprintf(format, args...); !slices.Contains(b.changed, c) {
		b.changed = append(b.changed, c)
	}
}

// add adds the steps of a recipe and returns why that is impossible. top is the recipe of the tool, whose parameters are
// those of the tool.
func (b *builder) add(name string, top *recipe) (why string) {
	r := b.recipes[name]
	switch {
	case b.done[name]:
		return ""
	case r == nil:
		return "it needs the recipe " + name + ", which is not in the file"
	case r.bad != "" && r == top:
		return r.bad
	case r.bad != "":
		return importer.Needs(name, r.bad)
	case b.badAll != "":
		return b.badAll
	case len(b.steps) > maxSteps:
		return "it has too many steps"
	case r != top && r.needsArguments():
		return "it needs " + name + ", which has parameters without a default"
	case r != top && len(r.platforms) > 0 && !slices.Equal(r.platforms, top.platforms):
		return "it needs " + name + ", which is for some platforms only"
	}
	b.done[name] = true
	if r.confirm != "" { // just asks before the dependencies
		b.steps = append(b.steps, &importer.Step{Name: importer.Unique(b.names, "confirm"), Approve: r.confirm})
	}
	for _, n := range r.before {
		if why := b.add(n, top); why != "" {
			return why
		}
	}
	for _, c := range r.changed {
		b.change("%s", c)
	}
	params, end := r.params, func() {}
	if r != top {
		params, end = nil, b.withDefaults(r)
	}
	step, why := b.step(r, params)
	end()
	if why != "" {
		return why
	}
	if step != nil {
		b.steps = append(b.steps, step)
	}
	for _, n := range r.after {
		if why := b.add(n, top); why != "" {
			return why
		}
	}
	return ""
}

// step returns the step of a recipe, or nil if it has no lines. params are the parameters that are those of the tool.
func (b *builder) step(r *recipe, params []importer.Parameter) (*importer.Step, string) {
	body := dedent(r.body)
	if len(body) == 0 {
		return nil, ""
	}
	list := []importer.Line{{Text: strings.Join(body, "\n")}}
	script := strings.HasPrefix(body[0], "#!")
	if !script {
		list = commands(list[0].Text)
	}
	for i, l := range list { // a value can have lines, which are no commands of their own
		text, why := b.interpolate(l.Text, params)
		if why != "" {
			return nil, why
		}
		if why := folderDiffers(text); why != "" {
			b.change("%s", why)
		}
		list[i].Text = text
	}
	if len(params) > 0 {
		b.change("a parameter is always one word, or one word for each element, and the shell never reads it as code")
	}
	s := &importer.Step{Name: importer.Unique(b.names, importer.Name(r.name)), Dir: b.folder(r)}
	if b.exportAll {
		for _, p := range r.params {
			value, why := b.interpolate("{{"+p.Name+"}}", params)
			if why != "" || !importer.ValidVariable(p.Name) {
				return nil, "flowrun cannot export its parameter " + p.Name
			}
			s.Environment = append(s.Environment, importer.Variable{Name: p.Name, Value: value})
		}
	}
	if script {
		first, rest, _ := strings.Cut(list[0].Text, "\n")
		var why string
		s.Shell, s.Script, why = shebang(first, rest)
		return s, why
	}
	shell, options, _ := strings.Cut(b.shell, " ")
	s.Shell = shell
	switch {
	case options == "":
		s.Script = importer.Script(list)
	case !strings.Contains(strings.Fields(options)[0], "e"):
		s.Script = "set " + options + "\n" + importer.Script(list)
	case slices.ContainsFunc(list, func(l importer.Line) bool { return l.Ignore }):
		return nil, "flowrun cannot ignore a failure in a shell with -e"
	default:
		s.Script = "set " + options + "\n" + subshells(list)
	}
	return s, ""
}

// subshells returns a script for a shell with -e, which stops at the first subshell that fails.
func subshells(list []importer.Line) string {
	if len(list) == 1 {
		return list[0].Text
	}
	var b strings.Builder
	for _, l := range list {
		b.WriteString("(\n" + l.Text + "\n)\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// commands joins lines that end with a backslash, and reads the @ and - before a command.
func commands(text string) []importer.Line {
	var list []importer.Line
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line += "\n" + lines[i]
		}
		l := importer.Line{}
		for line != "" && (line[0] == '@' || line[0] == '-') {
			l.Ignore = l.Ignore || line[0] == '-'
			line = line[1:]
		}
		if l.Text = line; strings.TrimSpace(line) != "" && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			list = append(list, l)
		}
	}
	if len(list) == 0 {
		list = []importer.Line{{Text: ":"}}
	}
	return list
}

func shebang(line, script string) (shell, text, why string) {
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		if len(words) > 0 && words[0] == "-S" {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return "", "", "its first line names no program"
	}
	program, options := path.Base(words[0]), strings.Join(words[1:], " ")
	switch program {
	case "bash", "sh":
		if options != "" {
			script = "set " + options + "\n" + script
		}
		return program, script, ""
	case "python", "python3":
		if options == "" {
			return "python", script, ""
		}
	}
	return "", "", "flowrun has no steps for " + line
}

// dedent removes the indentation of the first line from all lines, and empty lines at the end.
func dedent(body []string) []string {
	for len(body) > 0 && strings.TrimSpace(body[len(body)-1]) == "" {
		body = body[:len(body)-1]
	}
	for len(body) > 0 && strings.TrimSpace(body[0]) == "" {
		body = body[1:]
	}
	if len(body) == 0 {
		return nil
	}
	indent := body[0][:len(body[0])-len(strings.TrimLeft(body[0], " \t"))]
	out := make([]string, len(body))
	for i, l := range body {
		out[i] = strings.TrimPrefix(l, indent)
		if strings.TrimSpace(l) == "" {
			out[i] = ""
		}
	}
	return out
}

func (b *builder) exported() []importer.Variable {
	var list []importer.Variable
	for name, v := range b.vars {
		if (v.exported || b.exportAll) && v.bad == "" && importer.ValidVariable(name) {
			list = append(list, importer.Variable{Name: name, Value: v.value})
			if why := folderDiffers(v.value); why != "" {
				b.change("%s", why)
			}
		} else if (v.exported || b.exportAll) && v.bad != "" {
			b.change("the variable %s is not exported: %s", name, v.bad)
			b.lost.Variable(name, "is not exported: "+v.bad)
		}
	}
	slices.SortFunc(list, func(x, y importer.Variable) int { return strings.Compare(x.Name, y.Name) })
	return list
}
