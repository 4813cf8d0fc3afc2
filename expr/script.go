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
	r := scriptRenderer{shell: t.shell, scope: sc, words: map[*hole][]string{}, size: sum{max: MaxTogether}}
	for _, p := range t.script {
		if p.hole == nil {
			r.text.WriteString(p.text)
			continue
		}
		if err := r.hole(p.hole); err != nil {
			return Script{}, err
		}
	}
	if t.shell == Cmd {
		return cmdScript(r.text.String(), r.vars)
	}
	return Script{Text: r.text.String(), Vars: r.vars}, nil
}

type scriptRenderer struct {
	shell Shell
	scope Scope
	text  strings.Builder
	vars  []Var
	words map[*hole][]string // what the holes so far came to
	size  sum
}

func (r *scriptRenderer) hole(h *hole) error {
	if h.sits.form == formComment {
		r.text.WriteString(h.sits.written)
		return nil
	}
	v, ref, err := h.value(r.scope)
	if err != nil {
		return err
	}
	words, err := valueWords(h, v, ref.Class, v.Raw || h.sits.form != formWord)
	if err != nil {
		return err
	}
	if err := r.size.addAll(words, "the script with its values"); err != nil {
		return err
	}
	r.words[h] = words
	if v.Raw && !h.sits.rewritten {
		r.text.WriteString(words[0])
		return nil
	}
	if err := h.sits.check(ref, v, words, r.words); err != nil {
		return err
	}
	if h.sits.guard == guardNumber {
		for i, w := range words {
			words[i] = whole(w)
		}
	}
	switch r.shell {
	case Cmd:
		err = r.putCmd(h, words)
	case PowerShell:
		err = r.putPowerShell(h, v, words)
	case Python:
		err = r.putPython(h, v, words)
	default:
		r.put(h.sits.form, words)
	}
	return err
}

// put writes references to the words, shaped for where they stand.
func (r *scriptRenderer) put(f form, words []string) {
	switch f {
	case formNumber:
		r.text.WriteString(inArithmetic(words[0]))
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
func (p position) check(ref Ref, v Value, words []string, rendered map[*hole][]string) error {
	marks := "-"
	if p.slashes {
		marks = "-/"
	}
	if err := v.checkOption(marks, ref, words, p.argument, vanished(p.before, rendered)); err != nil {
		return err
	}
	for _, w := range words {
		if why := p.refuses(w, rendered); why != "" {
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
		if p.hole != nil && p.hole.sits.guard != guardNone {
			return true
		}
	}
	return false
}

// vanished reports whether nothing remains of the holes before.
func vanished(before []*hole, rendered map[*hole][]string) bool {
	for _, h := range before {
		if strings.Join(rendered[h], "") != "" {
			return false
		}
	}
	return true
}

// refuses says why the word cannot stand here, or "".
func (p position) refuses(word string, rendered map[*hole][]string) string {
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
		if strings.HasPrefix(word, "-") && vanished(p.before, rendered) {
			return `this command reads a word that begins with "-" as an option that can evaluate the next one; write -- or a fixed argument before the hole`
		}
	case guardProgram:
		return p.refusesProgram(word, rendered)
	}
	return ""
}

func (p position) refusesProgram(word string, rendered map[*hole][]string) string {
	for _, h := range p.leads {
		if len(rendered[h]) > 0 {
			return "" // the command is named by an earlier word
		}
	}
	name := p.prefix + word + p.suffix
	if evaluating[name] || strings.HasPrefix(name, "-") {
		return "as the name of a command it would make the shell evaluate the words after it; write the command itself"
	}
	return ""
}

// isWhole reports whether s is an optional minus and digits.
func isWhole(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// whole writes a number without leading zeros, which mean octal in arithmetic.
func whole(s string) string {
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

// inArithmetic puts a negative number in parentheses: ${v:-5} and 3--5 mean
// something else.
func inArithmetic(s string) string {
	if strings.HasPrefix(s, "-") {
		return "(" + s + ")"
	}
	return s
}
