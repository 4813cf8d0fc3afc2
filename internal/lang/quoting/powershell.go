package quoting

import (
	"strings"
)

// PowerShell finds out where the placeholders of a PowerShell script are. It changes '...'
// around a placeholder to "...", because PowerShell expands variables only there.
//
// Every placeholder becomes ${env:...}, which PowerShell never reads a second time. If a place is
// misjudged, the script prints the name of a variable or an empty text; it does not run the
// value. Commands that read text as code (Invoke-Expression) cannot have a placeholder.
func PowerShell(src string, pieces []Piece) ([]Piece, []Problem) {
	p := psReader{cells: cellsOf(pieces), stmt: &psStatement{expectsCommand: true}}
	p.code(0)
	if p.i < len(p.cells) {
		p.markInvalid("a closing bracket has no opening bracket")
		for ; p.i < len(p.cells); p.i++ {
			if ph := p.cells[p.i].placeholder; ph != nil {
				p.place(ph, Inner)
			}
		}
	}
	p.copyTo(len(p.cells))
	p.out.flush()
	for _, ph := range p.placeholders {
		for st := ph.stmt; st != nil; st = st.parent {
			if st.evaluatedBy != "" {
				p.add(ph.placeholder, st.evaluatedBy+" runs text as code", psWayOut)
			}
		}
	}
	return p.out.pieces, append(p.problems, lintInterpreters(src, pieces)...)
}

const psWayOut = `pass it through environment: {variables: {NAME: "{X}"}}, and read $env:NAME in the code`

// psStatement is one statement. A command in it that reads text as code may read any part of the
// statement, which then cannot have a placeholder.
type psStatement struct {
	parent         *psStatement
	evaluatedBy    string // the command that reads text as code; "" if there is none
	inArguments    bool   // what was read so far is a command with arguments
	expectsCommand bool   // a command may begin here
	afterDashes    bool   // after --
}

type psPlaceholder struct {
	placeholder *Placeholder
	stmt        *psStatement
}

type psReader struct {
	refusals
	cells        cells
	i            int
	copied       int // how many cells were copied to the output
	out          pieceWriter
	stmt         *psStatement
	placeholders []psPlaceholder
	lastComment  [2]int // start and end of the last comment
	unknownWhy   string // why the places after this one are unknown; "" if they are known
}

// copyTo copies the cells up to i that were not copied yet.
func (p *psReader) copyTo(i int) {
	for ; p.copied < i; p.copied++ {
		p.out.cell(p.cells[p.copied])
	}
}

// place records where a placeholder is.
func (p *psReader) place(ph *Placeholder, f Form) {
	ph.Place = Place{Form: f}
	p.placeholders = append(p.placeholders, psPlaceholder{ph, p.stmt})
	if p.unknownWhy != "" {
		p.add(ph, p.unknownWhy, psWayOut)
	}
}

// markInvalid records that the script is not valid PowerShell. It reports all placeholders,
// because their places are unknown.
func (p *psReader) markInvalid(why string) {
	p.unknownWhy = why
	for _, ph := range p.placeholders {
		p.add(ph.placeholder, why, psWayOut)
	}
}

// code reads statements up to the bracket that closes them.
func (p *psReader) code(closing byte) {
	outer := p.stmt
	defer func() { p.stmt = outer }()
	p.stmt = &psStatement{parent: outer, expectsCommand: true}
	for p.i < len(p.cells) {
		c := p.cells[p.i]
		if c.placeholder == nil && (c.c == closing && closing != 0) {
			p.i++
			return
		}
		if closing == 0 && (c.c == ')' || c.c == '}') && c.placeholder == nil {
			return
		}
		p.token(c, closing, outer)
	}
	if closing != 0 {
		p.markInvalid("a bracket is not closed")
	}
}

func (p *psReader) token(c cell, closing byte, outer *psStatement) {
	if c.placeholder == nil && isBlank(c.c) && c.c != '\n' {
		p.i++
		return
	}
	if quote, n := p.quote(p.i); n > 0 {
		p.stmt.expectsCommand = false
		p.quotedString(quote, n)
		return
	}
	switch {
	case c.placeholder != nil:
		p.placeBare(c.placeholder)
		p.stmt.expectsCommand = false
		p.i++
	case c.c == ';' || c.c == '\n':
		if c.c == ';' || closing != ')' && !p.continues() {
			p.stmt = &psStatement{parent: outer, expectsCommand: true}
		}
		p.i++
	case c.c == '#' || c.c == '<' && p.cells.at(p.i+1) == '#':
		p.comment()
	case c.c == '`' && isNameByte(p.cells.at(p.i+1)) && !p.cells.isPlaceholder(p.i+1) && p.stmt.expectsCommand:
		p.i++
		p.word()
	case c.c == '`':
		p.i++
		if !p.cells.isPlaceholder(p.i) {
			p.i = min(p.i+1, len(p.cells))
		}
	case c.c == '@':
		p.atSign()
	case c.c == '(' || c.c == '{':
		p.stmt.expectsCommand = false
		p.i++
		p.code(map[byte]byte{'(': ')', '{': '}'}[c.c])
	case c.c == '$' && p.cells.at(p.i+1) == '{' && !p.cells.isPlaceholder(p.i+1):
		p.bracedVariable()
	case c.c == '|' || c.c == '=' || c.c == '&':
		if c.c == '=' && p.stmt.inArguments && !isBlank(p.cells.at(p.i-1)) {
			p.i++ // = is part of an argument
			return
		}
		p.stmt.inArguments, p.stmt.expectsCommand = c.c == '&' && p.cells.at(p.i+1) != '&', c.c != '&' || p.cells.at(p.i+1) == '&' || p.cells.at(p.i-1) == '&'
		p.i++
	case isNameByte(c.c):
		p.word()
	case c.c == '-' && p.cells.has(p.i, "--%") && isBlank(p.cells.at(p.i-1)):
		p.stopParsing()
	default:
		if p.cells.has(p.i, "--") && isBlank(p.cells.at(p.i-1)) && isBlank(p.cells.at(p.i+2)) && !p.cells.isPlaceholder(p.i+2) {
			p.stmt.afterDashes = true
		}
		if p.stmt.expectsCommand {
			p.stmt.expectsCommand, p.stmt.inArguments = false, strings.IndexByte(`./\~`, c.c) >= 0
		}
		p.i++
	}
}

// continues reports whether the statement continues after the newline at p.i.
func (p *psReader) continues() bool {
	line := p.i
	for line > 0 && p.cells.at(line-1) != '\n' {
		line--
	}
	end := p.i
	if p.lastComment[1] == end {
		end = max(p.lastComment[0], line)
	}
	before := strings.TrimRight(p.cells.text(line, end), " \t\r")
	last := before[strings.LastIndexAny(before, " \t")+1:]
	if before == "" || strings.ContainsAny(before[len(before)-1:], "|,+-*/%=&([{.`!") || strings.HasPrefix(last, "-") {
		return true // the statement before an empty line may continue too
	}
	for n := p.i; n < len(p.cells); n++ {
		if c := p.cells.at(n); !isBlank(c) || p.cells.isPlaceholder(n) {
			return c == '|' || c == '#' || c == '<'
		}
	}
	return false
}

// isPSKeyword reports whether a word in lower case is not the name of a command. A command may follow some of them.
func isPSKeyword(word string) bool {
	switch word {
	case "if", "elseif", "else", "while", "for", "foreach", "switch", "do", "until", "in", "try", "catch", "finally", "trap", "function", "filter",
		"param", "begin", "process", "end", "class", "enum", "using", "data", "break", "continue", "return", "throw", "exit":
		return true
	}
	return false
}

// psEvaluates reports whether a command or method, in lower case, reads its arguments as code.
func psEvaluates(word string) bool {
	switch word {
	case "iex", "invoke-expression", "invokescript", "newscriptblock", "expandstring", "add-type", "parseinput":
		return true
	}
	return false
}

// readName reads a name and returns it in lower case. Backticks in it are ignored: i`ex is iex.
func (p *psReader) readName() (word string, next int) {
	next = p.i
	for {
		part := p.cells.word(next)
		word, next = word+part, next+len(part)
		if p.cells.isPlaceholder(next) || p.cells.at(next) != '`' || p.cells.isPlaceholder(next+1) || !isNameByte(p.cells.at(next+1)) {
			return word, next
		}
		next++
	}
}

// afterScriptBlock reports whether [scriptblock]:: comes before p.i, with or without spaces.
func (p *psReader) afterScriptBlock() bool {
	before := strings.ToLower(p.cells.text(max(0, p.i-60), p.i))
	return strings.HasSuffix(strings.Join(strings.Fields(before), ""), "scriptblock]::")
}

func (p *psReader) word() {
	word, next := p.readName()
	switch {
	case psEvaluates(word), word == "create" && p.afterScriptBlock(), word == "function" && p.cells.at(next) == ':':
		p.stmt.evaluatedBy = word
	case p.stmt.expectsCommand && (word == "return" || word == "throw" || word == "exit"):
		p.i = next
		return // a command may follow
	}
	if p.stmt.expectsCommand {
		p.stmt.expectsCommand, p.stmt.inArguments = false, !isPSKeyword(word) && !isDigit(word[0])
	}
	p.i = next
}

// comment reads a comment. If # may be part of a word, the places after it are unknown.
func (p *psReader) comment() {
	if c := p.cells.at(p.i - 1); !isBlank(c) && strings.IndexByte("({;|,&", c) < 0 || p.cells.isPlaceholder(p.i-1) {
		p.unknownWhy = "flowrun cannot determine whether # begins a comment; put a space before it"
	}
	start, end := p.i, "\n"
	if p.cells.at(p.i) == '<' {
		end = "#>"
	}
	for p.i < len(p.cells) && !p.cells.has(p.i, end) {
		if ph := p.cells[p.i].placeholder; ph != nil {
			ph.Place = Place{Form: Comment}
			if p.unknownWhy != "" {
				p.add(ph, p.unknownWhy, psWayOut)
			}
		}
		p.i++
	}
	if end == "#>" {
		p.i = min(p.i+2, len(p.cells))
	}
	p.lastComment = [2]int{start, p.i}
}

// stopParsing reads the text after --%, which PowerShell passes on without expanding it.
func (p *psReader) stopParsing() {
	for ; p.i < len(p.cells) && (p.cells.isPlaceholder(p.i) || p.cells.at(p.i) != '\n'); p.i++ {
		if ph := p.cells[p.i].placeholder; ph != nil {
			p.place(ph, Inner)
			p.add(ph, "PowerShell does not parse the text after --%", psWayOut)
		}
		if p.cells.at(p.i) == '|' {
			p.unknownWhy = "flowrun cannot determine where the quotes after --% end"
		}
	}
}

// bracedVariable reads ${name}.
func (p *psReader) bracedVariable() {
	for ; p.i < len(p.cells) && (p.cells.isPlaceholder(p.i) || p.cells.at(p.i) != '}'); p.i++ {
		if ph := p.cells[p.i].placeholder; ph != nil {
			p.place(ph, Inner)
			p.add(ph, "it would be part of a variable's name", "use a hashtable: $table[{X}]")
		}
		if p.cells.at(p.i) == '`' {
			p.i++
		}
	}
	p.i = min(p.i+1, len(p.cells))
	p.stmt.expectsCommand = false
}

// placeBare records a placeholder outside quotes.
func (p *psReader) placeBare(ph *Placeholder) {
	p.place(ph, Word)
	ph.Place.Argument = p.stmt.inArguments && !p.stmt.afterDashes
	switch {
	case p.afterCallOperator(p.i):
		p.add(ph, "the value would be the name of the command, and some commands run their arguments as code", "write the command itself; to choose between several, use switch ({X}) { ... }")
	case !p.startsExpression() || !p.endsExpression():
		p.add(ph, "the text next to it would become part of an expression", `put the word in double quotes, as in "a{X}b", or put spaces or parentheses around the placeholder`)
	}
}

// afterCallOperator reports whether the operator & or . comes before i.
func (p *psReader) afterCallOperator(i int) bool {
	for i--; i >= 0 && !p.cells.isPlaceholder(i); i-- {
		switch c := p.cells.at(i); {
		case c == '&':
			return p.cells.at(i-1) != '&'
		case c == '.':
			return p.atCommandStart(i)
		case c != '(' && c != '$' && c != '@' && c != '`' && !isBlank(c):
			return false
		}
	}
	return false
}

// atCommandStart reports whether a command may begin at i.
func (p *psReader) atCommandStart(i int) bool {
	for i > 0 && !p.cells.isPlaceholder(i-1) && (p.cells.at(i-1) == ' ' || p.cells.at(i-1) == '\t') {
		i--
	}
	if p.cells.isPlaceholder(i - 1) {
		return false
	}
	if c := p.cells.at(i - 1); c == '\n' || strings.IndexByte("({;|&=)", c) >= 0 {
		return true
	}
	end := i
	for i > 0 && isLetter(p.cells.at(i-1)) {
		i--
	}
	return isPSKeyword(strings.ToLower(p.cells.text(i, end)))
}

// startsExpression reports whether an expression may begin at p.i.
func (p *psReader) startsExpression() bool {
	c := p.cells.at(p.i - 1)
	switch {
	case p.cells.isPlaceholder(p.i - 1):
		return false
	case isBlank(c) || strings.IndexByte("(,;|{!]", c) >= 0:
		return true
	case c != '=' && c != ':':
		return false
	}
	start := p.i - 1
	for start > 0 && !isBlank(p.cells.at(start-1)) && strings.IndexByte("(,;|{", p.cells.at(start-1)) < 0 && !p.cells.isPlaceholder(start-1) {
		start--
	}
	word := p.cells.text(start, p.i-1)
	if c == ':' {
		return len(word) > 1 && word[0] == '-' && isName(word[1:]) // as in -Switch:{X}
	}
	return strings.HasPrefix(word, "$")
}

func (p *psReader) endsExpression() bool {
	c := p.cells.at(p.i + 1)
	return !p.cells.isPlaceholder(p.i+1) && (isBlank(c) || strings.IndexByte("),;|}", c) >= 0)
}

// atSign reads @, which may begin a here-string.
func (p *psReader) atSign() {
	p.stmt.expectsCommand = false
	quote, n := p.quote(p.i + 1)
	if n == 0 {
		p.i++
		return
	}
	line := p.i + 1 + n
	for c := p.cells.at(line); line < len(p.cells) && isBlank(c) && c != '\n'; c = p.cells.at(line) {
		line++
	}
	before := p.cells.at(p.i - 1)
	if p.cells.at(line) != '\n' || isNameByte(before) || p.cells.isPlaceholder(line) {
		p.unknownWhy = "flowrun cannot determine whether @ before a quote begins a here-string"
		p.i++
		return
	}
	p.hereString(quote, n, line)
}

// hereString reads a here-string. The newline of its header is at line.
func (p *psReader) hereString(quote byte, n, line int) {
	start, end := p.i, line
	for ; end < len(p.cells); end++ {
		if q, m := p.quote(end + 1); p.cells.at(end) == '\n' && !p.cells.isPlaceholder(end) && q == quote && m > 0 && p.cells.at(end+1+m) == '@' {
			if quote == '\'' {
				p.requote(start+1, n, line, end, end+1+m)
				p.i = end + 2 + m
				return
			}
			p.i = line
			p.expandableString(func(i int) int {
				if i == end {
					return m + 2
				}
				return 0
			})
			return
		}
	}
	p.markInvalid("a here-string is not closed")
	p.i = line
}

// quotedString reads a string, starting at its opening quote of n bytes.
func (p *psReader) quotedString(quote byte, n int) {
	if quote == '"' {
		p.i += n
		p.expandableString(func(i int) int {
			_, n := p.quoteOf('"', i)
			if _, twice := p.quoteOf('"', i+n); twice > 0 {
				return 0
			}
			return n
		})
		return
	}
	start, end := p.i+n, p.i+n
	for end < len(p.cells) {
		if _, m := p.quoteOf('\'', end); m > 0 {
			if _, twice := p.quoteOf('\'', end+m); twice == 0 {
				p.evaluatesName(p.cells.text(start, end))
				p.requote(p.i, n, start, end, end+m)
				p.i = end + m
				return
			} else {
				end += m + twice
				continue
			}
		}
		end++
	}
	p.markInvalid("a string is not closed")
	p.i = start
}

// evaluatesName records a command that reads text as code and is called by a quoted name.
func (p *psReader) evaluatesName(s string) {
	if name := strings.ToLower(s); psEvaluates(name) {
		p.stmt.evaluatedBy = name
	}
}

// requote changes the quotes at open (n bytes long) and around body..end to double quotes if a
// placeholder is between them. Characters with a meaning only inside double quotes get a
// backtick.
func (p *psReader) requote(open, n, body, end, after int) {
	here := p.cells.at(open-1) == '@' && p.cells.at(end) == '\n'
	held := false
	for i := body; i < end; i++ {
		if ph := p.cells[i].placeholder; ph != nil {
			held = true
			p.place(ph, Inner)
			ph.Place.Requoted = true
			p.checkFirst(ph, open, i == body)
		}
	}
	if !held {
		return
	}
	p.copyTo(open)
	p.out.text(`"`)
	for i := open + n; i < end; i++ {
		_, double := p.quoteOf('"', i)
		single, m := p.quoteOf('\'', i)
		switch {
		case double > 0 || p.cells.at(i) == '`' || p.cells.at(i) == '$':
			p.out.text("`")
		case single != 0 && m > 0 && !here:
			p.out.text(p.cells.text(i, i+m))
			_, twice := p.quoteOf('\'', i+m)
			i += m + twice - 1
			continue
		}
		p.out.cell(p.cells[i])
	}
	if here {
		p.out.text("\n")
	}
	p.out.text(`"`)
	p.copied = after
}

// expandableString reads an expandable string. end returns the length of the closing quote at an
// offset, 0 if there is none.
func (p *psReader) expandableString(end func(int) int) {
	body := p.i
	for p.i < len(p.cells) {
		if n := end(p.i); n > 0 {
			p.evaluatesName(p.cells.text(body, p.i))
			p.i += n
			return
		}
		c := p.cells[p.i]
		_, quote := p.quoteOf('"', p.i)
		switch {
		case c.placeholder != nil:
			p.place(c.placeholder, Inner)
			p.checkFirst(c.placeholder, body-1, p.i == body)
			p.i++
		case c.c == '`':
			p.i++
			if ph := p.placeholderAt(p.i); ph != nil {
				p.place(ph, Inner)
				p.add(ph, "there is a backtick before it", "remove the backtick; to keep the braces as text, write {{...}}")
			}
			p.i = min(p.i+1, len(p.cells))
		case c.c == '$' && p.cells.at(p.i+1) == '(':
			p.i += 2
			p.code(')')
		case c.c == '$' && p.cells.at(p.i+1) == '{':
			p.bracedVariable()
		case quote > 0:
			p.i += quote
			if _, twice := p.quoteOf('"', p.i); twice > 0 {
				p.i += twice
			}
		default:
			p.i++
		}
	}
	p.markInvalid("a string is not closed")
}

func (p *psReader) placeholderAt(i int) *Placeholder {
	if p.cells.isPlaceholder(i) {
		return p.cells[i].placeholder
	}
	return nil
}

// checkFirst checks a placeholder at the start of a quoted word, which may be the name of the
// command or an option.
func (p *psReader) checkFirst(ph *Placeholder, open int, first bool) {
	if !first {
		return
	}
	ph.Place.Argument = p.stmt.inArguments && !p.stmt.afterDashes
	if p.afterCallOperator(open) {
		p.add(ph, "the value would be the name of the command, and some commands run their arguments as code", "write the command itself, or the beginning of its path")
	}
}

// quote returns the kind of the quote at i, ' or ", and its length in bytes. PowerShell accepts
// typographic quotes as quotes.
func (p *psReader) quote(i int) (kind byte, n int) {
	for _, q := range psQuotes {
		if p.cells.has(i, q.text) && !p.cells.isPlaceholder(i) {
			return q.kind, len(q.text)
		}
	}
	return 0, 0
}

// quoteOf is quote for one kind only.
func (p *psReader) quoteOf(kind byte, i int) (byte, int) {
	if k, n := p.quote(i); k == kind {
		return k, n
	}
	return 0, 0
}

var psQuotes = []struct {
	text string
	kind byte
}{{"'", '\''}, {`"`, '"'}, {"\u2018", '\''}, {"\u2019", '\''}, {"\u201a", '\''}, {"\u201b", '\''}, {"\u201c", '"'}, {"\u201d", '"'}, {"\u201e", '"'}}
