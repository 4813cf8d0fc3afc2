package repair

import "slices"

// An envelope is an object around the arguments: {"name": "search", "arguments": {...}}.
// Its words are those that no declared parameter has, or it is none.
var (
	toolWords = []string{"name", "tool", "tool_name", "toolName", "function_name", "function", "action", "recipient_name"}
	argsWords = []string{"arguments", "parameters", "args", "input", "params", "kwargs", "tool_input", "action_input", "toolInput"}
	sideWords = []string{"id", "type", "index", "call_id", "tool_call_id", "tool_use_id"}
	callsWord = "tool_calls"
)

const maxEnvelopes = 6

// argumentsOf takes the envelopes off a value, until the object of the arguments is left.
func (r *reading) argumentsOf(n node) (node, bool) {
	for range maxEnvelopes {
		inner, is, ok := r.opened(&n)
		if !ok {
			return n, false
		}
		if !is {
			return n, n.kind == object || r.notArguments(int(n.off))
		}
		r.mend("envelope", n.off)
		n = inner
	}
	return n, r.fail("ambiguous", int(n.off), "the call is wrapped too often")
}

// opened answers what is in an envelope, and whether it is one.
func (r *reading) opened(n *node) (inner node, is, ok bool) {
	switch n.kind {
	case array:
		if len(n.kids) == 1 && (n.kids[0].kind == object || n.kids[0].kind == array) {
			return n.kids[0], true, true
		}
		if len(n.kids) > 1 && n.kids[0].kind == object {
			return *n, false, r.fail("several-calls", int(n.off), "these are %d calls, not one", len(n.kids))
		}
		return *n, false, true
	case quoted:
		inner, ok := r.wholeValue(n.inner(), r.root)
		return inner, true, ok
	case object:
		return r.envelope(n)
	case null:
		return node{kind: object, off: n.off}, true, true
	}
	return *n, false, true
}

func (r *reading) envelope(n *node) (inner node, is, ok bool) {
	var name, args *node
	for i := range n.kids {
		k := &n.kids[i]
		if p, _ := r.property(r.root, k.name); p >= 0 {
			return *n, false, true
		}
		switch {
		case k.name == callsWord && k.kind == array, k.name == "function" && k.kind == object:
			if args != nil {
				return *n, false, true
			}
			args = k
		case slices.Contains(argsWords, k.name):
			if args != nil {
				return *n, false, true
			}
			args = k
		case slices.Contains(toolWords, k.name) && (k.kind == quoted || k.kind == bare):
			if name != nil {
				return *n, false, true
			}
			name = k
		case slices.Contains(sideWords, k.name) && k.kind != object && k.kind != array:
		default:
			return *n, false, true
		}
	}
	switch {
	case args == nil && name == nil, args == nil && (r.tool == "" || !sameTool(name.text, r.tool)):
		return *n, false, true
	case r.root.open() && (name == nil || r.tool == "" || !sameTool(name.text, r.tool)):
		return *n, false, true
	case name != nil && !r.calls(name.text, int(name.off)):
		return *n, false, false
	case args == nil:
		return node{kind: object, off: n.off}, true, true
	}
	inner = *args
	inner.name = ""
	return inner, true, true
}

// calls tells whether a name is that of the called tool, and refuses the text otherwise.
func (r *reading) calls(name string, off int) bool {
	if r.tool == "" || sameTool(name, r.tool) {
		return true
	}
	return r.fail("wrong-tool", off, "this is a call of %s, not of %s", quote(name), quote(r.tool))
}

func (r *reading) notArguments(off int) bool {
	return r.fail("not-arguments", off, "this is no object of arguments")
}
