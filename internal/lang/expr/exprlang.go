package expr

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker/nature"
	"github.com/expr-lang/expr/conf"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// evaluation holds what a condition can use while it is decided. expr-lang passes it to the
// functions below as $env. It has no exported fields, so that no name in a condition can reach
// into it.
type evaluation struct {
	cond   *Condition
	scope  Scope
	status Status
}

// disabledBuiltins lists functions of expr-lang that are not available. The clock is not, because
// a resumed run must decide as the first run did. Functions that make large values of small ones
// are not, because a condition has to decide and not to build.
var disabledBuiltins = []string{"now", "date", "timezone", "repeat", "replace", "join", "reduce"}

var baseConfig = sync.OnceValue(func() *conf.Config {
	cfg := conf.New(&evaluation{})
	for _, name := range disabledBuiltins {
		delete(cfg.Builtins, name)
		cfg.Disabled[name] = true
	}
	for name, fn := range map[string]func(args ...any) (any, error){
		"_ref": callRef, "_val": callVal, "_cmp": callCompare, "_in": callIn,
		"_text": callText, "_whole": callWhole, "_bool": callBool, "_true": callTruthy, "_status": callStatus,
		// The status functions as they are written; patcher replaces them by _status.
		"success": callStatus, "failure": callStatus, "always": callStatus, "cancelled": callStatus,
	} {
		cfg.Functions[name] = &builtin.Function{Name: name, Func: fn}
	}
	return cfg
})

// exprLangConfig returns a configuration for one parse. Its tables are shared and never written.
// The type cache is written, so each parse gets its own.
func exprLangConfig() *conf.Config {
	cfg := *baseConfig()
	cfg.NtCache = nature.Cache{}
	return &cfg
}

// Functions lists the names that can be called in a condition or an expression, in no particular
// order. It serves suggestions for misspelled names.
func Functions() []string {
	var list []string
	for name := range baseConfig().Builtins {
		list = append(list, name)
	}
	return append(list, statusFunctions...)
}

var statusFunctions = []string{"success", "failure", "always", "cancelled"}

func isStatusFunction(name string) bool { return slices.Contains(statusFunctions, name) }

func isFunction(name string) bool {
	_, known := baseConfig().Builtins[name]
	return known || isStatusFunction(name)
}

func callRef(args ...any) (any, error) {
	v, err := callVal(args...)
	if err != nil {
		return nil, err
	}
	return toExprLang(v.(Value).V), nil
}

// callVal implements a lookup that returns a Value, for comparisons that need to know whether text
// may be a number.
func callVal(args ...any) (any, error) {
	f, i := args[0].(*evaluation), args[1].(int)
	v, err := lookup(f.scope, f.cond.refs[i], nil)
	if err != nil {
		return nil, err
	}
	if v.Absent {
		v.V = nil
	}
	if f.cond.asText[i] && v.V != nil {
		v.V, v.Text = valuetext.Of(v.V, v.Delimiter), true
	}
	return v, nil
}

func callStatus(args ...any) (any, error) {
	st, name := args[0].(*evaluation).status, args[1].(string)
	if st.Ahead && name != "always" {
		return nil, ErrUnknown
	}
	switch name {
	case "success":
		return !st.Tainted, nil
	case "failure":
		return st.Tainted, nil
	case "cancelled":
		return st.Cancelled, nil
	}
	return true, nil
}

// patcher walks the parsed condition bottom up and replaces lookups and comparisons of expr-lang
// by flowrun's own.
type patcher struct {
	cond         *Condition
	mode         condMode
	sourceOffset func(chars int) int
	problems     []Problem
}

// Visit is called by ast.Walk, for children before their parents.
func (p *patcher) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		p.identifier(node, n)
	case *ast.CallNode:
		p.call(node, n)
	case *ast.BinaryNode:
		p.binary(node, n)
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			p.requireBool(&n.Node)
		}
	case *ast.ConditionalNode:
		p.requireBool(&n.Cond)
	case *ast.PredicateNode:
		// Nested loops are the only way left to run for long.
		if containsPredicate(n.Node) {
			p.report(n, "do the work in a step and use its result", "%s cannot nest functions such as all, any and filter", p.mode.withArticle())
		}
	case *ast.VariableDeclaratorNode:
		p.report(n, "write the value itself instead of a name for it", "%s cannot use let", p.mode.withArticle())
	}
}

func (p *patcher) identifier(node *ast.Node, n *ast.IdentifierNode) {
	var i int
	switch {
	case n.Value == "$env":
		p.report(n, "refer to a parameter or step, as in {a.output}", "$env is not available")
	default:
		if _, err := fmt.Sscanf(n.Value, "_r%d", &i); err == nil {
			replaceWithCall(node, "_ref", &ast.IdentifierNode{Value: "$env"}, &ast.IntegerNode{Value: i})
		}
	}
}

func (p *patcher) call(node *ast.Node, n *ast.CallNode) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return
	}
	switch callee.Value {
	case "success", "failure":
		p.cond.uses = max(p.cond.uses, UsesOutcome)
	case "always", "cancelled":
		p.cond.uses = UsesCancel
	case "_ref", "_val", "_cmp", "_in", "_text", "_whole", "_bool", "_true", "_status":
		p.report(n, "", "unknown function %s", callee.Value)
		return
	default:
		return
	}
	if len(n.Arguments) > 0 {
		p.report(n, "write "+callee.Value+"()", "%s() takes no arguments", callee.Value)
	}
	replaceWithCall(node, "_status", &ast.IdentifierNode{Value: "$env"}, &ast.StringNode{Value: callee.Value})
}

func (p *patcher) binary(node *ast.Node, n *ast.BinaryNode) {
	op := &ast.StringNode{Value: n.Operator}
	switch n.Operator {
	case "==", "!=", "<", "<=", ">", ">=":
		p.checkComparable(n)
		replaceWithCall(node, "_cmp", op, keepValue(n.Left), keepValue(n.Right))
	case "in":
		replaceWithCall(node, "_in", keepValue(n.Left), n.Right)
	case "contains", "matches", "startsWith", "endsWith":
		p.checkPattern(n)
		replaceWithCall(node, "_text", op, n.Left, n.Right)
	case "..":
		requireWhole(&n.Left)
		requireWhole(&n.Right)
	case "&&", "and", "||", "or":
		p.requireBool(&n.Left)
		p.requireBool(&n.Right)
	}
}

// requireWhole makes an end of a range fail at run time if it is not a whole number. Literals are
// left alone: expr-lang checks them when the definition is loaded.
func requireWhole(node *ast.Node) {
	switch (*node).(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.StringNode, *ast.BoolNode, *ast.NilNode:
	default:
		replaceWithCall(node, "_whole", *node)
	}
}

// checkPattern reports an invalid regular expression when the definition is loaded, not when the
// condition is decided.
func (p *patcher) checkPattern(n *ast.BinaryNode) {
	if s, ok := n.Right.(*ast.StringNode); ok && n.Operator == "matches" {
		if _, err := regexp.Compile(s.Value); err != nil {
			p.report(n.Right, "", "invalid regular expression %q: %v", s.Value, err)
		}
	}
}

// requireBool makes the expression at node fail at run time if it is neither true nor false, and
// reports it now if it can never be. In a ternary every value has a truth.
func (p *patcher) requireBool(node *ast.Node) {
	k := p.kind(*node)
	switch {
	case p.mode == condTernary:
		replaceWithCall(node, "_true", *node)
	case k == kindBool:
	case k == kindAny:
		replaceWithCall(node, "_bool", *node)
	default:
		p.report(*node, "compare it with a value, as in {a.exit-code} == 0", "%s is neither true nor false", k)
	}
}

// replaceWithCall replaces node by a call of one of flowrun's functions.
func replaceWithCall(node *ast.Node, fn string, args ...ast.Node) {
	loc := (*node).Location()
	call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: fn}, Arguments: args}
	call.SetLocation(loc)
	call.Callee.SetLocation(loc)
	*node = call
}

// keepValue turns a plain lookup into one that returns a Value.
func keepValue(n ast.Node) ast.Node {
	if name, call := callName(n); name == "_ref" {
		call.Callee.(*ast.IdentifierNode).Value = "_val"
	}
	return n
}

func callName(n ast.Node) (string, *ast.CallNode) {
	if call, ok := n.(*ast.CallNode); ok {
		if id, ok := call.Callee.(*ast.IdentifierNode); ok {
			return id.Value, call
		}
	}
	return "", nil
}

func (p *patcher) report(n ast.Node, hint, format string, args ...any) {
	off := p.sourceOffset(n.Location().From)
	size := min(1, len(p.cond.src)-off)
	if ref := p.ref(n); ref != nil {
		off, size = ref.Off, ref.Len
	}
	p.problems = append(p.problems, problemf(codeSyntax, off, size, hint, format, args...))
}

// ref returns the reference that a node looks up, nil if it is not a lookup.
func (p *patcher) ref(n ast.Node) *Ref {
	name, call := callName(n)
	if name != "_ref" && name != "_val" || len(call.Arguments) != 2 {
		return nil
	}
	i, ok := call.Arguments[1].(*ast.IntegerNode)
	if !ok || i.Value < 0 || i.Value >= len(p.cond.refs) {
		return nil
	}
	return &p.cond.refs[i.Value]
}

// containsPredicate reports whether there is a predicate anywhere inside n.
func containsPredicate(n ast.Node) bool {
	f := predicateFinder{}
	ast.Walk(&n, &f)
	return f.found
}

type predicateFinder struct{ found bool }

func (f *predicateFinder) Visit(node *ast.Node) {
	if _, ok := (*node).(*ast.PredicateNode); ok {
		f.found = true
	}
}
