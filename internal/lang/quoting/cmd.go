package quoting

import "strings"

// Cmd finds out where the placeholders of a batch script are, and returns the script with
// what has to be written differently around them.
//
// cmd reads a line in phases: first it expands %VAR%, then it reads quotes and operators, then
// it expands FOR variables. The last phase expands !VAR!, when it is settled which programs run
// and with which operators. cmd does not read again what the last phase inserts. Therefore
// every placeholder becomes !VAR!, and its value can be any text.
//
// Two dangers are left. In some places cmd starts again with the expanded text (CALL, pipes,
// FOR /F, another cmd): a placeholder is not allowed there. And programs on Windows split their
// arguments themselves, so a value must not end the quotes around it (see cmd_value.go).
//
// While delayed expansion is on, cmd removes a ! of the author and a ^ beside it. Both are
// therefore written as variables. If the author turned delayed expansion on, ! is left alone.
func Cmd(src string, pieces []Piece) ([]Piece, []Problem) {
	lower := strings.ToLower(src)
	c := cmdReader{cells: cellsOf(pieces), lower: lower,
		expansionOff: strings.Contains(lower, "disabledelayedexpansion"), ownExpansion: strings.Contains(lower, "enabledelayedexpansion")}
	for c.i < len(c.cells) {
		c.statement()
	}
	c.out.flush()
	return c.out.pieces, append(c.problems, lintInterpreters(src, pieces)...)
}

const cmdWayOut = `pass it through environment: {variables: {NAME: "{X}"}}, and read it as !NAME! after setlocal EnableDelayedExpansion`

type cmdReader struct {
	refusals
	cells        cells
	lower        string // the script in lower case
	i            int
	out          pieceWriter
	expansionOff bool // the author turns delayed expansion off somewhere
	ownExpansion bool // the author uses delayed expansion

	placeholders []*Placeholder // of the statement
	rereadBy     string         // why cmd reads the statement again; "" if it does not
	arithmetic   bool           // the statement is set /a
	depth        int            // open parentheses, including those that may be text
	blocks       int            // open parentheses that begin a block
	inForHeader  bool           // between FOR and DO
	forDepth     int            // depth at that FOR

	quoted  bool
	expands bool // the line has a placeholder or a !
	bangs   int  // number of ! so far on the line

	nameRead       bool   // the name of the command was read
	nameMayFollow  bool   // the name may still follow, after IF or a redirection
	nameMayBeEmpty bool   // the name may still follow, after CALL or a variable that may be empty
	prevWord       string // the word before
	nameEnd        int    // where the first word ends
	setStart       int    // where the assignment of SET begins; 0 in other commands
}

// statement reads up to a newline outside parentheses.
func (c *cmdReader) statement() {
	c.placeholders, c.rereadBy, c.arithmetic, c.depth, c.blocks, c.inForHeader = nil, "", false, 0, 0, false
	for c.i < len(c.cells) {
		c.line()
		if c.depth == 0 {
			break
		}
	}
	for _, ph := range c.placeholders {
		switch {
		case c.expansionOff:
			c.add(ph, "the script turns off delayed expansion, which flowrun uses to pass values", "remove DisableDelayedExpansion")
		case c.rereadBy != "":
			c.add(ph, c.rereadBy+" makes cmd parse the line again, so the value would be read as code", cmdWayOut)
		}
		if c.arithmetic {
			ph.Place.Guard = GuardNumber
		}
	}
}

// startCommand resets what is known about the command, for the next one on the line.
func (c *cmdReader) startCommand() {
	c.nameRead, c.nameMayFollow, c.nameMayBeEmpty, c.prevWord, c.setStart = false, false, false, "", 0
}

// line reads one line, including the lines that ^ joins to it.
func (c *cmdReader) line() {
	c.quoted, c.bangs = false, 0
	c.expands = c.lineExpands()
	c.startCommand()
	if c.comment() {
		return
	}
	for c.i < len(c.cells) {
		if c.cells.at(c.i) == '\n' && !c.cells.isPlaceholder(c.i) {
			c.copy(1)
			return
		}
		c.token()
	}
}

// lineExpands reports whether the line has a placeholder or a !.
func (c *cmdReader) lineExpands() bool {
	for i := c.i; i < len(c.cells) && (c.cells.isPlaceholder(i) || c.cells.at(i) != '\n' || c.cells.at(i-1) == '^'); i++ {
		if c.cells.isPlaceholder(i) || c.cells.at(i) == '!' {
			return true
		}
	}
	return false
}

// comment copies a line that is a label or REM and reports whether it was one. Placeholders in it
// stay as they are written.
func (c *cmdReader) comment() bool {
	i := c.i
	for b := c.cells.at(i); i < len(c.cells) && !c.cells.isPlaceholder(i) && (b == ' ' || b == '\t' || b == '@'); b = c.cells.at(i) {
		i++
	}
	word := ""
	if i < len(c.cells) && !c.cells.isPlaceholder(i) {
		word = c.cells.word(i)
	}
	if c.cells.at(i) != ':' && word != "rem" {
		return false
	}
	for ; c.i < len(c.cells) && (c.cells.isPlaceholder(c.i) || c.cells.at(c.i) != '\n'); c.i++ {
		if ph := c.cells[c.i].placeholder; ph != nil {
			ph.Place = Place{Form: Comment}
		}
		c.out.cell(c.cells[c.i])
	}
	if c.i < len(c.cells) {
		c.copy(1)
	}
	return true
}

// copy copies n cells to the output.
func (c *cmdReader) copy(n int) {
	for ; n > 0 && c.i < len(c.cells); n-- {
		c.out.cell(c.cells[c.i])
		c.i++
	}
}

func (c *cmdReader) token() {
	b := c.cells.at(c.i)
	switch {
	case c.cells.isPlaceholder(c.i):
		c.placeholder(c.cells[c.i].placeholder)
		c.copy(1)
	case b == '%':
		c.percent()
	case b == '!':
		c.bangs++
		c.noteVariable(c.ownExpansion)
		c.writeVariable(1, CmdBang, !c.ownExpansion)
	case b == '"':
		c.quoted = !c.quoted
		c.noteName(false)
		c.copy(1)
	case b == '^':
		c.caret()
	case c.quoted:
		c.copy(1)
	case isNameByte(b):
		c.word()
	default:
		c.operator(b)
	}
}

// CmdBang and CmdCaret are variables that stand for the characters that delayed expansion would remove.
const (
	CmdBang  = "!__FLOWRUN_BANG!"
	CmdCaret = "!__FLOWRUN_CARET!"
)

// writeVariable writes the variable in place of n cells if want is set, otherwise it copies them.
func (c *cmdReader) writeVariable(n int, variable string, want bool) {
	if !want {
		c.copy(n)
		return
	}
	c.out.text(variable)
	c.i += n
}

// caret reads ^, which escapes the next character outside quotes.
func (c *cmdReader) caret() {
	switch next := c.cells.at(c.i + 1); {
	case c.quoted:
		c.writeVariable(1, CmdCaret, c.expands && !c.ownExpansion)
	case c.cells.isPlaceholder(c.i + 1):
		c.add(c.cells[c.i+1].placeholder, "there is a caret before it", "remove the caret; to keep the braces as text, write {{...}}")
		c.copy(1)
	case next == '^':
		c.writeVariable(2, CmdCaret, c.expands && !c.ownExpansion)
	case next == '!' || next == '%':
		c.copy(1)
	case next == '\n':
		c.copy(2)
	default:
		if !c.nameRead || c.nameMayFollow || c.nameMayBeEmpty || c.nameEnd == c.i {
			c.rereadBy = "a caret in a command's name"
		}
		c.noteName(false)
		c.copy(2)
	}
}

// noteName records that the name of the command begins here, unless it began before. wide
// reports that the name may also follow later.
func (c *cmdReader) noteName(wide bool) {
	c.nameMayFollow = c.nameMayFollow || wide && !c.nameRead
	c.nameRead = true
}

// noteVariable records that the name of the command may begin here. is reports whether this is a
// variable of the author, which may be empty.
func (c *cmdReader) noteVariable(is bool) {
	c.nameMayBeEmpty = c.nameMayBeEmpty || is && !c.nameRead
	c.noteName(false)
}

// percent reads %VAR%, %1, %~dp0 or %%.
func (c *cmdReader) percent() {
	c.noteVariable(true)
	next := c.cells.at(c.i + 1)
	if next == '%' || next == '*' || next == '~' || isDigit(next) {
		if !c.cells.isPlaceholder(c.i + 1) {
			c.copy(2)
			return
		}
	}
	end := c.i + 1
	for end < len(c.cells) && (c.cells.isPlaceholder(end) || c.cells.at(end) != '%' && c.cells.at(end) != '\n') {
		end++
	}
	if c.cells.at(end) != '%' {
		c.copy(1)
		return
	}
	name := strings.ToLower(c.cells.text(c.i+1, end))
	if strings.HasPrefix(name, "comspec") {
		c.rereadBy = "%COMSPEC%"
	}
	for i := c.i; i < end; i++ {
		if ph := c.cells[i].placeholder; ph != nil {
			ph.Place = Place{Form: Inner}
			c.add(ph, "it is between two %, so cmd would read it as a variable name", "write %% for a percent sign")
		}
	}
	c.copy(end + 1 - c.i)
}

// cmdRereads reports whether cmd reads the arguments of a command again.
func cmdRereads(command string) bool {
	switch command {
	case "call", "cmd", "start", "forfiles", "goto":
		return true
	}
	return false
}

// word reads a word outside quotes.
func (c *cmdReader) word() {
	word := c.cells.word(c.i)
	command := !c.nameRead || c.nameMayFollow || c.nameMayBeEmpty
	next := c.i + len(word)
	switch {
	case command && cmdRereads(word), word == "cmd" && (c.cells.at(c.i-1) == '\\' || c.cells.has(next, ".exe") || c.cells.has(next, " /")):
		c.rereadBy = strings.ToUpper(word)
	case command && word == "for":
		c.inForHeader, c.forDepth = true, c.depth
	case c.inForHeader && word == "do" && c.depth == c.forDepth, !c.nameRead && word == "else":
		c.inForHeader = false
		c.copy(len(word))
		c.startCommand()
		return
	case command && word == "set":
		c.setStart = next
	case word == "a" && c.prevWord == "set" && c.cells.at(c.i-1) == '/':
		c.arithmetic = true
	}
	if !c.nameRead {
		c.nameEnd = next
	}
	c.noteName(word == "if" || strings.Trim(word, "0123456789") == "") // the 2 of 2>nul comes before the name
	c.prevWord = word
	c.copy(len(word))
}

func (c *cmdReader) operator(b byte) {
	switch b {
	case '|':
		if c.cells.at(c.i+1) != '|' {
			c.rereadBy = "a pipe"
		} else {
			c.copy(1)
		}
		c.startCommand()
	case '&':
		c.startCommand()
	case '(':
		c.depth++
		if !c.nameRead || c.nameMayFollow || c.inForHeader {
			c.blocks++
			c.startCommand()
		}
	case ')':
		c.depth = max(c.depth-1, 0)
		if c.blocks > 0 {
			c.blocks--
			c.startCommand()
		}
	case '<', '>':
		c.noteName(true)
	case ' ', '\t', '\r', '@', ',', ';', '=':
	default:
		c.noteName(false)
	}
	c.copy(1)
}

// placeholder finds out where a placeholder is, and reports it if it cannot take a value there.
func (c *cmdReader) placeholder(ph *Placeholder) {
	before, after := c.cells.at(c.i-1), c.cells.at(c.i+1)
	f := Word
	if c.quoted {
		f = Inner
	}
	starts := isBlank(before) || before == '"' && isBlank(c.cells.at(c.i-2))
	starts = starts && !c.cells.isPlaceholder(c.i-1)
	beside := c.cells.isPlaceholder(c.i-1) || c.cells.isPlaceholder(c.i+1) || before == '"' || after == '"'
	ph.Place = Place{Form: f, Argument: starts && c.nameRead && !c.nameMayFollow, SlashOptions: true,
		BeforeQuote: c.quoted && (after == '"' || c.cells.isPlaceholder(c.i+1))}
	c.placeholders = append(c.placeholders, ph)
	switch {
	case c.setStart > 0 && !c.arithmetic && c.expandedLater():
		c.add(ph, "SET stores it in a variable, and cmd reads the value of %...% as code", "write setlocal EnableDelayedExpansion, and use !NAME! everywhere to read the variable")
	case c.inForHeader:
		c.add(ph, "FOR expands and runs the text before DO", cmdWayOut)
	case c.ownExpansion && c.bangs%2 == 1:
		c.add(ph, "it is between two !, so cmd would read it as a variable name", "move the placeholder outside of !...!")
	case !c.quoted && (!c.nameRead || c.nameMayBeEmpty && c.prevWord == ""):
		c.add(ph, "the value would be the name of the command, and commands such as CALL parse their arguments again", "write the command itself")
	case !c.quoted && beside:
		c.add(ph, "flowrun may have to quote it, and these quotes would collide with those next to it", "put it inside the quotes, or quote both together")
	case !c.quoted && c.nameMayFollow && ph.MayHoldText:
		c.add(ph, "it could be part of the condition of IF, or the name of the command", `put it in quotes; in a condition, quote both sides: if "{X}"=="..."`)
	}
}

// expandedLater reports whether the script reads the variable that the SET before c.i assigns
// with %...%. It also reports true if the name of the variable is not certain.
func (c *cmdReader) expandedLater() bool {
	name, _, ok := strings.Cut(strings.ToLower(c.cells.text(c.setStart, c.i)), "=")
	name = strings.TrimLeft(name, " \t\"")
	if strings.HasPrefix(name, "/p") {
		name = strings.TrimLeft(name[2:], " \t\"")
	}
	return !ok || name == "" || strings.ContainsAny(name, "^%!/") || strings.Contains(c.lower, "%"+name+"%") || strings.Contains(c.lower, "%"+name+":")
}
