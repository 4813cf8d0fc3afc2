// Package lint knows better ways: what the best practices of the source
// specification ask for and a definition does not do. A practice is
// one function over a definition, in one table; what it has to say is a note, never an
// error, and each note says why and what to write instead.
//
// A practice speaks only where it can see the reason in the definition itself. It would
// rather miss a case than tell somebody to change what is good: no note costs little,
// a wrong one costs the trust in all others.
package lint

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/tool"
)

// Practice is one better way.
type Practice struct {
	Code string // of its notes, and of the page that explains it
	Row  string // its id in docs/requirements.md
	look func(*reader)
}

// Practices are all practices, in the order of their rows.
func Practices() []Practice { return slices.Clone(practices) }

var practices = []Practice{
	{"no-name-key", "S1-010", nameKey},
	{"changelog-newest", "S1-014", newestChange},
	{"enum-parameter", "S1-381", enumParameter},
	{"unclear-output", "S1-382", unclearOutput},
	{"wide-permission", "S1-383", widePermission},
	{"no-justification", "S1-383", justification},
	{"upper-case-parameter", "S1-384", upperCase},
	{"mixed-separators", "S1-385", separators},
	{"abbreviation", "S1-386", abbreviation},
	{"group-prefix", "S1-387", groupPrefix},
	{"boolean-name", "S1-388", booleanName},
	{"value-name", "S1-388", valueName},
	{"retry-network", "S1-389", retryNetwork},
	{"unseen-failure", "S1-390", unseenFailure},
	{"silent-exit", "S1-391", silentExit},
	{"no-strict", "S1-391", noStrict},
	{"no-cleanup", "S1-392", noCleanup},
	{"platform-command", "S1-393", platformCommand},
	{"path-parameter", "S1-394", pathParameter},
	{"portable-step", "S1-395", portableStep},
	{"no-tests", "S1-396", noTests},
	{"platform-tests", "S1-396", platformTests},
	{"unescaped-parameter", "S1-397", unescaped},
	{"unvalidated-parameter", "S1-398", unvalidated},
	{"unmasked-secret", "S1-399", unmasked},
	{"no-network-permission", "S1-400", networkPermission},
	{"no-security-tag", "S1-224", securityTag},
	{"parallel-steps", "S1-401", parallelSteps},
	{"stream-output", "S1-402", streamOutput},
	{"no-timeout", "S1-403", noTimeout},
	{"no-memory-limit", "S1-404", memoryLimit},
}

// Of is what the practices say of a definition, sorted by place. An alias has nothing
// of its own to be judged.
func Of(def *tool.Definition) tool.Diagnostics {
	if def.Alias {
		return nil
	}
	r := &reader{def: def, steps: allSteps(def)}
	for _, p := range practices {
		r.code = p.Code
		p.look(r)
	}
	return r.notes.Sorted()
}

// reader goes over one definition.
type reader struct {
	def   *tool.Definition
	steps []*tool.Step
	code  string // of the practice that looks
	notes tool.Diagnostics
}

func (r *reader) say(at tool.Pos, width int, path, message, hint string) {
	r.notes = append(r.notes, tool.Diagnostic{Code: r.code, Severity: tool.Note, Pos: at, Len: width, Path: path, Message: message, Hint: hint})
}

// parameter speaks of a parameter, step of a step, whole of the tool.
func (r *reader) parameter(p *tool.Parameter, message, hint string) {
	r.say(p.Pos, len([]rune(p.Name)), "parameters."+p.Name, message, hint)
}

func (r *reader) step(s *tool.Step, message, hint string) {
	if r.def.Single { // it has no name; its command is what there is to look at
		line, _, _ := strings.Cut(s.Command().S, "\n")
		at := s.Command().Pos
		if at.Line == 0 {
			at, line = s.Pos, ""
		}
		r.say(at, max(1, len([]rune(line))), "", message, hint)
		return
	}
	r.say(s.Pos, len([]rune(s.Name)), "", message, hint)
}

func (r *reader) whole(message, hint string) { r.say(r.def.Pos, 1, "", message, hint) }

// allSteps are the steps of a definition, those of groups and handlers included.
func allSteps(def *tool.Definition) []*tool.Step {
	var all []*tool.Step
	var visit func(s *tool.Step)
	visit = func(s *tool.Step) {
		all = append(all, s)
		for _, in := range s.Steps() {
			visit(in)
		}
		s.Handlers.Each(visit)
	}
	for _, s := range def.Steps {
		visit(s)
	}
	def.Handlers.Each(visit)
	return all
}

// commands are the command texts of a step.
func commands(s *tool.Step) []string {
	var list []string
	if s.Command().S != "" {
		list = append(list, s.Command().S)
	}
	if c, ok := s.Body.(*tool.Commands); ok {
		if c.Default != nil {
			list = append(list, c.Default.S)
		}
		for _, os := range []string{"linux", "macos", "windows"} {
			if t, ok := c.Platforms[os]; ok {
				list = append(list, t.S)
			}
		}
	}
	return list
}

// called is what the step is called in a sentence.
func (r *reader) called(s *tool.Step) string {
	if r.def.Single {
		return "the tool"
	}
	return "step " + s.Name
}

// words are the words of a parameter's name, in capitals.
func words(name string) []string {
	return strings.FieldsFunc(strings.ToUpper(name), func(c rune) bool { return c == '_' || c == '-' })
}

func lastWord(name string) string {
	if w := words(name); len(w) > 0 {
		return w[len(w)-1]
	}
	return ""
}
