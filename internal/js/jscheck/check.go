package jscheck

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// checker collects the diagnostics of one script: code that the language allows and that is most
// likely a mistake.
type checker struct {
	text        tool.Text
	form        Form
	tree        *Tree
	vars        []string
	globals     []string // the built-in names of the script's world
	diagnostics tool.Diagnostics
}

// Check reports code that parses but is most likely a mistake: a body that returns nothing,
// names that are unavailable or not declared, and endless loops. text is the script as it is
// written in the definition and gives the positions. vars are the variables that the call passes
// to the script, and globals are the built-in names of its world.
func (t *Tree) Check(text tool.Text, vars, globals []string) tool.Diagnostics {
	c := &checker{text: text, form: t.Source.Form, tree: t, vars: vars, globals: globals}
	c.checkReturns()
	c.checkNames()
	c.checkLoops()
	return c.diagnostics
}

func (c *checker) report(code string, severity tool.Severity, n ast.Node, length int, message, hint string) {
	off := c.tree.Source.offset(n.Idx0())
	c.diagnostics = append(c.diagnostics, tool.Diagnostic{Code: code, Severity: severity, Pos: c.text.At(off), Len: length, Message: message, Hint: hint})
}

// checkReturns reports a Body that cannot reach a return statement. A Body that always throws is
// allowed.
func (c *checker) checkReturns() {
	if c.form != Body {
		return
	}
	f := flow{}
	if ends := f.list(c.tree.body.Body.List); f.returns || !ends {
		return
	}
	c.diagnostics = append(c.diagnostics, tool.Diagnostic{Code: "js-no-return", Severity: tool.Error, Pos: c.text.At(len(strings.TrimRight(c.text.S, " \t\r\n"))),
		Message: "the script returns nothing",
		Hint:    "end it with return and the value for the next step, as in: return result;"})
}

// unavailable maps names that scripts often use and do not have to what they can use instead.
var unavailable = map[string]string{
	"require":  "a script cannot load modules; write a .tool.js if you need them",
	"process":  "a script cannot access the process; pass what it needs as a parameter",
	"global":   "use globalThis, the global object",
	"fs":       "a script cannot read files; read the file in another step, and pass its content",
	"path":     "a transform or a script of a page has no modules of Node.js; use the methods of texts, or write a .tool.js",
	"os":       "a transform or a script of a page has no modules of Node.js; pass what it needs as a parameter",
	"util":     "a transform or a script of a page has no modules of Node.js; use the built-in names of JavaScript",
	"eval":     "scripts cannot run text as code; to read data, use JSON.parse",
	"Function": "scripts cannot run text as code; write the function itself",
}

// requirable are the names of unavailable that a script which can load modules may use, or load.
var requirable = []string{"require", "path", "os", "util"}

// checkNames reports the names that the script uses and does not declare.
func (c *checker) checkNames() {
	known, called := c.declaredNames(), calledIdentifiers(c.tree.body)
	visit(c.tree.body.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Identifier)
		if !ok {
			return true
		}
		name := id.Name.String()
		hint, isUnavailable := unavailable[name]
		switch {
		case known[name], name == "Function" && !called[id]:
		case isUnavailable && !(CanRequire(c.form) && slices.Contains(requirable, name)):
			c.report("js-forbidden", tool.Error, id, len(name), name+" is not available in scripts", hint)
		case !slices.Contains(c.globals, name):
			c.reportUndeclared(id, name)
		}
		return true
	})
}

func (c *checker) reportUndeclared(id *ast.Identifier, name string) {
	hint := "declare it with const or let; a script can use the built-in names of JavaScript"
	if len(c.vars) > 0 {
		hint += " and " + strings.Join(c.vars, ", ")
	}
	if near := diagnostic.Near(name, slices.Concat(c.vars, c.globals)); slices.Contains(requirable, name) {
		hint = "load the module: const " + name + " = require('" + name + "')"
	} else if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	c.report("js-undeclared", tool.Warning, id, len(name), strconv.Quote(name)+" is not declared", hint)
}

// declaredNames returns all names that the script declares or assigns anywhere, the variables of
// the call, and the names that the script probes with typeof. It ignores scopes: a name that is
// declared in one function and used in another counts as declared, so that only certain mistakes
// are reported.
func (c *checker) declaredNames() map[string]bool {
	known := map[string]bool{"arguments": true, "undefined": true}
	for _, name := range c.vars {
		known[name] = true
	}
	add := func(name string) { known[name] = true }
	addAllDeclared(c.tree.body.Body, add)
	addTypeofNames(c.tree.body.Body, add)
	return known
}

// checkLoops warns about loops that never end.
func (c *checker) checkLoops() {
	checked := 0
	visit(c.tree.body.Body, func(n ast.Node) bool {
		var body ast.Statement
		switch n := n.(type) {
		case *ast.WhileStatement:
			if alwaysTrue(n.Test) {
				body = n.Body
			}
		case *ast.DoWhileStatement:
			if alwaysTrue(n.Test) {
				body = n.Body
			}
		case *ast.ForStatement:
			if n.Test == nil || alwaysTrue(n.Test) {
				body = n.Body
			}
		}
		if body != nil {
			checked++
		}
		if body != nil && checked <= maxLoops && !canEnd(body) {
			c.report("js-endless-loop", tool.Warning, n, 1, "this loop never ends: it contains no break, return or throw",
				"give it a condition; otherwise it runs until the time limit, and the step fails")
		}
		return true
	})
}

// maxLoops limits how many endless loops of a script are checked, because each check visits the
// whole body of the loop.
const maxLoops = 100

// canEnd reports whether a loop's body contains a statement that can end the loop, or an await or
// yield, which lets other code run.
func canEnd(body ast.Statement) (found bool) {
	visit(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStatement, *ast.ThrowStatement, *ast.AwaitExpression, *ast.YieldExpression:
			found = true
		case *ast.BranchStatement:
			found = found || n.Token == token.BREAK
		}
		return !found && !isFunction(n)
	})
	return found
}
