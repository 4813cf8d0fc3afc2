package taskfile

import (
	"regexp"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/importer"
)

var action = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.([A-Za-z_][A-Za-z0-9_]*)(?:\s*\|\s*default\s+("[^"]*"|'[^']*'|` + "`[^`]*`" + `|[0-9]+))?$`)
})

var reversed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^default\s+("[^"]*"|` + "`[^`]*`" + `|[0-9]+)\s+\.([A-Za-z_][A-Za-z0-9_]*)$`)
})

// variable returns the value of a variable, in which references to others are replaced.
func (b *builder) variable(n importer.Node) (text, why string) {
	switch {
	case n.IsMap() && n.Get("sh").Exists():
		return "", "it is the output of a command"
	case !n.IsScalar():
		return "", "it is not a text"
	}
	return b.expand(n.Text())
}

// expand replaces {{ ... }}. why says why that is impossible.
func (b *builder) expand(s string) (text, why string) {
	var out strings.Builder
	for {
		i := strings.Index(s, "{{")
		if i < 0 {
			return out.String() + s, ""
		}
		to := strings.Index(s[i:], "}}")
		if to < 0 {
			return "", "a {{ has no end"
		}
		if inner := s[i+2 : i+to]; strings.HasPrefix(inner, "-") || strings.HasSuffix(inner, "-") {
			return "", "flowrun does not evaluate {{" + short(inner) + "}}"
		}
		value, why := b.action(strings.TrimSpace(s[i+2 : i+to]))
		if why != "" {
			return "", why
		}
		out.WriteString(s[:i] + value)
		if why := b.budget.Spend(len(value)); why != "" {
			return "", why
		}
		if out.Len() > 64<<10 {
			return "", "a variable is too long"
		}
		s = s[i+to+2:]
	}
}

// action evaluates one {{ ... }}.
func (b *builder) action(s string) (text, why string) {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '`') && strings.IndexByte(s[1:], s[0]) == len(s)-2 && !strings.Contains(s, `\`) {
		return s[1 : len(s)-1], ""
	}
	if s == "exeExt" {
		return "", ""
	}
	m := action().FindStringSubmatch(s)
	if m == nil {
		if r := reversed().FindStringSubmatch(s); r != nil {
			m = []string{s, r[2], r[1]}
		}
	}
	if m == nil {
		return "", "flowrun does not evaluate {{" + short(s) + "}}"
	}
	name, fallback := m[1], m[2]
	v, known := b.vars[name]
	switch {
	case known && v.bad != "":
		return "", "it uses " + name + ": " + v.bad
	case known && (v.text != "" || fallback == ""):
		return v.text, ""
	case name == "CLI_ARGS", name == "ITEM", name == "KEY", name == "EXIT_CODE", name == "CHECKSUM", name == "TIMESTAMP", name == "MATCH", strings.HasPrefix(name, "CLI_"):
		return "", "flowrun has no counterpart for ." + name
	case name == "ROOT_DIR", name == "TASKFILE_DIR", name == "USER_WORKING_DIR":
		b.change(".%s is the folder in which flowrun is started", name)
		return importer.Ref("WORKSPACE"), ""
	case name == "TASKFILE", name == "TASK_DIR", name == "TASK_EXE", name == "TASK_VERSION", name == "ROOT_TASKFILE":
		return "", "flowrun has no counterpart for ." + name
	case !b.top:
		return "", "the variable " + name + " has no value"
	}
	return b.parameter(name, strings.Trim(fallback, "\"'`"), fallback != "")
}

// parameter returns a placeholder for a variable that the caller gives.
func (b *builder) parameter(name, fallback string, has bool) (text, why string) {
	if importer.Name(name) != name || b.names[strings.ToLower(name)] {
		return "", "the variable " + name + " has a name that is not possible in flowrun"
	}
	b.names[strings.ToLower(name)] = true
	if !has {
		b.change("%s comes from the environment in go-task; here it is a parameter, and empty by default", name)
	}
	b.params = append(b.params, importer.Parameter{Name: name, Default: fallback, HasDefault: true})
	b.vars[name] = value{text: importer.Ref(name)}
	b.change("a parameter is always one word, and the shell never reads it as code")
	return importer.Ref(name), ""
}

func short(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	if r := []rune(s); len(r) > 50 {
		return string(r[:47]) + "..."
	}
	return s
}
