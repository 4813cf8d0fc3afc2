package addition

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/toolfiles"
	"github.com/flowrun/flowrun/tool"
)

// Addition is what a command line of tool add says.
type Addition struct {
	Name      string
	Scopes    []string
	FromFile  string
	Editor    bool
	Override  bool
	DryRun    bool
	Help      bool
	Tool      toolfiles.Draft
	steps     []*part
	tests     []*part
	params    []*parameterWords
	WantsFile bool // --from-file was given

	Problems []string
}

// part is a step or a test.
type part struct {
	name  string
	draft toolfiles.Draft
}

// parameterWords is one --parameter with what follows it.
type parameterWords struct {
	name, description string
	words             []string
	kind              string // its type
}

// addParser walks over the words of a command line. It goes on after a problem, so that
// all of them are told at once.
type addParser struct {
	*Addition
	words []string
	at    int
	seen  map[string]bool // options that may stand once, with the part they belong to
}

// Parse reads the words of a command line. What is wrong with them is in Problems.
func Parse(words []string) *Addition {
	p := &addParser{Addition: &Addition{}, words: words, seen: map[string]bool{}}
	for p.at < len(p.words) {
		p.next()
	}
	p.parameters()
	p.put()
	return p.Addition
}

func (p *addParser) problem(format string, args ...any) {
	p.Problems = append(p.Problems, fmt.Sprintf(format, args...))
}

// next takes one option with its values, or the name.
func (p *addParser) next() {
	word := p.words[p.at]
	p.at++
	if word == "--" {
		for ; p.at < len(p.words); p.at++ {
			p.positional(p.words[p.at])
		}
		return
	}
	if !strings.HasPrefix(word, "-") || word == "-" {
		p.positional(word)
		return
	}
	o, value, inWord := optionOf(word)
	if o == nil {
		p.unknown(word)
		return
	}
	values, ok := p.values(o, value, inWord)
	if !ok {
		return
	}
	p.apply(o, values)
}

func (p *addParser) positional(word string) {
	if p.Name == "" {
		p.Name = word
		return
	}
	p.problem("unexpected argument %q: the tool's name is %q; put values with spaces in quotes", word, p.Name)
}

func (p *addParser) unknown(word string) {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if optionNamed(parameterOptions, name) != nil {
		p.problem("unknown option %s; after --parameter NAME \"DESC\" write %s=VALUE, without dashes", word, name)
	} else {
		p.problem("unknown option %s%s", word, ui.NearestAs("--%s", name, Names(options)))
	}
	// Its value, if it has one, is no name.
	if p.at < len(p.words) && !strings.HasPrefix(p.words[p.at], "-") && !strings.Contains(word, "=") && p.Name != "" {
		p.at++
	}
}

// values are the words that an option takes.
func (p *addParser) values(o *addOption, first string, inWord bool) ([]string, bool) {
	want := o.Values
	if len(want) > 2 { // parameters take more, as long as there are
		want = want[:2]
	}
	var values []string
	if inWord {
		if len(want) == 0 {
			p.problem("--%s takes no value", o.Name)
			return nil, false
		}
		values = append(values, first)
	}
	for len(values) < len(want) {
		if p.at == len(p.words) || startsOption(p.words[p.at]) {
			p.problem("--%s needs %s; write it as %s", o.Name, strings.Trim(want[len(values)], `"`), o.Left())
			return nil, false
		}
		values = append(values, p.words[p.at])
		p.at++
	}
	return values, true
}

// startsOption says whether a word is an option of this command, and so no value of
// another one. A value that looks like one is written --bash=--tag.
func startsOption(word string) bool {
	o, _, _ := optionOf(word)
	return o != nil
}

// apply does what an option says.
func (p *addParser) apply(o *addOption, values []string) {
	if o.form == actForm {
		p.act(o, values)
		return
	}
	draft, of := &p.Tool, ""
	switch {
	case o.Owner == OfStep && len(p.steps) == 0:
		p.problem("--%s must follow the --step that it belongs to", o.Name)
		return
	case o.Owner == OfStep:
		s := p.steps[len(p.steps)-1]
		draft, of = &s.draft, " of step "+s.name
	case o.Owner == OfTest && len(p.tests) == 0:
		p.problem("--%s must follow the --test that it belongs to", o.Name)
		return
	case o.Owner == OfTest:
		t := p.tests[len(p.tests)-1]
		draft, of = &t.draft, " of test "+t.name
	}
	p.set(draft, o, "--"+o.Name+of, strings.Join(values, ""), "")
}

// act does what is more than giving a key a value.
func (p *addParser) act(o *addOption, values []string) {
	switch o.Name {
	case "step":
		p.step(values[0], values[1])
	case "step-command-default", "step-command-windows", "step-command-linux", "step-command-macos":
		p.stepCommand(o, values[0], values[1])
	case "parameter":
		p.parameter(values[0], values[1])
	case "test":
		p.test(values[0], values[1])
	case "from-file":
		p.once("--from-file")
		p.FromFile, p.WantsFile = values[0], true
	case "scope":
		p.Scopes = append(p.Scopes, values[0])
	case "editor":
		p.Editor = true
	case "override":
		p.Override = true
	case "dry-run":
		p.DryRun = true
	case "help":
		p.Help = true
	default: // global, user, local, any
		p.Scopes = append(p.Scopes, o.Name)
	}
}

// once says that an option may not be repeated.
func (p *addParser) once(what string) bool {
	if p.seen[what] {
		p.problem("%s is given twice", what)
		return false
	}
	p.seen[what] = true
	return true
}

func (p *addParser) step(name, command string) {
	if _, ok := partNamed(p.steps, name); ok {
		p.problem("the step %q is given twice", name)
	}
	s := &part{name: name}
	s.draft.Set("name", TextValue(name))
	s.draft.Set("bash", TextValue(command))
	p.steps = append(p.steps, s)
}

// stepCommand gives a step a command for one platform; what --step gave it then is the
// command of all others.
func (p *addParser) stepCommand(o *addOption, name, command string) {
	s, known := partNamed(p.steps, name)
	if !known {
		s = &part{name: name}
		s.draft.Set("name", TextValue(name))
		p.steps = append(p.steps, s)
	}
	if usual, ok := s.draft.Get("bash"); ok {
		s.draft.Delete("bash")
		s.draft.Set("commands.default", usual)
	}
	if _, ok := s.draft.Get(o.key); ok {
		p.problem("the step %q has a command for %s twice", name, strings.TrimPrefix(o.Name, "step-command-"))
		return
	}
	s.draft.Set(o.key, TextValue(command))
}

func (p *addParser) test(name, description string) {
	if _, ok := partNamed(p.tests, name); ok {
		p.problem("the test %q is given twice", name)
	}
	t := &part{name: name}
	t.draft.Set("name", TextValue(name))
	if description != "" {
		t.draft.Set("description", TextValue(description))
	}
	p.tests = append(p.tests, t)
}

func partNamed(list []*part, name string) (*part, bool) {
	i := slices.IndexFunc(list, func(p *part) bool { return p.name == name })
	if i < 0 {
		return nil, false
	}
	return list[i], true
}

// parameter takes the words KEY=VALUE after a parameter, up to the next option.
func (p *addParser) parameter(name, description string) {
	param := &parameterWords{name: name, description: description, kind: "string"}
	if key, _, ok := strings.Cut(description, "="); ok && optionNamed(parameterOptions, key) != nil {
		p.problem("--parameter %s needs a description before %s", name, description)
	}
	if slices.ContainsFunc(p.params, func(o *parameterWords) bool { return o.name == name }) {
		p.problem("the parameter %q is given twice", name)
	}
	for p.at < len(p.words) && !strings.HasPrefix(p.words[p.at], "-") {
		param.words = append(param.words, p.words[p.at])
		p.at++
	}
	p.params = append(p.params, param)
}

// put joins the parts to one definition.
func (p *addParser) put() {
	if len(p.steps) > 0 {
		p.Tool.Set("steps", tool.Value{List: drafts(p.steps)})
	}
	if len(p.tests) > 0 {
		for _, t := range p.tests {
			p.typeParameters(&t.draft)
		}
		p.Tool.Set("tests", tool.Value{List: drafts(p.tests)})
	}
}

func drafts(parts []*part) []tool.Value {
	list := make([]tool.Value, len(parts))
	for i, p := range parts {
		list[i] = p.draft.Value()
	}
	return list
}
