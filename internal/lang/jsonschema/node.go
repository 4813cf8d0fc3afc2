package jsonschema

import "regexp"

// Schema is a compiled JSON Schema. It does not change. Safe for concurrent use.
type Schema struct {
	root            *node
	tracksEvaluated bool // some node needs to know which properties or elements were evaluated
}

// Problem is one thing that is wrong with a value, or with a schema itself.
type Problem struct {
	Path    []string // the names and indexes of the path to it, in the value or in the schema
	Schema  string   // the keyword, as a JSON Pointer into the schema
	Missing bool     // something required is missing
	Unknown bool     // something is there that is not allowed
	Message string
}

// node is a schema anywhere in the document.
type node struct {
	at  string    // JSON Pointer
	res *resource // the resource that it belongs to

	alwaysFalse  bool // the schema is false
	defaultValue any  // the keyword default
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
	dynamicName                     string // name of the anchor by which dynamic may be found in an outer resource; "" for a plain reference
}

// resource is a part of the document with its own base URI: the whole document, and every schema with an
// $id.
type resource struct {
	base    string
	root    *node
	at      string           // JSON Pointer
	anchors map[string]*node // by $anchor and $dynamicAnchor
	dynamic map[string]*node // by $dynamicAnchor only
}

// bound is minimum, maximum, exclusiveMinimum or exclusiveMaximum.
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

// dependency is what the schema demands if a property is present.
type dependency struct {
	keyword  string
	property string
	required []string
	schema   *node // nil if it only requires properties
}

// inPlace returns the schemas against which a node checks the same value.
func (n *node) inPlace() []*node {
	list := []*node{n.ref, n.not, n.ifNode, n.thenNode, n.elseNode}
	for _, d := range n.dependent {
		list = append(list, d.schema)
	}
	list = append(list, n.allOf...)
	list = append(list, n.anyOf...)
	return append(list, n.oneOf...)
}
