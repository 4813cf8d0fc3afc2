package argparse

import (
	"slices"
	"strings"
)

// An envelope is an object around the arguments: {"name": "search", "arguments": {...}}.
// These are its keys. A key that is a declared parameter is never part of an envelope.
var (
	toolWords = []string{"name", "tool", "tool_name", "toolName", "function_name", "function", "action", "recipient_name"}
	argsWords = []string{"arguments", "parameters", "args", "input", "params", "kwargs", "tool_input", "action_input", "toolInput", "function_args", "tool_args", "tool_arguments", "tool_parameters"}
	// callWords are the keys of an object with one call.
	callWords = []string{"function", "function_call", "functionCall", "tool_call", "toolCall"}
)

// sideWords are other keys of an envelope.
var sideWords = []string{"id", "type", "index", "call_id", "tool_call_id", "tool_use_id", "jsonrpc", "method", "thought", "thoughts", "reasoning", "reason", "confidence", "role", "content"}

const maxEnvelopes = 6

const maxString = 3 // levels of JSON in a string

// callsWord is the key of a list of calls.
const callsWord = "tool_calls"

func isCallWord(s string) bool { return slices.Contains(callWords, s) }
func isArgsWord(s string) bool { return slices.Contains(argsWords, s) }
func isToolWord(s string) bool { return slices.Contains(toolWords, s) }

// argumentsOf removes envelopes until only the object with the arguments is left. level counts
// the strings around it.
func (r *finder) argumentsOf(n node, level int) (node, bool) {
	for range maxEnvelopes {
		inner, kind, ok := r.opened(&n, level)
		if !ok {
			return n, false
		}
		if kind == "" {
			return n, n.kind == object || r.notArguments(int(n.off))
		}
		if kind == "json-text" {
			level++
		}
		r.addRepair(kind, n.off)
		n = inner
	}
	return n, r.fail("ambiguous", int(n.off), "the call is wrapped in too many envelopes")
}

// opened returns the content of an envelope and its kind, "" if n is not an envelope.
func (r *finder) opened(n *node, level int) (inner node, kind string, ok bool) {
	switch n.kind {
	case array:
		switch {
		case len(n.children) == 1 && (n.children[0].kind == object || n.children[0].kind == array || n.children[0].kind == quoted && strings.HasPrefix(n.children[0].text, "{")):
			return n.children[0], "envelope", true
		case len(n.children) > 1 && n.children[0].kind == object:
			return *n, "", r.fail("several-calls", int(n.off), "expected one call, found %d", len(n.children))
		}
	case quoted:
		if level == maxString {
			return *n, "", r.fail("not-arguments", int(n.off), "the arguments are encoded as JSON strings more than %d times", maxString)
		}
		inner, ok := r.call(n.inner(), level+1)
		return inner, "json-text", ok
	case object:
		inner, is, ok := r.envelope(n)
		if is {
			kind = "envelope"
		}
		return inner, kind, ok
	case null:
		return node{kind: object, off: n.off}, "empty", true
	case bare:
		if isAbsent(n) {
			return node{kind: object, off: n.off}, "empty", true
		}
	}
	return *n, "", true
}

// envelope returns the arguments in an object such as {"name": "search", "arguments": {...}}.
func (r *finder) envelope(n *node) (inner node, is, ok bool) {
	if rest, is := r.namedBeside(n); is {
		return rest, true, true
	}
	var name, args *node
	for i := range n.children {
		k := &n.children[i]
		if r.inputName(k.name) {
			return *n, false, true
		}
		switch {
		case k.name == callsWord && k.kind == array, (isCallWord(k.name) || isToolWord(k.name)) && k.kind == object, len(n.children) == 1 && r.isTool(k.name) && (k.kind == object || k.kind == quoted && strings.HasPrefix(k.text, "{")):
			if args != nil {
				return *n, false, r.sameTwice(args, k)
			}
			args = k
		case isArgsWord(k.name):
			if args != nil {
				return *n, false, r.sameTwice(args, k)
			}
			args = k
		case isToolWord(k.name) && (k.kind == quoted || k.kind == bare):
			if name != nil {
				return *n, false, r.sameTwice(name, k)
			}
			name = k
		case slices.Contains(sideWords, k.name) && k.kind != object && k.kind != array:
		default:
			return *n, false, true
		}
	}
	switch {
	case args == nil && name == nil, args == nil && !r.isTool(name.text):
		return *n, false, true
	case r.root.open() && (name == nil || !r.isTool(name.text)):
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

// namedBeside removes the name of the tool from an object with the arguments next to it:
// {"tool": "search", "query": "cats"}.
func (r *finder) namedBeside(n *node) (node, bool) {
	if r.tool == "" || r.root.open() || len(n.children) < 2 {
		return *n, false
	}
	at := -1
	for i := range n.children {
		k := &n.children[i]
		switch {
		case r.inputName(k.name):
		case at < 0 && isToolWord(k.name) && k.kind == quoted && r.isTool(k.text):
			at = i
		default:
			return *n, false
		}
	}
	if at < 0 {
		return *n, false
	}
	rest := *n
	rest.children = slices.Concat(n.children[:at], n.children[at+1:])
	return rest, true
}

// sameTwice refuses an envelope key that appears twice.
func (r *finder) sameTwice(a, b *node) bool {
	return a.name != b.name || r.fail("duplicate-key", int(b.nameOff), "%s appears twice", quote(b.name))
}

// calls reports whether a name is that of the called tool. Otherwise it refuses the text.
func (r *Report) calls(name string, off int) bool {
	if r.tool == "" || sameTool(name, r.tool) {
		return true
	}
	return r.fail("wrong-tool", off, "this calls %s, not %s", quote(name), quote(r.tool))
}

func (r *finder) notArguments(off int) bool {
	return r.fail("not-arguments", off, "expected an object with the arguments")
}
