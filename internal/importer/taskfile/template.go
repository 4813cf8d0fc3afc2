package taskfile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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

// date matches a text that YAML reads as a time if it has no quotes.
var date = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?$`) })

// number returns a number as go-task prints it. To go-task 010 is an octal number.
func number(text string) string {
	text = strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return strconv.FormatUint(n, 10)
	}
	f, _ := strconv.ParseFloat(text, 64)
	return fmt.Sprint(f)
}

// mayFail reports whether a variable is the output of a command, which go-task runs before the task.
func mayFail(n importer.Node) bool { return n.IsMap() && n.Get("sh").Exists() }

// variable returns the value of a variable, in which references to others are replaced.
func (b *builder) variable(n importer.Node) (text, why string) {
	switch {
	case mayFail(n):
		return "", "it is the output of a command"
	case !n.IsScalar():
		return "", "it is not a text"
	}
	switch v := n.Scalar().(type) {
	case int64, float64, json.Number:
		return number(n.Text()), ""
	case bool:
		return fmt.Sprint(v), ""
	}
	if !n.Quoted() && date().MatchString(n.Text()) {
		return "", "go-task reads " + short(n.Text()) + " as a time"
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
		for _, p := range v.params {
			if why := b.global(p); why != "" {
				return "", why
			}
		}
		return v.text, ""
	case name == "CLI_ARGS", name == "ITEM", name == "KEY", name == "EXIT_CODE", name == "CHECKSUM", name == "TIMESTAMP", name == "MATCH", strings.HasPrefix(name, "CLI_"):
		return "", "flowrun has no counterpart for ." + name
	case name == "ROOT_DIR", name == "TASKFILE_DIR", name == "USER_WORKING_DIR":
		b.change(".%s is the folder in which flowrun is started", name)
		return importer.Ref("WORKSPACE"), ""
	case name == "TASKFILE", name == "TASK_DIR", name == "TASK_EXE", name == "TASK_VERSION", name == "ROOT_TASKFILE":
		return "", "flowrun has no counterpart for ." + name
	case !b.top && (fallback == "" || b.names == nil): // without names, the builder is that of the globals
		return "", "the variable " + name + " has no value"
	case !b.top:
		b.change("the default of %s is written into the commands; task %s=... has no counterpart", name, name)
		return strings.Trim(fallback, "\"'`"), ""
	}
	return b.parameter(name, strings.Trim(fallback, "\"'`"), fallback != "")
}

const notFromEnvironment = "a variable of the environment does not give %s"

// ownDefault returns the default of a global variable that the caller can set: NAME: '{{.NAME | default "x"}}'.
func ownDefault(name string, n importer.Node) (fallback string, ok bool) {
	if !n.IsScalar() {
		return "", false
	}
	s := strings.TrimSpace(n.Text())
	if !strings.HasPrefix(s, "{{") || !strings.HasSuffix(s, "}}") {
		return "", false
	}
	s = strings.TrimSpace(s[2 : len(s)-2])
	if m := action().FindStringSubmatch(s); m != nil && m[1] == name && m[2] != "" {
		return strings.Trim(m[2], "\"'`"), true
	}
	if m := reversed().FindStringSubmatch(s); m != nil && m[2] == name {
		return strings.Trim(m[1], "\"'`"), true
	}
	return "", false
}

// global makes a parameter of a global variable with a default, once for a tool. The builder of the globals themselves
// has no tool: there, the variables that use p need it too.
func (b *builder) global(p importer.Parameter) (why string) {
	if slices.ContainsFunc(b.params, func(o importer.Parameter) bool { return o.Name == p.Name && o.HasDefault == p.HasDefault }) {
		return ""
	}
	if b.names != nil {
		if b.names[strings.ToLower(p.Name)] {
			return "the variable " + p.Name + " has a name that is not possible in flowrun"
		}
		b.names[strings.ToLower(p.Name)] = true
	}
	b.params = append(b.params, p)
	b.change(notFromEnvironment, p.Name)
	b.change("a parameter is always one word, and the shell never reads it as code")
	return ""
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
	if has {
		b.change(notFromEnvironment, name)
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
