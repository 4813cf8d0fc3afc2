package addition

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/toolfiles"
)

// Addition is a parsed command line of tool add.
type Addition struct {
	Name     string
	Scopes   []string
	FromFile string
	Editor   bool
	Override bool
	DryRun   bool
	Help     bool
	Tool     toolfiles.Draft
	steps    []*part
	tests    []*part
	params   []*parameterWords
	HasFile  bool // --from-file was given

	Problems []string
}

// part is a step or a test.
type part struct {
	name  string
	draft toolfiles.Draft
}

// parameterWords is one --parameter and the words that follow it.
type parameterWords struct {
	name, description string
	words             []string
	kind              string // type of the parameter
}

// addParser parses the words of a command line. It continues after a problem, so that all problems
// are reported together.
type addParser struct {
	*Addition
	words []string
	at    int
	seen  map[string]bool // options that may occur only once, with the part that they belong to
}

// Parse parses the words of a command line. Problems has everything that is wrong with them.
func Parse(words []string) *Addition {
	p := &addParser{Addition: &Addition{}, words: words, seen: map[string]bool{}}
	for _, word := range words {
		if !utf8.ValidString(word) {
			p.problem("%q is not UTF-8, which a definition must be", word)
		}
	}
	for p.at < len(p.words) {
		p.parseNext()
	}
	p.parameters()
	p.addParts()
	return p.Addition
}

func (p *addParser) problem(format string, args ...any) {
	p.Problems = append(p.Problems, fmt.Sprintf(format, args...))
}

// parseNext parses one option with its values, or the name of the tool.
func (p *addParser) parseNext() {
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
	// The next word is probably its value, not the name of the tool.
	if p.at < len(p.words) && !strings.HasPrefix(p.words[p.at], "-") && !strings.Contains(word, "=") && p.Name != "" {
		p.at++
	}
}

// values returns the values of an option. first is the value in the same word as the option, if
// inWord is set.
func (p *addParser) values(o *addOption, first string, inWord bool) ([]string, bool) {
	want := o.Values
	if len(want) > 2 { // a parameter is followed by any number of further words
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

// startsOption reports whether a word is an option of this command and so cannot be the value of
// another one. Such a value must be written as --bash=--tag.
func startsOption(word string) bool {
	o, _, _ := optionOf(word)
	return o != nil
}

// apply stores the values of an option in the definition, step or test that it belongs to.
func (p *addParser) apply(o *addOption, values []string) {
	if o.form == parserForm {
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

// act handles the options that do more than set a key.
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
		p.FromFile, p.HasFile = values[0], true
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

// once reports a problem if something is given a second time.
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

// stepCommand sets the command of a step for one platform. The command from --step then becomes the
// default for the other platforms.
func (p *addParser) stepCommand(o *addOption, name, command string) {
	s, known := partNamed(p.steps, name)
	if !known {
		s = &part{name: name}
		s.draft.Set("name", TextValue(name))
		p.steps = append(p.steps, s)
	}
	if defaultCommand, ok := s.draft.Get("bash"); ok {
		s.draft.Delete("bash")
		s.draft.Set("commands.default", defaultCommand)
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

// parameter reads the words KEY=VALUE after a parameter, up to the next option.
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

// addParts combines the parts into one definition.
func (p *addParser) addParts() {
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
