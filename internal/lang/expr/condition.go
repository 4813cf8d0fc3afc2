package expr

import (
	"errors"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// Condition is a parsed run-condition: an expression that is true or false. It does not change.
// Safe for concurrent use.
type Condition struct {
	src     string
	refs    []Ref
	asText  []bool // for each reference: it was alone in quotes and means its text
	uses    Uses
	root    ast.Node
	source  file.Source
	program *vm.Program
}

// Uses says which status functions a condition calls. A condition that calls none means
// success() && (...); the caller has to add that.
type Uses int

const (
	UsesNone    Uses = iota
	UsesOutcome      // success() or failure()
	UsesCancel       // always() or cancelled(): the condition is decided even after a cancellation
)

// Status holds the results of the status functions.
type Status struct {
	Tainted   bool // result of failure()
	Cancelled bool // result of cancelled()
	Ahead     bool // nothing has run yet, as in a dry run; only always() has a result
}

// condMode is the kind of text that is parsed as a condition.
type condMode int

const (
	condStrict  condMode = iota // a run-condition: references in braces, the result is true or false
	condTernary                 // the condition of a ternary placeholder: references may be bare words, every value has a truth
	condValue                   // an Expression: references in braces, any result
)

// noun returns what messages call the text.
func (m condMode) noun() string {
	if m == condValue {
		return "expression"
	}
	return "condition"
}

// withArticle returns the noun with its article.
func (m condMode) withArticle() string {
	if m == condValue {
		return "an expression"
	}
	return "a condition"
}

// hint returns the hint for text that cannot be parsed.
func (m condMode) hint() string {
	if m == condValue {
		return "write [a, b], a range such as 1..5, or filter({list.json}, .up)"
	}
	return ""
}

// maxCondition is the maximum size in bytes. The parser is recursive, so deep nesting would
// exhaust the stack.
const maxCondition = 16 << 10

// ParseCondition parses a condition and checks its names and types. If there is an error among
// the problems, Eval of the Condition fails.
func ParseCondition(src string, names Names) (*Condition, []Problem) {
	return parseCondition(src, names, condStrict)
}

func parseCondition(src string, names Names, mode condMode) (*Condition, []Problem) {
	c := &Condition{src: src}
	if len(src) > maxCondition {
		return c, []Problem{problemf(codeSyntax, 0, len(src), "compute the result in a step, and compare that", "%s is longer than %d bytes", mode.noun(), maxCondition)}
	}
	if strings.TrimSpace(src) == "" {
		hint := mode.hint()
		if hint == "" {
			hint = "remove it, or write true"
		}
		return c, []Problem{problemf(codeSyntax, 0, len(src), hint, "%s is empty", mode.noun())}
	}
	r := rewriter{cond: c, names: names, mode: mode}
	text := r.rewrite()
	if hasErrors(r.problems) {
		return c, r.problems
	}
	return c, append(r.problems, c.compile(text, &r)...)
}

// compile parses the rewritten text, replaces names by lookups and checks types.
func (c *Condition) compile(text string, r *rewriter) []Problem {
	cfg := exprLangConfig()
	tree, err := parser.ParseWithConfig(text, cfg)
	if err != nil {
		return []Problem{r.syntaxProblem(err, text)}
	}
	p := patcher{cond: c, mode: r.mode, sourceOffset: r.sourceOffset(text)}
	ast.Walk(&tree.Node, &p)
	if r.mode != condValue {
		p.requireBool(&tree.Node)
	}
	if len(p.problems) > 0 {
		return p.problems
	}
	if _, err := checker.Check(tree, cfg); err != nil {
		return []Problem{r.syntaxProblem(err, text)}
	}
	c.root, c.source = tree.Node, tree.Source
	if c.program, err = compiler.Compile(tree, cfg); err != nil {
		return []Problem{r.syntaxProblem(err, text)}
	}
	return nil
}

// Refs returns the references in the order in which they are written.
func (c *Condition) Refs() []Ref { return c.refs }

// Uses returns the strongest kind of status function that the condition calls.
func (c *Condition) Uses() Uses { return c.uses }

// maxConditionItems is the maximum number of elements that a condition may create, as expr-lang
// counts them.
const maxConditionItems = 10_000

// Eval decides the condition. It fails if a reference has no value yet (ErrUnknown), if text
// should be a number and is not, and if the result is neither true nor false.
func (c *Condition) Eval(sc Scope, st Status) (bool, error) {
	return c.run(c.program, sc, st)
}

func (c *Condition) run(program *vm.Program, sc Scope, st Status) (bool, error) {
	if program == nil {
		return false, errors.New("cannot evaluate an invalid condition")
	}
	machine := vm.VM{MemoryBudget: maxConditionItems}
	out, err := machine.Run(program, &evaluation{cond: c, scope: sc, status: st})
	if err != nil {
		return false, unwrapExprLangError(err)
	}
	yes, ok := out.(bool)
	if !ok {
		return false, errors.New("cannot evaluate the condition: the result is neither true nor false")
	}
	return yes, nil
}

// unwrapExprLangError removes the picture of the source that expr-lang adds to an error. It shows
// the rewritten text, which the author does not know.
func unwrapExprLangError(err error) error {
	var fe *file.Error
	if !errors.As(err, &fe) {
		return err
	}
	if fe.Prev != nil {
		return fe.Prev
	}
	return errors.New(fe.Message)
}

// mark maps an offset in the rewritten condition to an offset in the written one.
type mark struct{ out, src int }

// rewriter translates a condition as people write it into the language of expr-lang: references
// become names (_r0), === becomes ==, null becomes nil.
type rewriter struct {
	cond     *Condition
	names    Names
	mode     condMode
	out      strings.Builder
	marks    []mark
	problems []Problem
}

func (r *rewriter) rewrite() string {
	ts := tokens(r.cond.src)
	for i, t := range ts {
		r.marks = append(r.marks, mark{r.out.Len(), t.off})
		switch t.kind {
		case tokenPlaceholder:
			switch before := r.cond.src[:t.off]; {
			case strings.HasSuffix(before, "$"):
				r.reportDollar(t)
			case strings.HasSuffix(before, ".") && !strings.HasSuffix(before, ".."): // it would be a field with an internal name
				r.problems = append(r.problems, problemf(codeSyntax, t.off, len(t.text), "write ["+t.text+"] without the dot", "a reference cannot follow a dot"))
			}
			r.placeholder(t)
		case tokenString:
			r.quoted(t)
		case tokenName:
			r.word(t, wordRoleAt(ts, i))
		default:
			r.out.WriteString(strings.NewReplacer("===", "==", "!==", "!=").Replace(t.text))
		}
	}
	return r.out.String()
}

func (r *rewriter) placeholder(t token) {
	if !r.reference(t, t.text[1:len(t.text)-1], false) {
		r.problems = append(r.problems, problemf(CodeUnknown, t.off, len(t.text),
			"declare the parameter, or use the name of an existing step", "unknown reference %s", t.text))
	}
}

// reportDollar reports a placeholder that is written as a shell or a workflow of another program has it: ${ref}.
func (r *rewriter) reportDollar(t token) {
	r.problems = append(r.problems, problemf(codeSyntax, t.off-1, len(t.text)+1, "write "+t.text, "a reference has no $"))
}

// quoted copies a string. '{ref}' is not a string but the text of the reference.
func (r *rewriter) quoted(t token) {
	if inner := t.text[1:max(1, len(t.text)-1)]; strings.HasPrefix(inner, "${") {
		if kind, size := nextToken(inner[1:]); kind == tokenPlaceholder && size == len(inner)-1 {
			r.reportDollar(token{tokenPlaceholder, t.off + 2, inner[1:]})
			return
		}
	}
	if n := len(t.text); n > 2 {
		if kind, size := nextToken(t.text[1:]); kind == tokenPlaceholder && size == n-2 {
			inner := token{tokenPlaceholder, t.off + 1, t.text[1 : n-1]}
			if r.reference(inner, inner.text[1:size-1], true) {
				return
			}
		}
	}
	r.out.WriteString(t.text)
}

// wordRole is what a bare word means, judging by the tokens around it.
type wordRole int

const (
	roleOperand  wordRole = iota
	roleFunction          // a parenthesis follows
	roleKey               // the key of a mapping: {x: 1}
)

func wordRoleAt(ts []token, i int) wordRole {
	after, before := "", ""
	if i+1 < len(ts) {
		after = strings.TrimSpace(ts[i+1].text)
	}
	if i > 0 {
		before = strings.TrimSpace(ts[i-1].text)
	}
	switch {
	case strings.HasPrefix(after, "("):
		return roleFunction
	case strings.HasPrefix(after, ":") && (strings.HasSuffix(before, "{") || strings.HasSuffix(before, ",")):
		return roleKey
	}
	return roleOperand
}

// word copies keywords and functions. In a ternary a bare word may be a reference.
func (r *rewriter) word(t token, role wordRole) {
	switch {
	case t.text == "null":
		r.out.WriteString("nil")
	case role == roleFunction || isKeyword(t.text):
		r.out.WriteString(t.text)
	case r.mode == condTernary && r.reference(t, t.text, false):
	case strings.HasPrefix(t.text, "_r"):
		r.reportUnknown(t)
	case role == roleOperand && isFunction(t.text):
		r.reportUncalled(t)
	default:
		r.out.WriteString(t.text)
	}
}

func (r *rewriter) reportUnknown(t token) {
	name := t.text[:min(len(t.text), 80)]
	hint := "put it in quotes if it is text: '" + name + "'"
	if _, _, ok := resolve(name, r.names); ok {
		hint = "write {" + name + "} to use its value"
	}
	r.problems = append(r.problems, problemf(CodeUnknown, t.off, len(t.text), hint, "unknown word %q", name))
}

// reportUncalled reports a function without parentheses. As a value it would count as true, so a
// condition that consists of the word always would look as if it held.
func (r *rewriter) reportUncalled(t token) {
	if _, _, ok := resolve(t.text, r.names); ok {
		r.reportUnknown(t)
		return
	}
	call := t.text + "(...)"
	if isStatusFunction(t.text) {
		call = t.text + "()"
	}
	r.problems = append(r.problems, problemf(codeSyntax, t.off, len(t.text), "write "+call+", or put it in quotes if it is text: '"+t.text+"'",
		"%s is a function, but it is not called", t.text))
}

// reference writes the name of a lookup if the text is a known reference, and reports whether it
// is one.
func (r *rewriter) reference(t token, text string, asText bool) bool {
	ref, typ, ok := resolve(text, r.names)
	if !ok {
		return false
	}
	ref.Off, ref.Len, ref.decides = t.off, len(t.text), r.mode != condValue
	if p := checkRef(&ref, typ, r.names); p != nil {
		r.problems = append(r.problems, *p)
	}
	r.out.WriteString("_r" + strconv.Itoa(len(r.cond.refs)))
	r.cond.refs = append(r.cond.refs, ref)
	r.cond.asText = append(r.cond.asText, asText)
	return true
}

func isKeyword(s string) bool {
	switch s {
	case "true", "false", "nil", "and", "or", "not", "in", "contains", "matches", "startsWith", "endsWith", "if", "else", "let":
		return true
	}
	return false
}

// sourceOffset returns a function that maps a place in the rewritten text to a byte of the written
// one. expr-lang counts places in characters.
func (r *rewriter) sourceOffset(text string) func(chars int) int {
	return func(chars int) int {
		off := 0
		for ; chars > 0 && off < len(text); chars-- {
			_, n := utf8.DecodeRuneInString(text[off:])
			off += n
		}
		i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].out > off }) - 1
		if i < 0 {
			return 0
		}
		return min(r.marks[i].src+off-r.marks[i].out, len(r.cond.src))
	}
}

// unexpectedToken matches the message of expr-lang about a token, such as
// unexpected token Operator("=").
var unexpectedToken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^unexpected token (?:(EOF)|\w+\((".*")\))`)
})

// syntaxProblem converts an error of expr-lang to a Problem.
func (r *rewriter) syntaxProblem(err error, text string) Problem {
	var fe *file.Error
	if !errors.As(err, &fe) {
		return problemf(codeSyntax, 0, len(r.cond.src), r.mode.hint(), "invalid %s: %v", r.mode.noun(), err)
	}
	off := r.sourceOffset(text)(fe.From)
	if name, ok := strings.CutPrefix(fe.Message, "unknown name "); ok {
		return r.unknownName(name, off)
	}
	if strings.HasPrefix(fe.Message, "type func(") {
		return r.functionField(off)
	}
	what, hint := firstLine(fe.Message), r.mode.hint()
	switch m := unexpectedToken().FindStringSubmatch(what); {
	case m == nil && strings.Contains(what, "char escape"):
		what, hint, off = r.escapeProblem(what, off)
	case m == nil:
	case m[1] == "EOF":
		what = "it ends too early"
	case m[2] == `"="`:
		what, hint = `unexpected "="`, "write == to compare"
	case m[2] != "":
		what = "unexpected " + r.asWritten(m[2])
		if what != "unexpected "+m[2] && hint == "" {
			hint = "write an operator before it, such as == or &&"
		}
		if r.isCommand() {
			hint = "a condition is not a command: compare values, as in " + r.exampleRef() + " == 'yes'"
		}
	}
	return problemf(codeSyntax, off, min(1, len(r.cond.src)-off), hint, "invalid %s: %s", r.mode.noun(), what)
}

// asWritten returns a token in a message of expr-lang as the author wrote it: for the name of a lookup, its reference.
func (r *rewriter) asWritten(quoted string) string {
	for i, ref := range r.cond.refs {
		if quoted == `"_r`+strconv.Itoa(i)+`"` {
			return r.cond.src[ref.Off : ref.Off+ref.Len]
		}
	}
	return quoted
}

// isCommand reports whether the text begins with a bare word, as in: test {a.output} = yes.
func (r *rewriter) isCommand() bool {
	ts := tokens(strings.TrimSpace(r.cond.src))
	return r.mode == condStrict && len(ts) > 1 && ts[0].kind == tokenName && wordRoleAt(ts, 0) == roleOperand &&
		!isKeyword(ts[0].text) && !isFunction(ts[0].text) && strings.HasPrefix(ts[1].text, " ")
}

// exampleRef returns the first reference of the text, or one that every reader knows.
func (r *rewriter) exampleRef() string {
	if len(r.cond.refs) == 0 {
		return "{step.output}"
	}
	return strings.Trim(r.cond.src[r.cond.refs[0].Off:][:r.cond.refs[0].Len], `'"`)
}

// escapeProblem explains a backslash in quotes that begins no escape sequence, such as that of a pattern: '\d'.
func (r *rewriter) escapeProblem(what string, off int) (explained, hint string, at int) {
	for _, t := range tokens(r.cond.src) {
		if t.kind != tokenString || t.text[0] == '`' {
			continue
		}
		for i := 1; i+1 < len(t.text); i++ {
			if t.text[i] != '\\' {
				continue
			}
			i++
			if strings.IndexByte(`abfnrtv\'"xuU01234567`, t.text[i]) < 0 {
				_, n := utf8.DecodeRuneInString(t.text[i:])
				return t.text[i-1:i+n] + " in quotes has no meaning", "write `" + strings.Trim(t.text, `'"`) + "` in backquotes, where a backslash is text", t.off + i - 1
			}
		}
	}
	return what, "write a backslash in quotes as \\\\, or use backquotes", off
}

// functionField reports a reference without braces whose name is that of a function, such as last.exit-code.
func (r *rewriter) functionField(off int) Problem {
	start := off
	for start > 0 && (isNameByte(r.cond.src[start-1]) || r.cond.src[start-1] == '.') {
		start--
	}
	ref := r.cond.src[start : start+refLen(r.cond.src[start:])]
	return problemf(codeSyntax, start, max(1, len(ref)), "write {"+ref+"}", "%s is not a reference: it has no braces", ref)
}

func (r *rewriter) unknownName(name string, off int) Problem {
	if n := refLen(r.cond.src[off:]); n > 0 {
		name = r.cond.src[off : off+n]
	}
	switch name {
	case "now", "date", "timezone":
		return problemf(CodeUnknown, off, len(name), "compare {DATE}, {TIME} or {TIMESTAMP}, which are fixed when the run starts",
			"%s() is not available: a condition must have the same result when the run is resumed", name)
	}
	if rest := r.cond.src[min(off+len(name), len(r.cond.src)):]; strings.HasPrefix(strings.TrimSpace(rest), "(") {
		return problemf(CodeUnknown, off, len(name), "the functions are success(), failure(), always(), cancelled(), len(...) and those of expr-lang; see flowrun help expressions", "unknown function %s()", name)
	}
	before := len(r.problems)
	r.reportUnknown(token{tokenName, off, name})
	p := r.problems[before]
	r.problems = r.problems[:before]
	return p
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
