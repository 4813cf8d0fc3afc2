package jsonschema

import "regexp"

// Schema is a compiled JSON Schema. It does not change and may be used by several
// goroutines.
type Schema struct {
	root            *node
	tracksEvaluated bool // some node asks which properties or elements others have looked at
}

// Problem is one thing that is wrong, with a value or with a schema itself.
type Problem struct {
	Path    []string // the names and numbers that lead to it, in the value or in the schema
	Schema  string   // the keyword that it is about, as a JSON Pointer into the schema
	Missing bool     // what should be there is not
	Unknown bool     // what is there should not be
	Message string
}

// node is a schema that stands somewhere in the document.
type node struct {
	at  string    // JSON Pointer
	res *resource // that it belongs to

	alwaysFalse  bool // the schema false
	defaultValue any  // default
	hasDefault   bool

	types        kinds
	constant     *constant
	enum         *enumValues
	numbers      []bound
	multiple     *decimal
	multipleText string // multiple as it is written

	minLength, maxLength *int
	pattern              *pattern
	format               string

	minItems, maxItems       *int
	minContains, maxContains *int
	unique                   bool
	prefixItems              []*node
	items, contains          *node
	unevaluatedItems         *node

	minProperties, maxProperties        *int
	required                            []string
	properties                          map[string]*node
	order                               []string // names of properties, sorted
	patterns                            []patternNode
	additionalProperties, propertyNames *node
	dependent                           []dependency
	unevaluatedProperties               *node

	allOf, anyOf, oneOf             []*node
	not, ifNode, thenNode, elseNode *node
	ref, dynamic                    *node
	dynamicName                     string // of the anchor that dynamic may be found under elsewhere; "" where it is an ordinary $ref
}

// resource is a part of the document with a base URI of its own: the whole, and what
// has an $id.
type resource struct {
	base    string
	root    *node
	at      string           // JSON Pointer
	anchors map[string]*node // of $anchor and $dynamicAnchor
	dynamic map[string]*node // of $dynamicAnchor alone
}

// bound is minimum, maximum or one of their exclusive kinds.
type bound struct {
	keyword string
	limit   decimal
	written string
}

func (b bound) allows(d decimal) bool {
	switch c := d.cmp(b.limit); b.keyword {
	case "minimum":
		return c >= 0
	case "exclusiveMinimum":
		return c > 0
	case "maximum":
		return c <= 0
	default:
		return c < 0
	}
}

type pattern struct {
	written string
	re      *regexp.Regexp
}

type patternNode struct {
	pattern
	node *node
}

// dependency is what a property's being there asks for.
type dependency struct {
	keyword  string
	property string
	required []string
	schema   *node // nil where it only requires
}

// inPlace are the schemas that a node holds against the same value.
func (n *node) inPlace() []*node {
	list := []*node{n.ref, n.not, n.ifNode, n.thenNode, n.elseNode}
	for _, d := range n.dependent {
		list = append(list, d.schema)
	}
	list = append(list, n.allOf...)
	list = append(list, n.anyOf...)
	return append(list, n.oneOf...)
}
