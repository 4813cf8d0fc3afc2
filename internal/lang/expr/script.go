package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/quoting"
	"github.com/flowrun/flowrun/internal/lang/quoting/sh"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Script is a rendered script. Its text has references to the variables and no values. The caller
// passes the variables to the shell in the environment or in files. The exception is Python:
// the text of a Python script has values as literals and must be stored in a private file.
type Script struct {
	Text string
	Vars []Var
}

// Var is a variable that holds one value. If File is set, the script expects the variable to be the
// path of a UTF-8 file, with a byte order mark, that holds the value.
type Var struct {
	Name, Value string
	File        bool
}

// varPrefix is the prefix of the names of variables that hold values.
const varPrefix = "__FLOWRUN_"

// Script renders the template of a script. It fails if a value is not allowed at its place; the
// error says why, and what to write instead.
func (t *Template) Script(sc Scope) (Script, error) {
	if t.shell == Plain || t.shell == Argv {
		return Script{}, errors.New("cannot render a script: the template was not parsed for a shell")
	}
	if t.static && len(t.pieces) == 1 {
		return Script{Text: t.pieces[0].text}, nil
	}
	r := scriptRenderer{shell: t.shell, scope: sc, rendered: map[*quoting.Placeholder][]string{}, size: valuetext.Total{Max: valuetext.MaxTogether}}
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
	rendered map[*quoting.Placeholder][]string // the words of the placeholders so far
	size     valuetext.Total
}

func (r *scriptRenderer) placeholder(ph *placeholder) error {
	if ph.at.Place.Form == quoting.Comment {
		r.text.WriteString(ph.at.Written)
		return nil
	}
	v, ref, err := ph.value(r.scope)
	if err != nil {
		return err
	}
	words, err := valueWords(ph, v, ref.Class, v.Raw || ph.at.Place.Form != quoting.Word)
	if err != nil {
		return err
	}
	if err := r.size.AddAll(words, "the script with its values"); err != nil {
		return err
	}
	r.rendered[&ph.at] = words
	if v.Raw && !ph.at.Place.Requoted {
		r.text.WriteString(words[0])
		return nil
	}
	if err := r.check(ph.at.Place, ref, v, words); err != nil {
		return err
	}
	if ph.at.Place.Guard == quoting.GuardNumber {
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
		r.writeShell(ph.at.Place.Form, words)
	}
	return err
}

// writeShell writes references to the words in the given form.
func (r *scriptRenderer) writeShell(f quoting.Form, words []string) {
	switch f {
	case quoting.Number:
		r.text.WriteString(arithmeticLiteral(words[0]))
	case quoting.Inner:
		r.text.WriteString("${" + r.variable(words[0]) + "}")
	case quoting.Quoted:
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

// check returns an error if the value is not allowed at this place.
func (r *scriptRenderer) check(p quoting.Place, ref Ref, v Value, words []string) error {
	marks := "-"
	if p.SlashOptions {
		marks = "-/"
	}
	if err := v.checkOption(marks, ref, words, p.Argument, r.allEmpty(p.Preceding)); err != nil {
		return err
	}
	for _, w := range words {
		if why := r.wordProblem(p, w); why != "" {
			return &RefusedError{Ref: ref, Value: w, Why: why}
		}
		if p.Guard == quoting.GuardProgram || p.Guard == quoting.GuardOption {
			break // the other words are arguments
		}
	}
	return nil
}

// RefusedError reports that a value is not allowed at its place in a script.
type RefusedError struct {
	Ref   Ref
	Value string
	Why   string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("cannot put %s into the script as %s: %s", valuetext.Quoted(e.Value), e.Ref, e.Why)
}

// Guarded reports whether some value is used where the shell reads more than text. Then a value can
// be refused even if it does not begin with a dash.
func (t *Template) Guarded() bool {
	for _, p := range t.script {
		if p.placeholder != nil && p.placeholder.at.Place.Guard != quoting.GuardNone {
			return true
		}
	}
	return false
}

// allEmpty reports whether all the placeholders have empty values.
func (r *scriptRenderer) allEmpty(before []*quoting.Placeholder) bool {
	for _, ph := range before {
		if strings.Join(r.rendered[ph], "") != "" {
			return false
		}
	}
	return true
}

// wordProblem returns why the word is not allowed here, "" if it is.
func (r *scriptRenderer) wordProblem(p quoting.Place, word string) string {
	switch p.Guard {
	case quoting.GuardNumber:
		switch {
		case isWhole(word):
		case isNumberText(word):
			return "the arithmetic of a shell has whole numbers only; round the value, or calculate with awk"
		default:
			return "the shell evaluates arithmetic here and could run commands in the text; only a whole number is allowed (declare the parameter as type: number)"
		}
	case quoting.GuardName:
		if !isName(word) {
			return "the shell reads it as the name of a variable; only letters, digits and _ are allowed"
		}
	case quoting.GuardScalar:
		if strings.HasPrefix(word, "(") && strings.HasSuffix(word, ")") {
			return "declare reads text in parentheses as an array and expands it; declare the variable first, and assign the value on a separate line"
		}
	case quoting.GuardOption:
		if strings.HasPrefix(word, "-") && r.allEmpty(p.Preceding) {
			return `this command reads a word that begins with "-" as an option that can evaluate the next word; write -- or a fixed argument before the placeholder`
		}
	case quoting.GuardProgram:
		return r.programProblem(p, word)
	}
	return ""
}

func (r *scriptRenderer) programProblem(p quoting.Place, word string) string {
	for _, ph := range p.Optional {
		if len(r.rendered[ph]) > 0 {
			return "" // an earlier word is the name of the command
		}
	}
	name := p.Prefix + word + p.Suffix
	if sh.Evaluates(name) || strings.HasPrefix(name, "-") {
		return "as the name of a command, it would make the shell evaluate the words after it; write the command itself"
	}
	return ""
}

// isWhole reports whether s is an optional minus and digits.
func isWhole(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// trimLeadingZeros removes leading zeros, which mean octal in arithmetic.
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

// arithmeticLiteral adds parentheses to a negative number, because ${v:-5} and 3--5 mean something
// else.
func arithmeticLiteral(s string) string {
	if strings.HasPrefix(s, "-") {
		return "(" + s + ")"
	}
	return s
}
