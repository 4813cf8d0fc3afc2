package just

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// expression evaluates texts, variables, parameters, + and /. why says why it cannot be evaluated.
func (p *parser) expression(s string, params []importer.Parameter) (value, why string) {
	var b strings.Builder
	rest := strings.TrimSpace(s)
	for first := true; ; first = false {
		if !first {
			switch {
			case rest == "" || rest[0] == '#':
				return b.String(), ""
			case rest[0] == '+':
			case rest[0] == '/':
				b.WriteByte('/')
			default:
				return "", "flowrun does not evaluate " + short(s)
			}
			rest = strings.TrimSpace(rest[1:])
		}
		text, n, why := p.operand(rest, params)
		if why != "" {
			return "", why
		}
		b.WriteString(text)
		if b.Len() > 64<<10 {
			return "", "a variable is too long"
		}
		rest = strings.TrimSpace(rest[n:])
	}
}

// folders are functions whose value is the folder in which flowrun runs.
const folders = "justfile_directory justfile_dir invocation_directory invocation_dir"

// folderDiffers is how a text differs that has the value of one of them, or "".
func folderDiffers(text string) string {
	if strings.Contains(text, importer.Ref("WORKSPACE")) {
		return "justfile_directory() is the folder in which flowrun was started"
	}
	return ""
}

// operand reads one operand and returns how many bytes it has.
func (p *parser) operand(s string, params []importer.Parameter) (value string, n int, why string) {
	bad := "flowrun does not evaluate " + short(s)
	if s == "" || strings.HasPrefix(s, "'''") || strings.HasPrefix(s, `"""`) {
		return "", 0, bad
	}
	if s[0] == '\'' {
		to := strings.IndexByte(s[1:], '\'')
		if to < 0 {
			return "", 0, bad
		}
		return s[1 : to+1], to + 2, ""
	}
	if s[0] == '"' {
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '"':
				return b.String(), i + 1, ""
			case s[i] == '\\' && i+1 < len(s):
				i++
				c, ok := map[byte]string{'n': "\n", 'r': "\r", 't': "\t", '"': `"`, '\\': `\`, '\n': ""}[s[i]]
				if !ok {
					return "", 0, bad
				}
				b.WriteString(c)
			default:
				b.WriteByte(s[i])
			}
		}
		return "", 0, bad
	}
	for n < len(s) && (s[n] == '_' || s[n] == '-' || s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z' || s[n] >= '0' && s[n] <= '9') {
		n++
	}
	name := s[:n]
	if name == "if" {
		return "", 0, "flowrun does not evaluate if-expressions"
	}
	if strings.HasPrefix(s[n:], "()") && slices.Contains(strings.Fields(folders), name) {
		return importer.Ref("WORKSPACE"), n + 2, ""
	}
	if n == 0 || strings.HasPrefix(s[n:], "(") {
		return "", 0, bad
	}
	for _, prm := range params {
		if prm.Name == name {
			return importer.Ref(name), n, ""
		}
	}
	v := p.vars[name]
	switch {
	case v == nil:
		return "", 0, "the variable " + name + " is not set above"
	case v.bad != "":
		return "", 0, "it uses " + name + ": " + v.bad
	}
	return v.value, n, ""
}

// interpolate replaces {{ ... }} in a line of a recipe.
func (p *parser) interpolate(s string, params []importer.Parameter) (text, why string) {
	var b strings.Builder
	for {
		i := strings.Index(s, "{{")
		if i < 0 {
			return b.String() + s, ""
		}
		b.WriteString(s[:i])
		if strings.HasPrefix(s[i:], "{{{{") {
			b.WriteString("{{")
			s = s[i+4:]
			continue
		}
		to := strings.Index(s[i:], "}}")
		if to < 0 {
			return "", "a {{ has no end"
		}
		value, why := p.expression(s[i+2:i+to], params)
		if why != "" {
			return "", why
		}
		b.WriteString(value)
		if why := p.budget.Spend(len(value)); why != "" {
			return "", why
		}
		s = s[i+to+2:]
	}
}
