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

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Form is the part of a program that a script is in terms of the language. It also decides which
// world the script runs in.
type Form int

// The forms. The world of an Expression has only the language. The world of the others also has
// console, timers, the built-in modules of jsworld.Shim, and host calls.
const (
	Body       Form = iota // statements of a function, which returns: a script of a Markdown tool
	Expression             // one expression: a transform
	Module                 // a whole CommonJS module: a .tool.js
	Step                   // statements of a js: step, which may return
)

// HasHostAPI reports whether the world of the form has more than the language.
func HasHostAPI(f Form) bool { return f != Expression }

// CanRequire reports whether scripts of the form can load built-in modules.
func CanRequire(f Form) bool { return f == Step || f == Module }

// Source is a script in the form in which it is sent to the process that runs it.
type Source struct {
	Form Form   `json:"form"`
	Text string `json:"text"`
	Map  []byte `json:"map,omitempty"`  // source map; only of a Module
	File string `json:"file,omitempty"` // only of a Module
}

// Digest returns a hash of the source. Equal sources have equal digests, so they are compiled
// once.
func (s Source) Digest() string {
	b, _ := json.Marshal(s) // cannot fail: only strings and numbers
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// ScriptName is the file name of the author's script in goja's positions.
const ScriptName = "script"

// opening returns the code that is put before the author's text, on the same first line. Everything
// except a module is parsed as an async function, so that await is always a keyword; see Parse.
func (f Form) opening() string {
	switch f {
	case Expression:
		return "(async function () {_="
	case Module:
		return "(function (exports, require, module) {"
	}
	return "(async function () {"
}

// closing is put after the last line of the author's text.
const closing = "\n})"

// MaxScript is the maximum length in bytes of a script that is not a Module. Longer code belongs
// in a .tool.js.
const MaxScript = 64 << 10

// maxNesting limits how many brackets may be open at once: goja's parser is recursive, and a Go
// program whose stack overflows cannot recover.
const maxNesting = 1000

// consecutiveLabels matches 50 consecutive labels, more than there are loops to leave. The time
// that goja's parser takes for labels grows with the cube of their number.
var consecutiveLabels = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:[\pL\w$]+\s*:\s*){50}`) })

// Tree is a source that has been parsed.
type Tree struct {
	Source  Source
	program *ast.Program
	body    *ast.FunctionLiteral // the function around the author's text
}

// Prepared is a program to compile.
type Prepared struct {
	Program              *ast.Program
	CallsPatternFunction bool
}

// PreparedProgram returns the program to compile, or what is wrong with a regular expression in it. It changes the tree
// and must be called only once.
func (t *Tree) PreparedProgram() (p Prepared, wrong *Problem) {
	p.CallsPatternFunction, wrong = t.replacePatterns()
	t.rewordCaughtErrors()
	p.Program = t.program
	return p, wrong
}

// Parse parses the source and returns its tree, or the first problem. The caller reads the file
// of a Module.
func (s Source) Parse() (t *Tree, p *Problem) {
	defer RecoverTo(&p)
	if p := s.checkLimits(); p != nil {
		return nil, p
	}
	before := s.Form.opening()
	// Without the option, goja would read from the disk a source map that a comment names.
	program, err := parser.ParseFile(nil, ScriptName, before+s.Text+closing, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, s.syntaxProblem(err)
	}
	body := wrapperFunction(program)
	if body == nil || int(body.Body.RightBrace) != len(before)+len(s.Text)+len(closing)-1 {
		return nil, &Problem{Off: s.wrapperEnd(program), Message: "Unexpected token }"}
	}
	t = &Tree{Source: s, program: program, body: body}
	if s.Form == Expression && !t.returnExpression() {
		return nil, &Problem{Message: "this is not a single expression", Off: 0}
	}
	body.Async = s.Form != Module && t.usesAwait()
	return t, nil
}

// checkLimits rejects sources that would take the parser too much time or stack.
func (s Source) checkLimits() *Problem {
	if s.Form != Module && len(s.Text) > MaxScript {
		return &Problem{Off: MaxScript, Message: fmt.Sprintf("the script is longer than %d KiB", MaxScript>>10)}
	}
	if s.Form != Module { // a bundle can have megabytes
		if at := consecutiveLabels().FindStringIndex(s.Text); at != nil {
			return &Problem{Off: at[0], Message: "there are too many consecutive labels here"}
		}
	}
	if at := deepest(s.Text, maxNesting); at >= 0 {
		return &Problem{Off: at, Message: fmt.Sprintf("brackets are nested deeper than %d levels here", maxNesting)}
	}
	return nil
}

// wrapperFunction returns the one function that the program consists of, or nil if it is
// anything else.
func wrapperFunction(p *ast.Program) *ast.FunctionLiteral {
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

// wrapperEnd returns the offset at which the author's text closes the function around it.
func (s Source) wrapperEnd(p *ast.Program) (off int) {
	visit(p, func(n ast.Node) bool {
		f, ok := n.(*ast.FunctionLiteral)
		if ok && f.Function == 2 {
			off = s.offset(f.Body.RightBrace)
		}
		return !ok
	})
	return off
}

// returnExpression turns `_=expression` into a return statement. It reports whether the text is a
// single expression.
func (t *Tree) returnExpression() bool {
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

// usesAwait reports whether the script itself, and not only a function in it, uses await.
func (t *Tree) usesAwait() (found bool) {
	visit(t.body.Body, func(n ast.Node) bool {
		_, await := n.(*ast.AwaitExpression)
		found = found || await
		return !found && !isFunction(n)
	})
	return found
}

// offset converts a position of goja to an offset in the author's text.
func (s Source) offset(at file.Idx) int {
	before := s.Form.opening()
	return min(max(int(at)-1-len(before), 0), len(s.Text))
}

// OffsetOf converts a line and column to an offset in the author's text. They are counted as
// goja counts them: columns in bytes, lines by every line terminator of the language.
func (s Source) OffsetOf(line, col int) int {
	before := s.Form.opening()
	if line <= 1 {
		return min(max(col-1-len(before), 0), len(s.Text))
	}
	at := 0
	for ; line > 1; line-- {
		at += nextLine(s.Text[at:])
	}
	return min(at+col-1, len(s.Text))
}

// nextLine returns the number of bytes until the beginning of the next line.
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

// ProblemAt returns a problem at an offset of the compiled text, which includes the code around
// the author's text.
func (s Source) ProblemAt(off int, message string) *Problem {
	return &Problem{Off: s.offset(file.Idx(off + 1)), Message: message}
}

// Problem is the reason why a source cannot be run.
type Problem struct {
	Off     int
	Message string
}

// RecoverTo turns a panic of the parser or compiler into a problem. It must be deferred
// directly, or it recovers nothing.
func RecoverTo(p **Problem) {
	if x := recover(); x != nil {
		*p = &Problem{Message: fmt.Sprint("cannot parse it: ", x)}
	}
}

// syntaxProblem turns an error of the parser into a problem.
func (s Source) syntaxProblem(err error) *Problem {
	var list parser.ErrorList
	if errors.As(err, &list) && len(list) > 0 { // errors after the first are usually consequences of it
		at := list[0].Position
		off, message := s.OffsetOf(at.Line, at.Column), list[0].Message
		if off >= len(s.Text) { // in the code after the author's text
			off = len(strings.TrimRight(s.Text, " \t\r\n"))
			if s.Form == Expression || message == "Unexpected token )" {
				message = "Unexpected end of input"
			}
		}
		return &Problem{Off: off, Message: message}
	}
	return &Problem{Message: err.Error()}
}

// Diagnostic returns the syntax error that is reported for the problem, at its position in text.
func (p *Problem) Diagnostic(text tool.Text, f Form) tool.Diagnostic {
	hint := "fix the script at this position; a script is the body of a function, so it can use return and await, but not import and export"
	if f == Expression {
		hint = "write one expression that uses value, such as value.trim()"
	}
	return tool.Diagnostic{Code: "js-syntax", Severity: tool.Error, Pos: text.At(p.Off), Len: 1,
		Message: "JavaScript syntax error: " + p.Message, Hint: hint}
}
