package find

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// sideWords are other keys of an envelope.
var sideWords = []string{"id", "type", "index", "call_id", "tool_call_id", "tool_use_id", "jsonrpc", "method", "thought", "thoughts", "reasoning", "reason", "confidence", "role", "content"}

const maxEnvelopes = 6

const maxString = 3 // levels of JSON in a string

// argumentsOf removes envelopes until only the object with the arguments is left. level counts the strings around it.
func (r *finder) argumentsOf(n node.Node, level int) (node.Node, bool) {
	for range maxEnvelopes {
		inner, kind, ok := r.opened(&n, level)
		if !ok {
			return n, false
		}
		if kind == "" {
			return n, n.Kind == node.Object || r.notArguments(int(n.Off))
		}
		if kind == "json-text" {
			level++
		}
		r.AddRepair(kind, n.Off)
		n = inner
	}
	return n, r.Fail("ambiguous", int(n.Off), "the call is wrapped in too many envelopes")
}

// opened returns the content of an envelope and its kind, "" if n is not an envelope.
func (r *finder) opened(n *node.Node, level int) (inner node.Node, kind string, ok bool) {
	switch n.Kind {
	case node.Array:
		switch {
		case len(n.Children) == 1 && (n.Children[0].Kind == node.Object || n.Children[0].Kind == node.Array || n.Children[0].Kind == node.Quoted && strings.HasPrefix(n.Children[0].Text, "{")):
			return n.Children[0], "envelope", true
		case len(n.Children) > 1 && n.Children[0].Kind == node.Object:
			return *n, "", r.Fail("several-calls", int(n.Off), "expected one call, found %d", len(n.Children))
		}
	case node.Quoted:
		if level == maxString {
			return *n, "", r.Fail("not-arguments", int(n.Off), "the arguments are encoded as JSON strings more than %d times", maxString)
		}
		inner, ok := r.call(n.Inner(), level+1)
		return inner, "json-text", ok
	case node.Object:
		inner, is, ok := r.envelope(n)
		if is {
			kind = "envelope"
		}
		return inner, kind, ok
	case node.Null, node.Bare:
		if node.IsAbsent(n) {
			return node.Node{Kind: node.Object, Off: n.Off}, "empty", true
		}
	}
	return *n, "", true
}

// envelope returns the arguments in an object such as {"name": "search", "arguments": {...}}.
func (r *finder) envelope(n *node.Node) (inner node.Node, is, ok bool) {
	if rest, is := r.namedBeside(n); is {
		return rest, true, true
	}
	var name, args *node.Node
	for i := range n.Children {
		k := &n.Children[i]
		if r.InputName(k.Name) {
			return *n, false, true
		}
		switch {
		case schema.IsArgsWord(k.Name), k.Name == schema.CallsWord && k.Kind == node.Array, (schema.IsCallWord(k.Name) || schema.IsToolWord(k.Name)) && k.Kind == node.Object, len(n.Children) == 1 && r.IsTool(k.Name) && (k.Kind == node.Object || k.Kind == node.Quoted && strings.HasPrefix(k.Text, "{")):
			if args != nil {
				return *n, false, r.sameTwice(args, k)
			}
			args = k
		case schema.IsToolWord(k.Name) && (k.Kind == node.Quoted || k.Kind == node.Bare):
			if name != nil {
				return *n, false, r.sameTwice(name, k)
			}
			name = k
		case slices.Contains(sideWords, k.Name) && k.Kind != node.Object && k.Kind != node.Array:
		default:
			return *n, false, true
		}
	}
	switch {
	case args == nil && name == nil, args == nil && !r.IsTool(name.Text):
		return *n, false, true
	case r.Root.AllowsUndeclared() && (name == nil || !r.IsTool(name.Text)):
		return *n, false, true
	case name != nil && !r.Calls(name.Text, int(name.Off)):
		return *n, false, false
	case args == nil:
		return node.Node{Kind: node.Object, Off: n.Off}, true, true
	}
	inner = *args
	inner.Name = ""
	return inner, true, true
}

// namedBeside removes the name of the tool from an object with the arguments next to it: {"tool": "search", "query":
// "cats"}.
func (r *finder) namedBeside(n *node.Node) (node.Node, bool) {
	if r.Tool == "" || r.Root.AllowsUndeclared() || len(n.Children) < 2 {
		return *n, false
	}
	at := -1
	for i := range n.Children {
		k := &n.Children[i]
		switch {
		case r.InputName(k.Name):
		case at < 0 && schema.IsToolWord(k.Name) && k.Kind == node.Quoted && r.IsTool(k.Text):
			at = i
		default:
			return *n, false
		}
	}
	if at < 0 {
		return *n, false
	}
	rest := *n
	rest.Children = slices.Concat(n.Children[:at], n.Children[at+1:])
	return rest, true
}

// sameTwice refuses an envelope key that appears twice.
func (r *finder) sameTwice(a, b *node.Node) bool {
	return a.Name != b.Name || r.Fail("duplicate-key", int(b.NameOff), "%s appears twice", report.Quote(b.Name))
}

func (r *finder) notArguments(off int) bool {
	return r.Fail("not-arguments", off, "expected an object with the arguments")
}
