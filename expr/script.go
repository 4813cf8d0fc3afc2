package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Script is a rendered script: its text holds no value, only references to the
// variables, which the caller hands to the shell by environment or by file. Only a
// Python script holds values, as literals: it belongs into a private file.
type Script struct {
	Text string
	Vars []Var
}

// Var is a variable that carries one value. With File set the script takes the
// variable for the path of a UTF-8 file, with a byte order mark, that holds it.
type Var struct {
	Name, Value string
	File        bool
}

// varPrefix begins the names of variables that carry values.
const varPrefix = "__FLOWRUN_"

// Script renders the template of a script. A value that must not stand where its
// hole does is an error that says why and what to write instead.
func (t *Template) Script(sc Scope) (Script, error) {
	if t.shell == Plain || t.shell == Argv {
		return Script{}, errors.New("cannot make a script: the template was not parsed for a shell")
	}
	if t.static && len(t.pieces) == 1 {
		return Script{Text: t.pieces[0].text}, nil
	}
	r := scriptRenderer{shell: t.shell, scope: sc, rendered: map[*placeholder][]string{}, size: sizeTotal{max: MaxTogether}}
	for _, p := range t.script {
		if p.placeholder == nil {
			r.text.WriteString(p.text)
			continue
		}
		if err := r.placeholder(p.placeholder); err != nil {
			return Script{}, err
		}
	}
	if t.shell == Cmd {
		return cmdScript(r.text.String(), r.vars)
	}
	return Script{Text: r.text.String(), Vars: r.vars}, nil
}

type scriptRenderer struct {
	shell    Shell
	scope    Scope
	text     strings.Builder
	vars     []Var
	rendered map[*placeholder][]string // what the holes so far came to
	size     sizeTotal
}

func (r *scriptRenderer) placeholder(ph *placeholder) error {
	if ph.pos.form == formComment {
		r.text.WriteString(ph.pos.written)
		return nil
	}
	v, ref, err := ph.value(r.scope)
	if err != nil {
		return err
	}
	words, err := valueWords(ph, v, ref.Class, v.Raw || ph.pos.form != formWord)
	if err != nil {
		return err
	}
	if err := r.size.addAll(words, "the script with its values"); err != nil {
		return err
	}
	r.rendered[ph] = words
	if v.Raw && !ph.pos.requoted {
		r.text.WriteString(words[0])
		return nil
	}
	if err := ph.pos.check(ref, v, words, r.rendered); err != nil {
		return err
	}
	if ph.pos.guard == guardNumber {
		for i, w := range words {
			words[i] = trimLeadingZeros(w)
		}
	}
	switch r.shell {
	case Cmd:
		err = r.writeCmd(ph, words)
	case PowerShell:
		err = r.writePowerShell(ph, v, words)
	case Python:
		err = r.writePython(ph, v, words)
	default:
		r.writeShell(ph.pos.form, words)
	}
	return err
}

// writeShell writes references to the words, shaped for where they stand.
func (r *scriptRenderer) writeShell(f form, words []string) {
	switch f {
	case formNumber:
		r.text.WriteString(arithmeticLiteral(words[0]))
	case formInner:
		r.text.WriteString("${" + r.variable(words[0]) + "}")
	case formQuoted:
		r.text.WriteString(`'"${` + r.variable(words[0]) + `}"'`)
	default:
		for i, w := range words {
			if i > 0 {
				r.text.WriteByte(' ')
			}
			r.text.WriteString(`"${` + r.variable(w) + `}"`)
		}
	}
}

func (r *scriptRenderer) variable(value string) string {
	name := varPrefix + strconv.Itoa(len(r.vars)+1)
	r.vars = append(r.vars, Var{Name: name, Value: value})
	return name
}

// check refuses what must not stand here. rendered holds what the holes before
// this one came to.
func (p position) check(ref Ref, v Value, words []string, rendered map[*placeholder][]string) error {
	marks := "-"
	if p.slashOptions {
		marks = "-/"
	}
	if err := v.checkOption(marks, ref, words, p.argument, allEmpty(p.preceding, rendered)); err != nil {
		return err
	}
	for _, w := range words {
		if why := p.wordProblem(w, rendered); why != "" {
			return &RefusedError{Ref: ref, Value: w, Why: why}
		}
		if p.guard == guardProgram || p.guard == guardOption {
			break // what follows the first word is an argument
		}
	}
	return nil
}

// RefusedError says that a value must not stand where a script has it.
type RefusedError struct {
	Ref   Ref
	Value string
	Why   string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("cannot put %s into the script as %s: %s", Quoted(e.Value), e.Ref, e.Why)
}

// Guarded reports whether a value stands where the shell reads more than text, so that the
// template can refuse values that do not begin with a dash.
func (t *Template) Guarded() bool {
	for _, p := range t.script {
		if p.placeholder != nil && p.placeholder.pos.guard != guardNone {
			return true
		}
	}
	return false
}

// allEmpty reports whether nothing remains of the holes before.
func allEmpty(before []*placeholder, rendered map[*placeholder][]string) bool {
	for _, ph := range before {
		if strings.Join(rendered[ph], "") != "" {
			return false
		}
	}
	return true
}

// wordProblem says why the word cannot stand here, or "".
func (p position) wordProblem(word string, rendered map[*placeholder][]string) string {
	switch p.guard {
	case guardNumber:
		if !isWhole(word) {
			return "the shell calculates here and would run commands written in the text; only a whole number may stand here (declare the parameter with type: number)"
		}
	case guardName:
		if !isName(word) {
			return "the shell takes it for the name of a variable; only letters, digits and _ may stand here"
		}
	case guardScalar:
		if strings.HasPrefix(word, "(") && strings.HasSuffix(word, ")") {
			return "declare reads text in parentheses as an array and expands it; declare the variable first and assign on a line of its own"
		}
	case guardOption:
		if strings.HasPrefix(word, "-") && allEmpty(p.preceding, rendered) {
			return `this command reads a word that begins with "-" as an option that can evaluate the next one; write -- or a fixed argument before the hole`
		}
	case guardProgram:
		return p.programProblem(word, rendered)
	}
	return ""
}

func (p position) programProblem(word string, rendered map[*placeholder][]string) string {
	for _, ph := range p.optionalWords {
		if len(rendered[ph]) > 0 {
			return "" // the command is named by an earlier word
		}
	}
	name := p.prefix + word + p.suffix
	if evaluatingCommands[name] || strings.HasPrefix(name, "-") {
		return "as the name of a command it would make the shell evaluate the words after it; write the command itself"
	}
	return ""
}

// isWhole reports whether s is an optional minus and digits.
func isWhole(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// trimLeadingZeros writes a number without leading zeros, which mean octal in arithmetic.
func trimLeadingZeros(s string) string {
	digits, negative := strings.CutPrefix(s, "-")
	digits = strings.TrimLeft(digits, "0")
	switch {
	case digits == "":
		return "0"
	case negative:
		return "-" + digits
	}
	return digits
}

// arithmeticLiteral puts a negative number in parentheses: ${v:-5} and 3--5 mean
// something else.
func arithmeticLiteral(s string) string {
	if strings.HasPrefix(s, "-") {
		return "(" + s + ")"
	}
	return s
}
