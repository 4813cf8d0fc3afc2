package jsonschema

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// reference is a $ref or $dynamicRef that is not connected to its target yet.
type reference struct {
	from    *node
	path    []string
	written string
	dynamic bool
}

// resolveRefs connects references to their targets. A target that is not below a known keyword is read as
// a schema here, and may contain further references.
func (r *reader) resolveRefs() {
	for len(r.refs) > 0 {
		ref := r.refs[0]
		r.refs = r.refs[1:]
		to, name := r.find(ref)
		switch {
		case to == nil:
		case ref.dynamic:
			ref.from.dynamic, ref.from.dynamicName = to, name
		default:
			ref.from.ref = to
		}
	}
}

// find returns the target of a reference, and the name of the dynamic anchor if it refers to one.
func (r *reader) find(ref reference) (to *node, dynamicName string) {
	if ref.from.res == nil {
		return nil, ""
	}
	base, fragment, err := resolve(ref.from.res.base, ref.written)
	res := r.resources[base]
	switch {
	case err != nil:
		r.fail(ref.path, "%s is not a URL", quoted(ref.written))
		return nil, ""
	case res == nil:
		r.fail(ref.path, "%s is in another document; references work only within the same document", quoted(ref.written))
		return nil, ""
	case fragment == "":
		return res.root, ""
	case !strings.HasPrefix(fragment, "/"):
		to = res.anchors[fragment]
		if res.dynamic[fragment] != nil {
			dynamicName = fragment
		}
	default:
		to = r.nodeAt(res.at + fragment)
	}
	if to == nil {
		r.fail(ref.path, "%s does not exist in this schema", quoted(ref.written))
	}
	return to, dynamicName
}

// nodeAt returns the schema at a JSON Pointer. It reads the schema if that was not done yet.
func (r *reader) nodeAt(at string) *node {
	if n := r.nodes[at]; n != nil {
		return n
	}
	v, res, path := r.doc, r.nodes[""].res, []string{}
	for part := range strings.SplitSeq(at[1:], "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[part]
			if !ok {
				return nil
			}
			v = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
		path = append(path, part)
		if n := r.nodes[pointer(path)]; n != nil && n.res != nil {
			res = n.res
		}
	}
	if n := r.nodes[pointer(path)]; n != nil { // the same pointer in another spelling
		return n
	}
	return r.schema(v, path, res)
}

// rejectCycles rejects schemas that refer back to themselves for the same value. Checking them would not
// end.
func (r *reader) rejectCycles() {
	state := map[*node]int{} // 1: being visited, 2: done
	var visit func(n *node)
	visit = func(n *node) {
		state[n] = 1
		for _, next := range n.inPlace() {
			switch {
			case next == nil || state[next] == 2:
			case state[next] == 1:
				path := pathOf(n.at)
				if next == n.ref {
					path = append(path, "$ref")
				}
				r.fail(path, "refers to itself, so no value can be checked")
			default:
				visit(next)
			}
		}
		state[n] = 2
	}
	for _, at := range slices.Sorted(maps.Keys(r.nodes)) {
		if n := r.nodes[at]; state[n] == 0 {
			visit(n)
		}
	}
}

// pathOf returns a JSON Pointer as a path.
func pathOf(at string) []string {
	if at == "" {
		return nil
	}
	parts := strings.Split(at[1:], "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
	}
	return parts
}
