package jsworld

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/js/jscheck"
)

// goja words its errors differently from Node.js: "Object has no member 'filter'" for "list.filter
// is not a function". Tools compare messages, and people search for them, so an error of the
// engine gets the wording of Node.js before a script or a person sees its message.

// reword gives an error of the engine the wording of Node.js. Other values stay as they are.
func (p *Program) reword(vm *goja.Runtime, v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Error" {
		return
	}
	vm.Try(func() { // the script may have replaced the members
		message, ok := o.Get("message").(goja.String)
		if !ok || o.Get("name").String() == "Error" { // the engine throws errors of subclasses only
			return
		}
		old := message.String()
		r, parts := rewordingOf(old)
		if r == nil {
			return
		}
		stack := o.Get("stack").String()
		_, calls, _ := strings.Cut(stack, old)
		e := p.errorOrigin(calls)
		if e.off < 0 && e.native == "" { // not thrown by the engine for the author's code
			return
		}
		if text := r.message(e, parts); text != "" {
			o.Set("message", text)
			o.Set("stack", strings.Replace(stack, old, text, 1))
		}
	})
}

// rewordFunction returns reword for the code that jscheck adds to catch clauses, and for module.js.
func (w *World) rewordFunction(p *Program) goja.Value {
	return w.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		p.reword(w.vm, call.Argument(0))
		return goja.Undefined()
	})
}

// errorOrigin is the place where the engine threw an error.
type errorOrigin struct {
	source string // the author's code
	module bool   // whether that is a tool, which could run under Node.js
	off    int    // offset in source, or -1 if the error was not thrown there
	native string // name of the built-in function that threw it, if any
}

var (
	scriptCall = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*at (?:.*\()?` + jscheck.ScriptName + `:(\d+):(\d+)\(\d+\)`)
	})
	nativeCall = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*at (\S+) \(native\)`) })
)

// errorOrigin reads the innermost call from the text of an Error's stack, without its message.
func (p *Program) errorOrigin(calls string) errorOrigin {
	e := errorOrigin{source: p.source.Text, module: p.source.Form == jscheck.Module, off: -1}
	if m := scriptCall().FindStringSubmatch(calls); m != nil {
		line, _ := strconv.Atoi(m[1])
		col, _ := strconv.Atoi(m[2])
		e.off = p.source.OffsetOf(line, col)
	} else if m := nativeCall().FindStringSubmatch(calls); m != nil {
		e.native = m[1]
	}
	return e
}

// rewording turns messages of goja that match a pattern into those of Node.js. It returns "" if it
// cannot.
type rewording struct {
	pattern string
	message func(e errorOrigin, parts []string) string
}

// nullish stands for the value of which goja does not say whether it is undefined or null.
const nullish = "undefined or null"

var rewordings = []rewording{
	{`Object has no member '(.+)'`, func(e errorOrigin, m []string) string { return e.callee(m[1]) + " is not a function" }},
	{`Cannot read property '(.+)' of undefined(?: or null)?`, func(e errorOrigin, m []string) string {
		return "Cannot read properties of " + nullish + " (reading '" + m[1] + "')"
	}},
	{`(?:Value is not an object|Not a function|Value is not callable): (.*)`, errorOrigin.notCallable},
	{`Value is not a constructor`, func(e errorOrigin, _ []string) string { return e.notConstructor() }},
	{`Cannot convert undefined or null to object`, func(e errorOrigin, _ []string) string { return e.noObject() }},
	{`object is not iterable`, func(e errorOrigin, _ []string) string { return e.notIterable() }},
	{`Value is not object coercible`, func(e errorOrigin, _ []string) string {
		if name := e.expression(); name != "" {
			return "Cannot destructure '" + name + "' as it is " + nullish
		}
		return "Cannot destructure a value that is " + nullish
	}},
	{`Class constructor cannot be invoked without 'new'`, func(e errorOrigin, _ []string) string {
		return "Class constructor " + e.callee("") + " cannot be invoked without 'new'"
	}},
	{`Cannot access a variable before initialization`, func(e errorOrigin, _ []string) string {
		if name := e.expression(); name != "" {
			return "Cannot access '" + name + "' before initialization"
		}
		return ""
	}},
	{`(process|__dirname|__filename) is not defined`, errorOrigin.ofNode},
	{`(document|window|navigator|localStorage|sessionStorage|XMLHttpRequest|DOMParser) is not defined`, errorOrigin.ofPage},
	{`No initial value`, func(errorOrigin, []string) string { return "Reduce of empty array with no initial value" }},
	{`Malformed URI`, func(errorOrigin, []string) string { return "URI malformed" }},
	{`Unexpected end of JSON input \(EOF\)`, func(errorOrigin, []string) string { return "Unexpected end of JSON input" }},
	{`invalid character '(.+)' .*`, func(e errorOrigin, m []string) string {
		if e.native != "parse" {
			return ""
		}
		return "Unexpected token " + m[1] + " in JSON"
	}},
}

var rewordingPatterns = sync.OnceValue(func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(rewordings))
	for i, r := range rewordings {
		list[i] = regexp.MustCompile(`^` + r.pattern + `$`)
	}
	return list
})

// rewordingOf returns the rewording of a message and the parts that its pattern finds in it, or nil.
func rewordingOf(message string) (r *rewording, parts []string) {
	for i, pattern := range rewordingPatterns() {
		if parts = pattern.FindStringSubmatch(message); parts != nil {
			return &rewordings[i], parts
		}
	}
	return nil, nil
}

// callbackTakers are built-in functions that call a function of the script.
var callbackTakers = []string{"map", "forEach", "filter", "reduce", "reduceRight", "some", "every", "find", "findIndex", "findLast", "findLastIndex", "flatMap", "from"}

// notCallable is the message for the call of a value that is not a function.
func (e errorOrigin) notCallable(m []string) string {
	switch {
	case slices.Contains(callbackTakers, e.native):
		return m[1] + " is not a function"
	case strings.HasPrefix(e.rest(), "("):
		return e.callee("") + " is not a function"
	}
	return e.notConstructor()
}

// ofNode is the message for a name that only Node.js has. It is that of the modules which only Node.js has.
func (e errorOrigin) ofNode(m []string) string {
	if !e.module {
		return ""
	}
	return m[1] + " is not available, because this tool does not run under Node.js; to use it, set runtime: 'node' in getMetadata"
}

// ofPage is the message for a name that only the page of a browser has.
func (e errorOrigin) ofPage(m []string) string {
	if !e.module {
		return ""
	}
	return m[1] + " is not available: it belongs to the page of a browser, which neither a tool nor Node.js has"
}

func (e errorOrigin) notConstructor() string {
	rest, found := strings.CutPrefix(e.rest(), "new ")
	if name := leadingChain(rest); found && name != "" {
		return name + " is not a constructor"
	}
	return ""
}

// noObject is the message for undefined or null where a property is set or a list is needed.
func (e errorOrigin) noObject() string {
	before := strings.TrimRight(e.before(), " \t\r\n")
	switch {
	case e.off < 0:
		return ""
	case strings.HasSuffix(before, ".") && !strings.HasSuffix(before, "..."):
		if deletion().MatchString(before) {
			return ""
		}
		return "Cannot set properties of " + nullish + " (setting '" + leadingChain(e.rest()) + "')"
	case strings.HasPrefix(e.rest(), "["):
		return "Cannot set properties of " + nullish
	}
	return e.notIterable()
}

// deletion matches code in front of the name of a property that is deleted.
var deletion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bdelete\s[^;{}]*\.$`) })

func (e errorOrigin) notIterable() string {
	if name := e.expression(); name != "" {
		return name + " is not iterable"
	}
	return ""
}

// before and rest are the code before and after the place of the error.
func (e errorOrigin) before() string { return e.source[:max(e.off, 0)] }
func (e errorOrigin) rest() string   { return e.source[max(e.off, 0):] }

// expression returns the chain of names at the place of the error, as in a.b.c, or "".
func (e errorOrigin) expression() string {
	name := leadingChain(e.rest())
	if e.off < 0 || name == "new" || name == "function" || name == "async" {
		return ""
	}
	if before := e.before(); strings.HasSuffix(before, ".") && !strings.HasSuffix(before, "..") { // the last name of a chain
		return trailingChain(before + name)
	}
	return name
}

// callee returns the code of the function that is called at the place of the error, shortened as
// Node.js does. member is the name of the missing member, if that is the reason.
func (e errorOrigin) callee(member string) string {
	text := ""
	if e.off >= 0 {
		text = trailingChain(strings.TrimSuffix(strings.TrimRight(e.before(), " \t\r\n"), "?."))
	}
	switch {
	case text != "":
		return text
	case member != "":
		return intermediate + "." + member
	}
	return intermediate
}

// intermediate is what Node.js writes for a value without a name.
const intermediate = "(intermediate value)"
