// Package lint suggests improvements of definitions, based on the best practices of the source specification. Each
// practice is one function, listed in one table. It reports notes, never errors. A note says why something should
// change and what to write instead.
//
// A practice reports only what is evident from the definition itself. Missing a case is better than suggesting a change
// to good code: a missing note costs little, but a wrong one makes people ignore all others.
package lint

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Practice is one best practice.
type Practice struct {
	Code        string // code of its notes and of its explanation page
	Requirement string // its id in docs/reference/requirements.md
	check       func(*checker)
}

// Practices returns all practices, in the order of their rows.
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
	{"no-write-permission", "S1-237", writePermission},
	{"no-security-tag", "S1-224", securityTag},
	{"parallel-steps", "S1-401", parallelSteps},
	{"stream-output", "S1-402", streamOutput},
	{"no-timeout", "S1-403", noTimeout},
	{"no-memory-limit", "S1-404", memoryLimit},
}

// Of returns the notes of all practices about a definition, sorted by position. An alias has none, because it has no
// content of its own.
func Of(def *tool.Definition) tool.Diagnostics {
	if def.Alias {
		return nil
	}
	r := &checker{def: def, steps: allSteps(def)}
	for _, p := range practices {
		r.code = p.Code
		p.check(r)
	}
	return r.notes.Sorted()
}

// LostFailures returns the notes about scripts whose failures nobody notices. They are the practice that everybody should
// see, because a backup of nothing counts as a success.
func LostFailures(def *tool.Definition) tool.Diagnostics {
	if def.Alias {
		return nil
	}
	r := &checker{def: def, steps: allSteps(def), code: "no-strict"}
	noStrict(r)
	return r.notes.Sorted()
}

// checker holds one definition while practices examine it.
type checker struct {
	def   *tool.Definition
	steps []*tool.Step
	code  string // of the current practice
	notes tool.Diagnostics
}

func (r *checker) note(at tool.Pos, width int, path, message, hint string) {
	r.notes = append(r.notes, tool.Diagnostic{Code: r.code, Severity: tool.Note, Pos: at, Len: width, Path: path, Message: message, Hint: hint})
}

// parameterNote, step and whole report a note about a parameter, a step and the tool.
func (r *checker) parameterNote(p *tool.Parameter, message, hint string) {
	r.note(p.Pos, len([]rune(p.Name)), "parameters."+p.Name, message, hint)
}

func (r *checker) stepNote(s *tool.Step, message, hint string) {
	if r.def.Single { // the step has no name of its own, so the note is at its command
		line, _, _ := strings.Cut(s.Command().S, "\n")
		at := s.Command().Pos
		if at.Line == 0 {
			at, line = s.Pos, ""
		}
		r.note(at, max(1, len([]rune(line))), "", message, hint)
		return
	}
	r.note(s.Pos, len([]rune(s.Name)), "", message, hint)
}

func (r *checker) toolNote(message, hint string) { r.note(r.def.Pos, 1, "", message, hint) }

// allSteps returns all steps of a definition, including those in groups and handlers.
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

// commands returns the texts of a step's commands.
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
			if t, ok := c.Platforms[os]; ok && !slices.Contains(list, t.S) { // linux and macos can share a command
				list = append(list, t.S)
			}
		}
	}
	return list
}

// subject returns the subject of a sentence about the step.
func (r *checker) subject(s *tool.Step) string {
	if r.def.Single {
		return "the tool"
	}
	return "step " + s.Name
}

// words splits the name of a parameter into words, in upper case.
func words(name string) []string {
	return strings.FieldsFunc(strings.ToUpper(name), func(c rune) bool { return c == '_' || c == '-' })
}

func lastWord(name string) string {
	if w := words(name); len(w) > 0 {
		return w[len(w)-1]
	}
	return ""
}
