package jsonschema

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxNested is how deep schemas may be nested.
const maxNested = 1000

const (
	dialect2020 = "https://json-schema.org/draft/2020-12/schema"
	dialect7    = "http://json-schema.org/draft-07/schema"
)

// Compile compiles a JSON document decoded by encoding/json, with or without json.Number. It returns
// everything that is wrong with the document, or a Schema. The document must not change afterwards.
func Compile(doc any) (*Schema, []Problem) {
	r := &reader{doc: doc, nodes: map[string]*node{}, resources: map[string]*resource{}}
	r.dialect()
	s := &Schema{root: r.schema(doc, nil, nil)}
	r.resolveRefs()
	if len(r.problems) == 0 {
		r.rejectCycles()
	}
	if len(r.problems) > 0 {
		return nil, sorted(r.problems)
	}
	s.tracksEvaluated = r.tracksEvaluated
	return s, nil
}

// reader is the state of one call of Compile.
type reader struct {
	doc             any
	draft7          bool             // the document is written in draft-07
	nodes           map[string]*node // by JSON Pointer
	resources       map[string]*resource
	refs            []reference
	tracksEvaluated bool
	problems        []Problem
}

func (r *reader) fail(path []string, format string, args ...any) {
	r.problems = append(r.problems, Problem{Path: slices.Clone(path), Schema: pointer(path), Message: fmt.Sprintf(format, args...)})
}

// dialect finds the draft in which the document is written.
func (r *reader) dialect() {
	top, _ := r.doc.(map[string]any)
	written, given := top["$schema"].(string)
	switch strings.TrimSuffix(written, "#") {
	case dialect2020:
	case dialect7:
		r.draft7 = true
	default:
		if given {
			r.fail([]string{"$schema"}, "unsupported $schema %s: use %s or %s#", quoted(written), dialect2020, dialect7)
		}
	}
}

// schema reads the schema at a path.
func (r *reader) schema(doc any, path []string, res *resource) *node {
	n := &node{at: pointer(path), res: res}
	r.nodes[n.at] = n
	if len(path) > 2*maxNested {
		r.fail(nil, "schemas are nested more than %d levels deep", maxNested)
		return n
	}
	switch v := doc.(type) {
	case bool:
		n.alwaysFalse = !v
		if res == nil {
			n.res = &resource{root: n}
		}
	case map[string]any:
		r.identify(n, v, path)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if _, beside := v["$ref"]; r.draft7 && beside && !strings.HasPrefix(key, "$") && key != "definitions" {
				continue // draft-07 ignores other keywords beside $ref
			}
			r.keyword(n, v, key, append(path[:len(path):len(path)], key))
		}
	default:
		r.fail(path, "expected a schema (an object, true or false), got %s", gotWords(doc))
	}
	return n
}

// identify finds the resource that a node belongs to, and adds its anchors there.
func (r *reader) identify(n *node, v map[string]any, path []string) {
	id, named := v["$id"].(string)
	_, beside := v["$ref"]
	named = named && !(r.draft7 && beside)
	anchor, isAnchor := strings.CutPrefix(id, "#")
	if named && isAnchor && r.draft7 {
		named = false
	}
	if n.res == nil || named && !isAnchor {
		r.resource(n, id, path)
	}
	if isAnchor && r.draft7 && !beside {
		n.res.anchors[anchor] = n
	}
	if s, ok := v["$anchor"].(string); ok && !r.draft7 {
		n.res.anchors[s] = n
	}
	if s, ok := v["$dynamicAnchor"].(string); ok && !r.draft7 {
		n.res.anchors[s], n.res.dynamic[s] = n, n
	}
}

// resource starts a part of the document with its own base URI.
func (r *reader) resource(n *node, id string, path []string) {
	base := ""
	if n.res != nil {
		base = n.res.base
	}
	whole, fragment, err := resolve(base, id)
	if err != nil || fragment != "" {
		r.fail(append(path[:len(path):len(path)], "$id"), "%s is not a URL without #", quoted(id))
	}
	n.res = &resource{base: whole, root: n, at: n.at, anchors: map[string]*node{}, dynamic: map[string]*node{}}
	if _, taken := r.resources[whole]; taken {
		r.fail(append(path[:len(path):len(path)], "$id"), "two schemas have the $id %s", quoted(id))
	}
	r.resources[whole] = n.res
}

// resolve resolves a reference against a base, and returns it without its fragment, and the fragment.
func resolve(base, ref string) (whole, fragment string, err error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", "", err
	}
	u, err := b.Parse(ref)
	if err != nil {
		return "", "", err
	}
	fragment = u.Fragment
	u.Fragment, u.RawFragment = "", ""
	return u.String(), fragment, nil
}

// pointer returns a path as a JSON Pointer.
func pointer(path []string) string {
	var b strings.Builder
	for _, part := range path {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(part, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// schemas reads a list of schemas. It must not be empty.
func (r *reader) schemas(n *node, v any, path []string) []*node {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		r.fail(path, "expected a list of schemas, got %s", emptyOr(ok, v))
	}
	nodes := make([]*node, len(list))
	for i, e := range list {
		nodes[i] = r.schema(e, append(path[:len(path):len(path)], strconv.Itoa(i)), n.res)
	}
	return nodes
}

func emptyOr(empty bool, v any) string {
	if empty {
		return "an empty list"
	}
	return gotWords(v)
}

// namedSchemas reads an object of schemas.
func (r *reader) namedSchemas(n *node, v any, path []string) map[string]*node {
	m, ok := v.(map[string]any)
	if !ok {
		r.fail(path, "expected an object of schemas, got %s", gotWords(v))
	}
	nodes := make(map[string]*node, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		nodes[name] = r.schema(m[name], append(path[:len(path):len(path)], name), n.res)
	}
	return nodes
}

// texts reads a list of distinct texts.
func (r *reader) texts(v any, path []string) []string {
	list, ok := v.([]any)
	if !ok {
		r.fail(path, "expected a list of text, got %s", gotWords(v))
	}
	var all []string
	for i, e := range list {
		s, ok := e.(string)
		at := append(path[:len(path):len(path)], strconv.Itoa(i))
		switch {
		case !ok:
			r.fail(at, "expected text, got %s", gotWords(e))
		case slices.Contains(all, s):
			r.fail(at, "%s is listed twice", quoted(s))
		default:
			all = append(all, s)
		}
	}
	return all
}

func (r *reader) text(v any, path []string) string {
	s, ok := v.(string)
	if !ok {
		r.fail(path, "expected text, got %s", gotWords(v))
	}
	return s
}

func (r *reader) count(v any, path []string) *int {
	d, isNumber := decimalOf(v)
	n, ok := d.count()
	if !isNumber || !ok {
		r.fail(path, "expected a whole number that is 0 or greater, got %s", shown(v))
	}
	return &n
}

func (r *reader) decimal(v any, path []string) decimal {
	d, ok := decimalOf(v)
	if !ok {
		r.fail(path, "expected a number, got %s", gotWords(v))
	}
	return d
}

func (r *reader) pattern(s string, path []string) *pattern {
	p, err := compilePattern(s)
	if err != nil {
		r.fail(path, "invalid pattern %s: %v", quoted(s), err)
		return nil
	}
	return p
}
