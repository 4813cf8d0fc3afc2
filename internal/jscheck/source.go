package jscheck

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"github.com/flowrun/flowrun/tool"
)

// Form is what a script is in terms of the language, and with that in what world it runs.
type Form int

// The forms. The world of a Body and of an Expression has the language and nothing else;
// that of a Step and of a Module has console, timers, the modules of Shim and
// means to ask as well.
const (
	Body       Form = iota // statements of a function, which returns
	Expression             // one expression: a transform
	Module                 // a whole CommonJS module: a .tool.js
	Step                   // statements of a js: step, which may return
)

// Wide says whether the world of the form has more than the language.
func Wide(f Form) bool { return f == Module || f == Step }

// Source is a script as it travels to the process that runs it.
type Source struct {
	Form Form   `json:"form"`
	Text string `json:"text"`
	Map  []byte `json:"map,omitempty"`  // of a Module
	File string `json:"file,omitempty"` // of a Module
}

// Digest names the source: what is equal is compiled once.
func (s Source) Digest() string {
	b, _ := json.Marshal(s) // strings and numbers alone
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// ScriptName stands for the author's script in goja's places.
const ScriptName = "script"

// around is what is written around the author's text, on its first line and below its
// last. Everything but a module is read as an async function, so that await always is the
// keyword; see parse.
func (f Form) around() (before, after string) {
	switch f {
	case Expression:
		return "(async function () {_=", "\n})"
	case Module:
		return "(function (exports, require, module) {", "\n})"
	}
	return "(async function () {", "\n})"
}

// MaxScript is how long a script may be that is no Module, in bytes. A longer one is a
// program, and belongs into a .tool.js.
const MaxScript = 64 << 10

// maxNesting is how many brackets may be open at once: goja's parser is recursive, and
// a Go program whose stack is full dies.
const maxNesting = 1000

// labels are more of them in a row than there are loops to leave; goja's parser takes a
// time for them that grows with their number's cube.
var labels = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:[\pL\w$]+\s*:\s*){50}`) })

// Tree is a source that has been parsed.
type Tree struct {
	Source  Source
	program *ast.Program
	body    *ast.FunctionLiteral // around the author's text
}

// Complete is the tree as it is compiled, which happens once.
func (t *Tree) Complete() *ast.Program {
	t.properties()
	return t.program
}

// Parse reads the source. A Module is read by whoever runs it.
func (s Source) Parse() (t *Tree, p *Problem) {
	defer RecoverTo(&p)
	if p := s.bounds(); p != nil {
		return nil, p
	}
	before, after := s.Form.around()
	// A source map named in a comment would be read from the disk.
	program, err := parser.ParseFile(nil, ScriptName, before+s.Text+after, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, s.syntax(err)
	}
	body := function(program)
	if body == nil || int(body.Body.RightBrace) != len(before)+len(s.Text)+len(after)-1 {
		return nil, &Problem{Off: s.firstClose(program), Message: "Unexpected token }"}
	}
	t = &Tree{Source: s, program: program, body: body}
	if s.Form == Expression && !t.returnValue() {
		return nil, &Problem{Message: "this is not a single expression", Off: 0}
	}
	body.Async = s.Form != Module && t.awaits()
	return t, nil
}

// bounds refuses what is too much for the parser.
func (s Source) bounds() *Problem {
	if s.Form != Module && len(s.Text) > MaxScript {
		return &Problem{Off: MaxScript, Message: fmt.Sprintf("the script is longer than %d KiB", MaxScript>>10)}
	}
	if at := labels().FindStringIndex(s.Text); s.Form != Module && at != nil {
		return &Problem{Off: at[0], Message: "there are too many consecutive labels here"}
	}
	open := 0
	for i := range len(s.Text) {
		switch s.Text[i] {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open--
		}
		if open > maxNesting {
			return &Problem{Off: i, Message: fmt.Sprintf("brackets are nested deeper than %d levels here", maxNesting)}
		}
	}
	return nil
}

// function is the one function that the program consists of.
func function(p *ast.Program) *ast.FunctionLiteral {
	if len(p.Body) != 1 {
		return nil
	}
	statement, ok := p.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	f, _ := statement.Expression.(*ast.FunctionLiteral)
	return f
}

// firstClose is where a text leaves the function that stands around it.
func (s Source) firstClose(p *ast.Program) (off int) {
	visit(p, func(n ast.Node) bool {
		f, ok := n.(*ast.FunctionLiteral)
		if ok && f.Function == 2 {
			off = s.offset(f.Body.RightBrace)
		}
		return !ok
	})
	return off
}

// returnValue makes `_=expression` the function's result.
func (t *Tree) returnValue() bool {
	if len(t.body.Body.List) != 1 {
		return false
	}
	statement, ok := t.body.Body.List[0].(*ast.ExpressionStatement)
	if !ok {
		return false
	}
	value := &statement.Expression
	if list, ok := (*value).(*ast.SequenceExpression); ok {
		value = &list.Sequence[0]
	}
	assign, ok := (*value).(*ast.AssignExpression)
	if !ok {
		return false
	}
	*value = assign.Right
	t.body.Body.List[0] = &ast.ReturnStatement{Return: statement.Idx0(), Argument: statement.Expression}
	return true
}

// awaits says whether the script itself, and not a function in it, waits for promises.
func (t *Tree) awaits() (found bool) {
	visit(t.body.Body, func(n ast.Node) bool {
		_, await := n.(*ast.AwaitExpression)
		found = found || await
		return !found && !isFunction(n)
	})
	return found
}

// offset is where in the author's text something is that goja read.
func (s Source) offset(at file.Idx) int {
	before, _ := s.Form.around()
	return min(max(int(at)-1-len(before), 0), len(s.Text))
}

// OffsetOf is where in the author's text a line and column are, as goja counts them:
// columns in bytes, lines by every line terminator of the language.
func (s Source) OffsetOf(line, col int) int {
	before, _ := s.Form.around()
	if line <= 1 {
		return min(max(col-1-len(before), 0), len(s.Text))
	}
	at := 0
	for ; line > 1; line-- {
		at += nextLine(s.Text[at:])
	}
	return min(at+col-1, len(s.Text))
}

// nextLine is how far away the next line begins.
func nextLine(s string) int {
	i := strings.IndexAny(s, "\r\n\u2028\u2029")
	if i < 0 {
		return len(s)
	}
	if strings.HasPrefix(s[i:], "\r\n") {
		return i + 2
	}
	_, n := utf8.DecodeRuneInString(s[i:])
	return i + n
}

// ProblemAt is a problem at an offset of what the compiler read, which is the author's text
// with what is written around it.
func (s Source) ProblemAt(off int, message string) *Problem {
	return &Problem{Off: s.offset(file.Idx(off + 1)), Message: message}
}

// Problem is what keeps a source from being run.
type Problem struct {
	Off     int
	Message string
}

// recovered makes a panic of the parser or compiler a problem. It must be deferred itself.
func RecoverTo(p **Problem) {
	if x := recover(); x != nil {
		*p = &Problem{Message: fmt.Sprint("cannot parse it: ", x)}
	}
}

// syntax is what the parser has against the source.
func (s Source) syntax(err error) *Problem {
	var list parser.ErrorList
	if errors.As(err, &list) && len(list) > 0 { // what follows the first is guesswork
		at := list[0].Position
		off, message := s.OffsetOf(at.Line, at.Column), list[0].Message
		if off >= len(s.Text) { // in what is written around the author's text
			off = len(strings.TrimRight(s.Text, " \t\r\n"))
			if s.Form == Expression || message == "Unexpected token )" {
				message = "Unexpected end of input"
			}
		}
		return &Problem{Off: off, Message: message}
	}
	return &Problem{Message: err.Error()}
}

func (p *Problem) Diagnostic(text tool.Text, f Form) tool.Diagnostic {
	hint := "fix the script at this position; a script is the body of a function, so it can use return and await, but not import and export"
	if f == Expression {
		hint = "write one expression that uses value, such as value.trim()"
	}
	return tool.Diagnostic{Code: "js-syntax", Severity: tool.Error, Pos: text.At(p.Off), Len: 1,
		Message: "JavaScript syntax error: " + p.Message, Hint: hint}
}
