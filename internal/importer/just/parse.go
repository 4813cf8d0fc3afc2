// Package just reads justfiles for flowrun import. Each public recipe becomes a tool with a step for the recipe and for
// each recipe it depends on.
package just

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/importer"
)

// recipe is what a justfile says of one recipe.
type recipe struct {
	name      string
	line      int
	about     string
	params    []importer.Parameter
	before    []string
	after     []string
	body      []string
	private   bool
	confirm   string
	platforms []string
	dir       string
	bad       string
	changed   []string
}

type variable struct {
	value, bad string
	exported   bool
}

type parser struct {
	result    importer.Result
	budget    importer.Budget
	vars      map[string]*variable
	recipes   map[string]*recipe
	order     []string
	shell     string
	badAll    string
	exportAll bool
	dotenv    bool
	dotfile   string
	dir       string   // set working-directory
	missing   []string // what the file says for all recipes and is left out
	lost      importer.Lost
}

var patterns = sync.OnceValue(func() (p struct{ assign, header, parameter, stops, mayFail *regexp.Regexp }) {
	p.assign = regexp.MustCompile(`(?s)^(export\s+)?([A-Za-z_][A-Za-z0-9_-]*)\s*:=\s*(.*)$`)
	p.header = regexp.MustCompile(`(?s)^(@?)([A-Za-z_][A-Za-z0-9_-]*)(\s[^:]*(?:'[^']*'|"[^"]*"|[^:'"])*)?:([^=].*)?$`)
	p.parameter = regexp.MustCompile(`^([+*]?)(\$?)([A-Za-z_][A-Za-z0-9_-]*)(?:=('[^']*'|"[^"]*"|[A-Za-z_][A-Za-z0-9_-]*))?(?:\s+|$)`)
	// The functions that stop just: it evaluates all variables of the file before it runs a recipe.
	p.stops = regexp.MustCompile(`\b(error|assert|require)\s*\(`)
	// What it evaluates then and what can fail: a command, a variable of the environment without a default, and functions
	// that read files.
	p.mayFail = regexp.MustCompile("`|" + `\b(shell|read|sha256_file|blake3_file|canonicalize|env_var)\s*\(|\benv\s*\(\s*['"][^'"]*['"]\s*\)`)
	return p
})

func (p *parser) parse(src string) {
	lines := strings.Split(strings.ReplaceAll(src, "\r\n", "\n"), "\n")
	var current *recipe
	var attributes []string
	about := ""
	for i := 0; i < len(lines); i++ {
		line, n := lines[i], i+1
		text := strings.TrimSpace(line)
		if line != "" && (line[0] == ' ' || line[0] == '\t') && text != "" {
			if current != nil {
				current.body = append(current.body, line)
			} else {
				p.result.Add("line", n, "", importer.LeftOut, "an indented line that belongs to no recipe")
			}
			continue
		}
		if text == "" {
			if current != nil {
				current.body = append(current.body, "")
			}
			about = ""
			continue
		}
		current = nil
		if strings.HasPrefix(text, "#") {
			about = strings.TrimSpace(strings.TrimLeft(text, "#"))
			continue
		}
		var ends bool
		if text, i, ends = statement(lines, i); !ends {
			p.badAll = fmt.Sprintf("line %d has a text or a bracket without an end", n)
			p.result.Add("line", n, "", importer.LeftOut, "a text or a bracket has no end: %s; what follows is not read", short(text))
			return
		}
		if strings.HasPrefix(text, "[") && strings.HasSuffix(withoutComment(text), "]") {
			text = withoutComment(text)
			attributes = append(attributes, text[1:len(text)-1])
			continue
		}
		first, rest, _ := strings.Cut(text, " ")
		m := patterns().assign.FindStringSubmatch(text)
		switch {
		case first == "set":
			p.setting(strings.TrimSpace(rest), n)
		case m != nil && first != "alias":
			p.assign(m[2], m[3], m[1] != "", n)
		case first == "unexport":
			p.result.Add(text, n, "", importer.LeftOut, "flowrun has no counterpart")
			p.missing = append(p.missing, withoutComment(text))
		case first == "alias":
			p.result.Add(text, n, "", importer.LeftOut, "call the tool by its own name")
		case first == "import" || first == "import?" || first == "mod" || first == "mod?":
			p.result.Add(text, n, "", importer.LeftOut, "import the other file by itself")
			p.missing = append(p.missing, withoutComment(text))
			if strings.HasPrefix(first, "import") {
				p.lost.AnyVariable("an imported file may set")
			}
		default:
			current = p.header(text, n, attributes, about)
		}
		attributes, about = nil, ""
	}
}

// statement returns what begins in a line at the top level, without the line breaks outside of its texts, and the number of
// its last line. As in just, it continues in the next line after a backslash, inside of brackets, and inside of a text in quotes
// or backticks. If one of these has no end, it returns only the line.
func statement(lines []string, first int) (text string, last int, ends bool) {
	var b strings.Builder
	depth, quote := 0, ""
	for last = first; last < len(lines); last++ {
		line, more := lines[last], false
		for line != "" {
			n := 1
			switch {
			case quote != "" && strings.HasPrefix(line, quote):
				n, quote = len(quote), ""
			case quote != "":
				if line[0] == '\\' && quote[0] == '"' {
					n = min(2, len(line))
				}
			case strings.TrimSpace(line) == `\`:
				line, n, more = "", 0, true
			case line[0] == '#':
				if n = len(line); depth > 0 {
					line, n = "", 0
				}
			case strings.ContainsRune("([{", rune(line[0])):
				depth++
			case strings.ContainsRune(")]}", rune(line[0])):
				depth--
			default:
				if quote = opening(line); quote != "" {
					n = len(quote)
				}
			}
			b.WriteString(line[:n])
			line = line[n:]
		}
		switch {
		case quote != "":
			b.WriteByte('\n')
		case depth > 0 || more:
			b.WriteByte(' ')
		default:
			return strings.TrimSpace(b.String()), last, true
		}
	}
	return strings.TrimSpace(lines[first]), first, false
}

// opening returns the quotes or backticks at the start of s, or "".
func opening(s string) string {
	for _, quote := range []string{"'''", `"""`, "```", "'", `"`, "`"} {
		if strings.HasPrefix(s, quote) {
			return quote
		}
	}
	return ""
}

func withoutComment(s string) string {
	if i := strings.LastIndex(s, " #"); i > 0 && !strings.ContainsAny(s[i:], `'"]`) {
		return strings.TrimSpace(s[:i])
	}
	return s
}

func (p *parser) setting(text string, line int) {
	name, value, _ := strings.Cut(text, ":=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	on := value == "" || value == "true"
	exact := func() { p.result.Outcome("set "+name, line, "", nil) }
	switch {
	case name == "shell":
		p.setShell(value, line)
	case name == "dotenv-load" || name == "dotenv-filename":
		if name == "dotenv-filename" {
			p.dotfile = strings.Trim(value, `'"`)
		}
		p.dotenv = on || name == "dotenv-filename"
		if !p.dotenv {
			exact()
			return
		}
		p.result.Outcome("set "+name, line, "", []string{"variables of the file replace those of the environment; in just the environment wins"})
	case name == "export":
		p.exportAll = on
		exact()
	case name == "windows-shell" || name == "windows-powershell" || name == "fallback" || name == "quiet" || name == "ignore-comments" || name == "unstable" || name == "default-list" || name == "script-interpreter" || name == "allow-duplicate-variables":
		p.result.Outcome("set "+name, line, "", []string{"flowrun needs no counterpart on this platform"})
	case name == "working-directory":
		dir, why := p.expression(value, nil)
		if why != "" {
			p.badAll = "set working-directory: " + why
			p.result.Add("set "+name, line, "", importer.LeftOut, "%s", why)
			return
		}
		p.dir = dir
		exact()
	case name == "positional-arguments" || name == "allow-duplicate-recipes" || name == "tempdir" || strings.HasPrefix(name, "dotenv-"):
		if on || value != "false" {
			p.badAll = "set " + name + " changes how just runs recipes"
		}
		p.result.Add("set "+name, line, "", importer.LeftOut, "it changes how just runs recipes; they are left out")
	default:
		p.result.Add("set "+name, line, "", importer.LeftOut, "flowrun has no counterpart")
		p.missing = append(p.missing, "set "+name)
	}
}

// setShell reads the shell of the recipes, with its options.
func (p *parser) setShell(value string, line int) {
	switch strings.NewReplacer(`"`, "", "'", "", " ", "").Replace(value) {
	case "[bash,-c]":
		p.shell = "bash"
	case "[bash,-cu]", "[bash,-uc]", "[bash,-u,-c]":
		p.shell = "bash -u"
	case "[bash,-euo,pipefail,-c]", "[bash,-eu,-o,pipefail,-c]", "[bash,-ceuo,pipefail]", "[bash,-euco,pipefail]":
		p.shell = "bash -euo pipefail"
	case "[sh,-c]":
		p.shell = "sh"
	case "[sh,-cu]":
		p.shell = "sh -u"
	default:
		p.badAll = "the shell " + value + " has no counterpart"
		p.result.Add("set shell", line, "", importer.LeftOut, "flowrun has no steps for %s", value)
		return
	}
	p.result.Outcome("set shell", line, "", nil)
}

func (p *parser) mayStop(name, value string) {
	if patterns().stops.MatchString(value) {
		p.badAll = "the variable " + name + " can stop just before it runs a recipe"
	}
}

func (p *parser) assign(name, value string, exported bool, line int) {
	v := &variable{exported: exported}
	v.value, v.bad = p.expression(strings.TrimSpace(value), nil)
	p.vars[name] = v
	p.mayStop(name, value)
	if v.bad != "" {
		p.result.Add("variable "+name, line, "", importer.LeftOut, "%s; recipes that use it are left out", v.bad)
		if patterns().mayFail.MatchString(value) {
			p.missing = append(p.missing, "the command or the call in the variable "+name+", after whose failure just runs nothing,")
		}
		return
	}
	p.result.Add("variable "+name, line, "", importer.Changed, "its value is written into the recipes; just %s=... has no counterpart", name)
}

// header reads the first line of a recipe. It returns nil if it is none.
func (p *parser) header(text string, line int, attributes []string, about string) *recipe {
	m := patterns().header.FindStringSubmatch(text)
	if m == nil {
		p.result.Add("line", line, "", importer.LeftOut, "not understood: %s", short(text))
		return nil
	}
	r := &recipe{name: m[2], line: line, about: about, private: strings.HasPrefix(m[2], "_")}
	p.parameters(r, strings.TrimSpace(m[3]))
	p.dependencies(r, strings.TrimSpace(m[4]))
	for _, a := range attributes {
		p.attributes(r, a)
	}
	if p.recipes[r.name] != nil {
		old := p.recipes[r.name]
		if len(r.platforms) > 0 && len(old.platforms) > 0 && r.platforms[0] != "linux" {
			p.result.Add("recipe "+r.name, line, "", importer.LeftOut, "another recipe of that name is for Linux")
			return r
		}
		if len(old.platforms) == 0 {
			r.bad = "the file has two recipes of that name"
		} else {
			p.result.Add("recipe "+r.name, old.line, "", importer.LeftOut, "another recipe of that name is for Linux")
		}
	} else {
		p.order = append(p.order, r.name)
	}
	p.recipes[r.name] = r
	return r
}

func (p *parser) dependencies(r *recipe, text string) {
	text, _, _ = strings.Cut(text, "#")
	if strings.ContainsAny(text, "()'\"") {
		r.bad = "flowrun has no dependencies with arguments"
		return
	}
	list := &r.before
	for _, w := range strings.Fields(text) {
		if w == "&&" {
			list = &r.after
			continue
		}
		*list = append(*list, w)
	}
}

func (p *parser) attributes(r *recipe, text string) {
	for _, a := range splitAttributes(text) {
		name, value, _ := strings.Cut(a, "(")
		name, value, _ = strings.Cut(strings.TrimSuffix(name+"("+value, ")"), "(")
		if n, v, ok := strings.Cut(name, ":"); ok {
			name, value = strings.TrimSpace(n), strings.TrimSpace(v)
		}
		value = strings.Trim(strings.TrimSpace(value), `'"`)
		switch name {
		case "private":
			r.private = true
		case "linux", "macos", "windows":
			r.platforms = append(r.platforms, name)
		case "unix":
			r.platforms = append(r.platforms, "linux", "macos")
		case "doc":
			r.about = value
		case "working-directory":
			r.dir = value
		case "confirm":
			r.confirm = "Run recipe " + r.name + "?"
			if value != "" {
				r.confirm = value
			}
		case "group", "no-exit-message", "no-quiet", "default", "positional-arguments":
			if name == "positional-arguments" {
				r.bad = "flowrun has no positional arguments"
			}
		case "parallel":
			r.changed = append(r.changed, "its dependencies run one after the other")
		default:
			r.bad = "flowrun has no counterpart for [" + name + "]"
		}
	}
}

// splitAttributes splits at commas outside of parentheses and quotes.
func splitAttributes(s string) []string {
	var out []string
	depth, start := 0, 0
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

func short(s string) string {
	if first, _, more := strings.Cut(s, "\n"); more {
		return short(first) + "..."
	}
	if r := []rune(s); len(r) > 50 {
		return string(r[:47]) + "..."
	}
	return s
}
