package quoting

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Python finds out where the placeholders of a Python script are. Python has no variables
// that could hold a value safely, but its literals can hold any value. A placeholder in code
// becomes a literal. A placeholder in a plain string becomes the escaped text. Places that
// versions of Python read differently are refused.
func Python(src string, pieces []Piece) []Problem {
	p := pythonReader{cells: cellsOf(pieces)}
	if c := codingCookie().FindStringSubmatch(firstLines(src)); c != nil && !strings.EqualFold(strings.ReplaceAll(c[1], "_", "-"), "utf-8") {
		p.unknownWhy = "the script is not in UTF-8"
	}
	for p.i < len(p.cells) {
		p.code()
	}
	return p.problems
}

// codingCookie matches the comment that declares the encoding of a script (PEP 263).
var codingCookie = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`) })

// firstLines returns the lines in which Python looks for a coding cookie.
func firstLines(src string) string {
	lines := strings.SplitN(src, "\n", 3)
	return strings.Join(lines[:min(2, len(lines))], "\n")
}

const pythonWayOut = `pass it through environment: {variables: {NAME: "{X}"}}, and read os.environ["NAME"]`

type pythonReader struct {
	refusals
	cells      cells
	i          int
	callees    []string // the name before each open bracket
	unknownWhy string   // why the places after this one are unknown; "" if they are known
}

// code reads one item outside strings: a placeholder, a comment, a name or a bracket.
func (p *pythonReader) code() {
	c := p.cells[p.i]
	switch {
	case c.placeholder != nil:
		p.placeBare(c.placeholder)
		p.i++
	case c.c == '#':
		p.comment()
	case c.c == '\'' || c.c == '"':
		p.stringLiteral("")
	case isNameByte(c.c) || c.c >= 0x80:
		p.name()
	case strings.IndexByte("([{", c.c) >= 0:
		p.callees = append(p.callees, p.callee())
		p.i++
	case strings.IndexByte(")]}", c.c) >= 0:
		if len(p.callees) > 0 {
			p.callees = p.callees[:len(p.callees)-1]
		}
		p.i++
	default:
		p.i++
	}
}

func (p *pythonReader) comment() {
	for ; p.i < len(p.cells) && p.cells.at(p.i) != '\n'; p.i++ {
		if ph := p.cells[p.i].placeholder; ph != nil {
			ph.Place = Place{Form: Comment}
		}
	}
}

// name reads a name, and the string after it if the name is a string prefix.
func (p *pythonReader) name() {
	start := p.i
	for p.i < len(p.cells) && !p.cells.isPlaceholder(p.i) && (isNameByte(p.cells[p.i].c) || p.cells[p.i].c >= 0x80) {
		p.i++
	}
	prefix := strings.ToLower(p.cells.text(start, p.i))
	if c := p.cells.at(p.i); (c == '\'' || c == '"') && !p.cells.isPlaceholder(p.i) && len(prefix) <= 2 && strings.Trim(prefix, "rbuft") == "" {
		p.stringLiteral(prefix)
	}
}

// callee returns the dotted name before a bracket.
func (p *pythonReader) callee() string {
	end := p.i
	for end > 0 && (p.cells[end-1].c == ' ' || p.cells[end-1].c == '\t') {
		end--
	}
	start := end
	for start > 0 && (isNameByte(p.cells[start-1].c) || p.cells[start-1].c == '.') {
		start--
	}
	return p.cells.text(start, end)
}

// stringLiteral reads a string literal, starting at its opening quote.
func (p *pythonReader) stringLiteral(prefix string) {
	quote := string(p.cells.at(p.i))
	if triple := strings.Repeat(quote, 3); p.cells.has(p.i, triple) {
		quote = triple
	}
	p.i += len(quote)
	start, before := p.i, p.unknownWhy
	defer func() {
		if p.unknownWhy == before {
			return
		}
		for _, c := range p.cells[start:p.i] {
			if c.placeholder != nil {
				p.add(c.placeholder, p.unknownWhy, pythonWayOut)
			}
		}
	}()
	f := fString{quote: quote, enabled: strings.ContainsAny(prefix, "ft")}
	for p.i < len(p.cells) && !p.cells.has(p.i, quote) {
		c := p.cells[p.i]
		switch {
		case c.placeholder != nil:
			p.placeInString(c.placeholder, prefix, p.textBefore(start))
		case c.c == '\\' && !p.cells.isPlaceholder(p.i+1):
			p.i++
		case c.c == '\n' && len(quote) == 1:
			p.unknownWhy = "a string is not closed on its line"
			return
		case f.enabled:
			p.i += f.read(p.cells, p.i)
		}
		p.i++
	}
	switch {
	case p.i >= len(p.cells):
		p.unknownWhy = "a string is not closed"
	case f.depth != 0 || f.ambiguous:
		p.unknownWhy = "the end of the f-string before it depends on the version of Python; use no quotes and comments in its braces"
	}
	p.i = min(p.i+len(quote), len(p.cells))
}

// textBefore returns the end of the string's text before p.i. It is long enough to show an escape
// sequence that is not complete.
func (p *pythonReader) textBefore(start int) string {
	from := max(start, p.i-len(`\U00000000`))
	for from > start && p.cells.at(from-1) == '\\' {
		from--
	}
	return p.cells.text(from, p.i)
}

// fString follows the replacement fields of an f-string. Since Python 3.12 quotes and comments
// inside them are parsed on their own. Before, the first quote of the string's own kind ended
// the string. ambiguous is set if the two readings would differ.
type fString struct {
	quote     string
	enabled   bool
	depth     int
	ambiguous bool
}

// read reads the cell at i and returns how many more cells it read.
func (f *fString) read(cs cells, i int) int {
	c := cs.at(i)
	switch {
	case f.depth == 0 && (c == '{' || c == '}') && cs.at(i+1) == c:
		return 1
	case c == '{':
		f.depth++
	case c == '}':
		f.depth--
	case f.depth == 0:
	case c == '#' && len(f.quote) == 3:
		f.ambiguous = true
	case c == '\'' || c == '"':
		for n := i + 1; n < len(cs); n++ {
			switch {
			case cs.has(n, f.quote) || cs.isPlaceholder(n) || strings.IndexByte("\\{}\n", cs.at(n)) >= 0:
				f.ambiguous = true
				return 0
			case cs.at(n) == c:
				return n - i
			}
		}
	}
	return 0
}

// openEscape matches an escape sequence to which the following characters could belong.
var openEscape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\(x[0-9a-fA-F]?|[0-7]{1,2}|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|N|)$`)
})

// placeInString records a placeholder in a string. before is the text in front of it.
func (p *pythonReader) placeInString(ph *Placeholder, prefix, before string) {
	ph.Place = Place{Form: Inner}
	switch {
	case p.unknownWhy != "":
		p.add(ph, p.unknownWhy, pythonWayOut)
	case strings.ContainsAny(prefix, "ft"):
		p.add(ph, "an f-string evaluates the code in it", `end the string before it: "..." + str({X}); for a Python expression, write {{X}}`)
	case prefix != "" && prefix != "u":
		p.add(ph, "a raw or bytes string cannot contain every value", "end the string before it, and append it with +")
	case openEscape().MatchString(strings.ReplaceAll(before, `\\`, "  ")):
		p.add(ph, "there is an incomplete backslash escape before it", "complete the escape, or write \\\\ for a backslash")
	default:
		p.checkCalls(ph)
	}
}

// placeBare records a placeholder in code.
func (p *pythonReader) placeBare(ph *Placeholder) {
	before, after := p.cells.at(p.i-1), p.cells.at(p.i+1)
	ph.Place = Place{Form: Single, Parenthesize: after == '.'}
	switch {
	case p.unknownWhy != "":
		p.add(ph, p.unknownWhy, pythonWayOut)
	case joinsLiteral(before) || joinsLiteral(after) || p.cells.isPlaceholder(p.i-1) || p.cells.isPlaceholder(p.i+1) || before == '\\' || before == '.':
		p.add(ph, "a value becomes a literal, which cannot be part of a name, a number or another string",
			`put spaces around it, or write str({X})`)
	default:
		p.checkCalls(ph)
	}
}

func joinsLiteral(c byte) bool { return isNameByte(c) || c >= 0x80 || c == '\'' || c == '"' }

// checkCalls refuses a placeholder in the arguments of a function that runs them as Python. It
// warns if a function passes them to a shell.
func (p *pythonReader) checkCalls(ph *Placeholder) {
	for _, name := range p.callees {
		switch strings.TrimPrefix(name, "builtins.") {
		case "eval", "exec", "compile":
			p.add(ph, name+" runs its argument as code", "pass the value as a variable: exec(code, {'v': value})")
			return
		case "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput":
			if ph.MayHoldText {
				p.problems = append(p.problems, Problem{Placeholder: ph, Kind: UsedAsCode, Hint: "use subprocess.run with a list of arguments",
					Message: fmt.Sprintf("%s becomes part of the command that %s passes to a shell", ph.Name, name)})
				return
			}
		}
	}
}
