package expr

import "strings"

// placeCmd finds out where the holes of a batch script sit.
//
// cmd reads a line in phases: %VAR% first, then quotes and operators, FOR variables,
// and last, when what runs and with which operators is settled, !VAR!. What the last
// phase puts in is not read again, so every hole becomes !VAR!, whatever is in the
// value. Left are the places where cmd starts over with what came out (CALL, pipes,
// FOR /F, another cmd): these take no hole. And since programs split their arguments
// themselves, a value must not end the quotes it stands in: see cmd_value.go.
//
// While !VAR! is on, a ! of the author and a ^ beside it would be eaten, so both
// are written as variables too; where the author turned it on, ! is the author's.
func placeCmd(src string, pieces []piece) ([]piece, []Problem) {
	lower := strings.ToLower(src)
	c := cmdReader{cells: cellsOf(pieces), refusals: refusals{src: src}, lower: lower,
		off: strings.Contains(lower, "disabledelayedexpansion"), own: strings.Contains(lower, "enabledelayedexpansion")}
	for c.i < len(c.cells) {
		c.statement()
	}
	c.out.flush()
	return c.out.pieces, c.problems
}

const cmdWayOut = `pass it by environment: {variables: {NAME: "{X}"}}, and read it as !NAME! after setlocal EnableDelayedExpansion`

type cmdReader struct {
	refusals
	cells cells
	lower string // the script in lower case
	i     int
	out   pieceWriter
	off   bool // the author turns !VAR! off somewhere
	own   bool // the author uses !VAR!

	holes  []*hole // of the statement
	again  string  // not "": what in the statement is read again
	sums   bool    // set /a
	depth  int     // parentheses, with those that may be text
	blocks int     // parentheses that stand where a block begins
	loop   bool    // between FOR and DO
	within int     // depth at that FOR

	quoted bool
	touch  bool // the line holds a hole or a !
	bangs  int  // ! on the line

	begun bool   // the command's name is read
	wide  bool   // or it comes later: after IF or a redirection
	maybe bool   // or later: after a variable that may be empty, or CALL
	prev  string // the word before
	named int    // where the first word ended
	set   int    // where what SET sets begins; 0 in other commands
}

// statement reads up to a newline outside parentheses.
func (c *cmdReader) statement() {
	c.holes, c.again, c.sums, c.depth, c.blocks, c.loop = nil, "", false, 0, 0, false
	for c.i < len(c.cells) {
		c.line()
		if c.depth == 0 {
			break
		}
	}
	for _, h := range c.holes {
		switch {
		case c.off:
			c.add(h, "the script turns delayed expansion off, by which values enter it", "leave DisableDelayedExpansion away")
		case c.again != "":
			c.add(h, c.again+" makes cmd read the line again, with the value in it as code", cmdWayOut)
		}
		if c.sums {
			h.sits.guard = guardNumber
		}
	}
}

// command begins a new command of the line.
func (c *cmdReader) command() { c.begun, c.wide, c.maybe, c.prev, c.set = false, false, false, "", 0 }

// line reads one line, with those that ^ joins to it.
func (c *cmdReader) line() {
	c.quoted, c.bangs = false, 0
	c.touch = c.touched()
	c.command()
	if c.comment() {
		return
	}
	for c.i < len(c.cells) {
		if c.cells.at(c.i) == '\n' && !c.cells.isHole(c.i) {
			c.copy(1)
			return
		}
		c.token()
	}
}

// touched reports whether the line holds a hole or a !.
func (c *cmdReader) touched() bool {
	for i := c.i; i < len(c.cells) && (c.cells.isHole(i) || c.cells.at(i) != '\n' || c.cells.at(i-1) == '^'); i++ {
		if c.cells.isHole(i) || c.cells.at(i) == '!' {
			return true
		}
	}
	return false
}

// comment copies a line that is a label or REM. Its holes stay as written.
func (c *cmdReader) comment() bool {
	i := c.i
	for b := c.cells.at(i); i < len(c.cells) && !c.cells.isHole(i) && (b == ' ' || b == '\t' || b == '@'); b = c.cells.at(i) {
		i++
	}
	word := ""
	if i < len(c.cells) && !c.cells.isHole(i) {
		word = c.cells.word(i)
	}
	if c.cells.at(i) != ':' && word != "rem" {
		return false
	}
	for ; c.i < len(c.cells) && (c.cells.isHole(c.i) || c.cells.at(c.i) != '\n'); c.i++ {
		if h := c.cells[c.i].hole; h != nil {
			h.sits = position{form: formComment, written: c.written(h)}
		}
		c.out.cell(c.cells[c.i])
	}
	if c.i < len(c.cells) {
		c.copy(1)
	}
	return true
}

// copy writes n cells as they are.
func (c *cmdReader) copy(n int) {
	for ; n > 0 && c.i < len(c.cells); n-- {
		c.out.cell(c.cells[c.i])
		c.i++
	}
}

func (c *cmdReader) token() {
	b := c.cells.at(c.i)
	switch {
	case c.cells.isHole(c.i):
		c.hole(c.cells[c.i].hole)
		c.copy(1)
	case b == '%':
		c.percent()
	case b == '!':
		c.bangs++
		c.variable(c.own)
		c.instead(1, cmdBang, !c.own)
	case b == '"':
		c.quoted = !c.quoted
		c.name(false)
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

// Variables for what the last phase would eat.
const (
	cmdBang  = "!__FLOWRUN_BANG!"
	cmdCaret = "!__FLOWRUN_CARET!"
)

// instead writes a variable for n cells, or the cells where that is not wanted.
func (c *cmdReader) instead(n int, variable string, want bool) {
	if !want {
		c.copy(n)
		return
	}
	c.out.text(variable)
	c.i += n
}

// caret reads ^, which outside quotes escapes what follows.
func (c *cmdReader) caret() {
	switch next := c.cells.at(c.i + 1); {
	case c.quoted:
		c.instead(1, cmdCaret, c.touch && !c.own)
	case c.cells.isHole(c.i + 1):
		c.add(c.cells[c.i+1].hole, "a caret stands before it", "remove the caret; for braces meant as text write {{...}}")
		c.copy(1)
	case next == '^':
		c.instead(2, cmdCaret, c.touch && !c.own)
	case next == '!' || next == '%':
		c.copy(1)
	case next == '\n':
		c.copy(2)
	default:
		if !c.begun || c.wide || c.maybe || c.named == c.i {
			c.again = "a caret in a command's name"
		}
		c.name(false)
		c.copy(2)
	}
}

// name notes that the command's name begins here, if it has not. wide: it may as
// well come later.
func (c *cmdReader) name(wide bool) {
	c.wide = c.wide || wide && !c.begun
	c.begun = true
}

// variable notes a variable of the author's, if it is one, where a name may begin.
func (c *cmdReader) variable(is bool) {
	c.maybe = c.maybe || is && !c.begun
	c.name(false)
}

// percent reads %VAR%, %1, %~dp0 or %%.
func (c *cmdReader) percent() {
	c.variable(true)
	next := c.cells.at(c.i + 1)
	if next == '%' || next == '*' || next == '~' || isDigit(next) {
		if !c.cells.isHole(c.i + 1) {
			c.copy(2)
			return
		}
	}
	end := c.i + 1
	for end < len(c.cells) && (c.cells.isHole(end) || c.cells.at(end) != '%' && c.cells.at(end) != '\n') {
		end++
	}
	if c.cells.at(end) != '%' {
		c.copy(1)
		return
	}
	name := strings.ToLower(c.cells.text(c.i+1, end))
	if strings.HasPrefix(name, "comspec") {
		c.again = "%COMSPEC%"
	}
	for i := c.i; i < end; i++ {
		if h := c.cells[i].hole; h != nil {
			h.sits = position{form: formInner}
			c.add(h, "the % before it and the % after it make one variable of what is between", "write %% for a percent sign")
		}
	}
	c.copy(end + 1 - c.i)
}

// cmdAgain are commands that have their arguments read again.
var cmdAgain = setOf("call cmd start forfiles goto")

// word reads a word outside quotes.
func (c *cmdReader) word() {
	word := c.cells.word(c.i)
	command := !c.begun || c.wide || c.maybe
	next := c.i + len(word)
	switch {
	case command && cmdAgain[word], word == "cmd" && (c.cells.at(c.i-1) == '\\' || c.cells.has(next, ".exe") || c.cells.has(next, " /")):
		c.again = strings.ToUpper(word)
	case command && word == "for":
		c.loop, c.within = true, c.depth
	case c.loop && word == "do" && c.depth == c.within, !c.begun && word == "else":
		c.loop = false
		c.copy(len(word))
		c.command()
		return
	case command && word == "set":
		c.set = next
	case word == "a" && c.prev == "set" && c.cells.at(c.i-1) == '/':
		c.sums = true
	}
	if !c.begun {
		c.named = next
	}
	c.name(word == "if" || strings.Trim(word, "0123456789") == "") // 2>nul comes before a name
	c.prev = word
	c.copy(len(word))
}

func (c *cmdReader) operator(b byte) {
	switch b {
	case '|':
		if c.cells.at(c.i+1) != '|' {
			c.again = "a pipe"
		} else {
			c.copy(1)
		}
		c.command()
	case '&':
		c.command()
	case '(':
		c.depth++
		if !c.begun || c.wide || c.loop {
			c.blocks++
			c.command()
		}
	case ')':
		c.depth = max(c.depth-1, 0)
		if c.blocks > 0 {
			c.blocks--
			c.command()
		}
	case '<', '>':
		c.name(true)
	case ' ', '\t', '\r', '@', ',', ';', '=':
	default:
		c.name(false)
	}
	c.copy(1)
}

// hole notes where a hole sits.
func (c *cmdReader) hole(h *hole) {
	before, after := c.cells.at(c.i-1), c.cells.at(c.i+1)
	f := formWord
	if c.quoted {
		f = formInner
	}
	starts := isBlank(before) || before == '"' && isBlank(c.cells.at(c.i-2))
	starts = starts && !c.cells.isHole(c.i-1)
	beside := c.cells.isHole(c.i-1) || c.cells.isHole(c.i+1) || before == '"' || after == '"'
	h.sits = position{form: f, argument: starts && c.begun && !c.wide, slashes: true,
		closes: c.quoted && (after == '"' || c.cells.isHole(c.i+1))}
	c.holes = append(c.holes, h)
	switch {
	case c.set > 0 && !c.sums && c.readAgain():
		c.add(h, "SET keeps it in a variable, and what %...% puts into a line is read as code", "setlocal EnableDelayedExpansion, and read the variable as !NAME! wherever it is used")
	case c.loop:
		c.add(h, "FOR expands and runs what stands before DO", cmdWayOut)
	case c.own && c.bangs%2 == 1:
		c.add(h, "the ! before it and the ! after it make one variable of what is between", "write the reference outside of !...!")
	case !c.quoted && (!c.begun || c.maybe && c.prev == ""):
		c.add(h, "the value would choose the command, and CALL and others have their arguments read again", "write the command itself")
	case !c.quoted && beside:
		c.add(h, "where it needs quotes they would meet those beside it", "put it inside the quotes, or put quotes around both")
	case !c.quoted && c.wide && h.mayVary():
		c.add(h, "it may be a part of IF's condition, or choose the command", `put it in quotes, in a condition both sides: if "{X}"=="..."`)
	}
}

// readAgain reports whether the script reads with %...% the variable that a SET
// before c.i is about to set, or may.
func (c *cmdReader) readAgain() bool {
	name, _, ok := strings.Cut(strings.ToLower(c.cells.text(c.set, c.i)), "=")
	name = strings.TrimLeft(name, " \t\"")
	if strings.HasPrefix(name, "/p") {
		name = strings.TrimLeft(name[2:], " \t\"")
	}
	return !ok || name == "" || strings.ContainsAny(name, "^%!/") || strings.Contains(c.lower, "%"+name+"%") || strings.Contains(c.lower, "%"+name+":")
}
