package github

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/importer"
)

// lost is what a step would find on GitHub but not in flowrun, because the part of the file that sets it is left out.
type lost struct {
	variables map[string]string // why, for each name: the end of a sentence that begins with the name
	all       string            // why every step below is left out
	changed   []string          // how the steps below differ
	steps     []string          // the steps above that are left out and could have done something for those below
}

func (l lost) clone() lost {
	l.variables, l.changed, l.steps = maps.Clone(l.variables), slices.Clone(l.changed), slices.Clone(l.steps)
	return l
}

// reasons are how a step below differs.
func (l lost) reasons() []string {
	if len(l.steps) == 0 {
		return l.changed
	}
	return append(slices.Clone(l.changed), "it may need what a step that is left out would have done: "+strings.Join(l.steps, ", "))
}

// of returns why a step with these texts cannot run, or "".
func (l lost) of(texts ...string) (why string) {
	if l.all != "" {
		return l.all
	}
	for _, name := range slices.Sorted(maps.Keys(l.variables)) {
		if slices.ContainsFunc(texts, func(s string) bool { return importer.HasWord(s, name) }) {
			return "it reads " + name + ", which " + l.variables[name]
		}
	}
	return ""
}

var envWrite = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\becho\s+["']?([A-Za-z_][A-Za-z0-9_]*)=`)
})

// harmless reports whether the steps below a step do the same without it. The files are in the folder already, unless the
// action gets others.
func harmless(s importer.Node) bool {
	action, _, _ := strings.Cut(s.Get("uses").Text(), "@")
	switch action {
	case "actions/checkout":
		return !slices.ContainsFunc(s.Get("with").Pairs(), func(p importer.Pair) bool {
			return slices.Contains([]string{"repository", "ref", "path", "submodules", "lfs", "sparse-checkout"}, p.Key)
		})
	case "actions/cache", "actions/cache/restore", "actions/cache/save", "actions/upload-artifact":
		return true
	}
	return false
}

// leave notes what the steps below a step that is left out do not find: what it does, and the variables that it sets for
// them. If the names of these cannot be found, every step below could need one of them.
func (c *context) leave(s importer.Node, label string) {
	run := s.Get("run").Text()
	if !harmless(s) {
		text := label
		if u := s.Get("uses").Text(); u != "" {
			text += " (" + short(u) + ")"
		}
		c.lost.steps = append(c.lost.steps, text)
	}
	l := &c.lost
	if !strings.HasPrefix(label, "step ") {
		label = "the step " + label
	}
	for line := range strings.Lines(run) {
		writes := strings.Count(line, "GITHUB_ENV")
		if writes == 0 {
			continue
		}
		names := envWrite().FindAllStringSubmatch(line, -1)
		if len(names) < writes || strings.Contains(line, `\n`) {
			l.all = "it could read a variable that " + label + " sets, and that step is left out"
			return
		}
		for _, m := range names {
			delete(c.env, m[1])
			l.variables[m[1]] = label + " sets, and that step is left out"
			l.changed = append(l.changed, "its programs do not find the variable "+m[1]+", because "+label+" is left out")
		}
	}
	if strings.Contains(run, "GITHUB_PATH") {
		l.changed = append(l.changed, "PATH is not extended, because "+label+" is left out")
	}
	slices.Sort(l.changed)
	l.changed = slices.Compact(l.changed)
}
