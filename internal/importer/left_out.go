package importer

import (
	"maps"
	"slices"
	"strings"
)

// Lost is what a reader has left out of a file and other parts may need. What needs it is left out too: it would run
// without what guards it, or with an empty text. The zero Lost is empty.
type Lost struct {
	parts     map[string]string // for each step, job or task, what is left out: the end of a sentence that begins with its name
	last      string            // the part that was left out last
	variables map[string]string // why, for each name: the end of a sentence that begins with the name
	unknown   string            // why any variable may be missing
}

// Clone returns a copy.
func (l Lost) Clone() Lost {
	l.parts, l.variables = maps.Clone(l.parts), maps.Clone(l.variables)
	return l
}

// Part notes that a part is left out. why can be empty.
func (l *Lost) Part(name, why string) {
	if l.parts == nil {
		l.parts = map[string]string{}
	}
	l.parts[name], l.last = leftOut(why), name
}

// Incomplete notes that a part is carried over without one of its own parts, so that nothing can rely on it.
func (l *Lost) Incomplete(name, without string) {
	if l.parts == nil {
		l.parts = map[string]string{}
	}
	l.parts[name] = "whose part " + without + " is left out"
}

// Variable notes that a variable of the environment is left out. why ends a sentence that begins with its name.
func (l *Lost) Variable(name, why string) {
	if l.variables == nil {
		l.variables = map[string]string{}
	}
	l.variables[name] = why
}

// Set notes that a variable has a value again.
func (l *Lost) Set(name string) { delete(l.variables, name) }

// AnyVariable notes that variables are left out whose names are unknown. why ends a sentence that begins with a name.
func (l *Lost) AnyVariable(why string) { l.unknown = why }

// Needs returns why a part that needs another one is left out, or "".
func (l Lost) Needs(name string) (why string) {
	if what, gone := l.parts[name]; gone {
		return "it needs " + name + ", " + what
	}
	return ""
}

// After returns why a part that comes after all others so far is left out, or "".
func (l Lost) After() (why string) {
	if l.last == "" {
		return ""
	}
	return "it comes after " + l.last + ", which is left out"
}

// Reads returns why a part with these texts is left out, or "".
func (l Lost) Reads(texts ...string) (why string) {
	for _, name := range slices.Sorted(maps.Keys(l.variables)) {
		if slices.ContainsFunc(texts, func(s string) bool { return HasWord(s, name) }) {
			return "it reads " + name + ", which " + l.variables[name]
		}
	}
	for _, s := range texts {
		if name := firstVariable(s); l.unknown != "" && name != "" {
			return "it reads " + name + ", which " + l.unknown
		}
	}
	return ""
}

// InSteps is Reads for the scripts of finished steps. A step that sets a variable itself does not miss it.
func (l Lost) InSteps(steps []*Step) (why string) {
	for _, s := range steps {
		rest := l.Clone()
		texts := []string{s.Script}
		for _, v := range s.Environment {
			rest.Set(v.Name)
			texts = append(texts, v.Value)
		}
		for _, why := range []string{rest.Reads(texts...), rest.InSteps(s.Steps), rest.InSteps(s.Finally)} {
			if why != "" {
				return why
			}
		}
	}
	return ""
}

// Needs returns why a part is left out that needs another part, which is left out because of a reason.
func Needs(name, because string) (why string) {
	return "it needs " + name + ", " + leftOut(because)
}

func leftOut(why string) string {
	if why == "" {
		return "which is left out"
	}
	return "which is left out: " + why
}

// firstVariable returns the name of the first variable that a script of a shell reads, or "".
func firstVariable(s string) string {
	for _, after := range strings.Split(s, "$")[1:] {
		after = strings.TrimPrefix(after, "{")
		end := strings.IndexFunc(after, func(r rune) bool { return !ValidVariable("x" + string(r)) })
		if end < 0 {
			end = len(after)
		}
		if ValidVariable(after[:end]) {
			return after[:end]
		}
	}
	return ""
}
