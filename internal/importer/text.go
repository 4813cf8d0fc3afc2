package importer

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Ref returns a placeholder for a text of a tool. The two control characters keep it apart from braces of the file.
func Ref(name string) string { return "\x01" + name + "\x02" }

var braces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]*)[^{}\n]*\}`)
})

// braceWriter turns texts of the file into texts of the definition.
type braceWriter struct {
	names []string // parameters and steps
	local []string // names in the step that is being written: of a matrix or a handler
	text  []string // names in braces that are text, although they look like a reference
}

// Symbol implements expr.Names.
func (b *braceWriter) Symbol(id string) expr.Symbol {
	switch {
	case slices.Contains(b.names, id), slices.Contains(b.local, id):
		return expr.Symbol{Class: expr.Local}
	case slices.Contains([]string{"TOOL_NAME", "WORKSPACE", "TEMP", "HOME", "OS", "DATE", "TIME", "TIMESTAMP"}, id):
		return expr.Symbol{Class: expr.Variable}
	}
	return expr.Symbol{}
}

// environNames are the names in environment variables, where every name in capitals is one.
type environNames struct{ *braceWriter }

func (n environNames) Symbol(id string) expr.Symbol {
	if s := n.braceWriter.Symbol(id); s.Class != expr.Unknown || !ValidVariable(id) || strings.ToUpper(id) != id {
		return s
	}
	return expr.Symbol{Class: expr.Variable}
}

// placeWords have a meaning in some places of a definition only.
func placeWords() []string { return []string{"item", "index", "matrix", "run", "last", "state"} }

// write escapes the braces of a text that flowrun would read as a placeholder or refuse. In environment variables every
// name in capitals is one.
func (b *braceWriter) write(s string, everyName bool) string {
	var out strings.Builder
	for {
		from := strings.IndexByte(s, 1)
		if from < 0 {
			break
		}
		to := from + strings.IndexByte(s[from:], 2)
		if to < from {
			break
		}
		out.WriteString(b.literal(s[:from], everyName))
		out.WriteString("{" + s[from+1:to] + "}")
		s = s[to+1:]
	}
	out.WriteString(b.literal(s, everyName))
	return out.String()
}

func (b *braceWriter) literal(s string, everyName bool) string {
	s = clean(s)
	var names expr.Names = b
	if everyName {
		names = environNames{b}
	}
	for _, m := range braces().FindAllStringSubmatchIndex(s, -1) {
		name := s[m[2]:m[3]]
		if m[0] > 0 && s[m[0]-1] == '$' || names.Symbol(name).Class != expr.Unknown || slices.Contains(b.text, name) {
			continue
		}
		if m[3] == m[1]-1 || slices.Contains(placeWords(), name) {
			b.text = append(b.text, name)
		}
	}
	return expr.Escape(s, names)
}

// clean removes control characters, which a definition cannot contain.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0xfffd || r == 0xfeff {
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// Name makes a name for a tool or a step of any text.
func Name(s string) string {
	var b strings.Builder
	dash := false
	for _, r := range s {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
		if !ok {
			dash = true
			continue
		}
		if dash && b.Len() > 0 {
			b.WriteByte('-')
		}
		dash = false
		b.WriteRune(r)
		if b.Len() >= 60 {
			break
		}
	}
	name := b.String()
	switch {
	case name == "":
		return "step"
	case name[0] >= '0' && name[0] <= '9':
		return "n" + name
	}
	switch strings.ToLower(name) {
	case "env", "raw", "last", "item", "index", "matrix", "run", "state", "con", "nul", "aux", "prn", "work-space", "workspace", "temp", "home", "os", "date", "time", "timestamp", "tool_name":
		return name + "-step"
	}
	return name
}

// Unique returns name, or name-2, name-3 and so on if it is taken, and marks it as taken.
func Unique(taken map[string]bool, name string) string {
	unique := name
	for n := 2; taken[strings.ToLower(unique)]; n++ {
		unique = name + "-" + itoa(n)
	}
	taken[strings.ToLower(unique)] = true
	return unique
}

// Budget bounds the text that references to variables make of a file: a few lines can ask for gigabytes.
type Budget struct{ spent int }

const maxExpanded = 16 << 20

// Spend adds n bytes. It returns why no more can be added, or "".
func (b *Budget) Spend(n int) (why string) {
	if b.spent += n; b.spent > maxExpanded {
		return "the variables of the file make it too long"
	}
	return ""
}

// Plain reports whether a shell reads a text as one word that means itself.
func Plain(s string) bool {
	if s == "" {
		return false
	}
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:@%+=,-", r)) {
			return false
		}
	}
	return true
}

// ValidVariable reports whether s is the name of a shell variable. The importers, in which value is a common name, ask here.
func ValidVariable(s string) bool { return value.IsVariableName(s) }

// HasWord reports whether a text contains a name that is not a part of a longer one.
func HasWord(s, name string) bool {
	part := func(s string) bool { return s != "" && ValidVariable("x"+s) }
	for i := 0; ; {
		at := strings.Index(s[i:], name)
		if at < 0 {
			return false
		}
		from, to := i+at, i+at+len(name)
		if !part(s[max(from-1, 0):from]) && !part(s[to:min(to+1, len(s))]) {
			return true
		}
		i = to
	}
}
