package argparse

import (
	"strings"
)

// parser is a recursive descent parser for a superset of JSON. It reads from left to right
// without backtracking. Where JSON would be unambiguous but the text is not JSON, the schema
// decides: the declared names and types determine where a value ends and whether digits are
// text. Lookahead is limited by Budget.
type parser struct {
	Ends
	pos      int
	shelf    *nodeStack
	document bool // the lines start with ---, so ... may end them
}

// View looks at the characters of a text, at any position.
type View struct {
	source
	*Budget
}

func newView(src source, b *Budget) View { return View{src, b} }

// Nesting is the open objects, arrays and calls around a position.
type Nesting struct {
	*Call
	open []frame
}

// Names finds the names of members, and what is declared for them.
type Names struct {
	View
	Nesting
	doubled string // the doubled quotes of the last name, "" for none
}

// Ends decides where values end.
type Ends struct {
	Names
	*Report
	lastQuote, lastCloser int // their last position in the text, -1 for none
}

// frame is an open object, array or call.
type frame struct {
	closer byte    // } ] ), or '\n' for lines of names and values
	schema *Schema // of the object, or of the items of the array
	list   bool
	indent int // column of the lines of an indented object; 0 for any column
}

func (r *Reading) descend(src source) *parser {
	return &parser{Ends: newEnds(src, r.Report, r.Budget), shelf: r.shelf}
}

func newEnds(src source, r *Report, b *Budget) Ends {
	names := Names{View: newView(src, b), Nesting: Nesting{Call: r.Call}}
	return Ends{Names: names, Report: r, lastQuote: strings.LastIndexAny(src.text, "\"'"), lastCloser: strings.LastIndexAny(src.text, "}]")}
}

// spend subtracts n from the budget, and refuses the text if the budget is exhausted.
func (d *Ends) spend(n, off int) bool {
	d.Use(n)
	return !d.Exhausted() || d.fail("ambiguous", off, "the text has too many possible readings")
}

func (d *Ends) failAt(code string, i int, format string, args ...any) bool {
	return d.fail(code, int(d.at(min(i, len(d.text)))), format, args...)
}

func (d *Ends) fix(kind string, i int) { d.addRepair(kind, d.at(i)) }

func (d *Nesting) top() *frame { return &d.open[len(d.open)-1] }

// byteAt returns the byte at i, or 0 after the end.
func (d *View) byteAt(i int) byte {
	if i < len(d.text) {
		return d.text[i]
	}
	return 0
}

func (d *View) has(i int, prefix string) bool {
	return i <= len(d.text) && strings.HasPrefix(d.text[i:], prefix)
}

// dots reports whether dots at i replace omitted content.
func (d *View) dots(i int) bool { return d.has(i, "...") || d.has(i, "…") }

// push opens a frame.
func (d *parser) push(f frame) bool {
	if len(d.open) >= maxDepth {
		return d.failAt("too-deep", d.pos, "objects and arrays are nested more than %d levels deep", maxDepth)
	}
	d.open = append(d.open, f)
	return true
}

func (d *Nesting) pop() { d.open = d.open[:len(d.open)-1] }

// truncated refuses a text that ends inside an open value.
func (d *Ends) truncated() bool {
	return d.failAt("truncated", len(d.text), "the text ends before %s is complete", d.here())
}

// value reads the value at pos.
func (d *parser) value(s *Schema) (node, bool) {
	if d.pos >= len(d.text) {
		return node{}, d.truncated()
	}
	switch c := d.text[d.pos]; c {
	case '{':
		return d.object(s)
	case '[':
		return d.list(s, ']')
	case '(':
		if !s.free() && !s.allows("array") {
			return d.inParentheses(s)
		}
		return d.list(s, ')')
	}
	if q := d.doubledQuotes(d.pos); q != nil {
		return d.quotedText(s, q)
	}
	if q := d.quoteAt(d.pos); q != nil {
		return d.quotedText(s, q)
	}
	if n, done, ok := d.prefixed(s); done {
		return n, ok
	}
	return d.bareValue(s)
}

// inParentheses reads a value in parentheses where no array is declared.
func (d *parser) inParentheses(s *Schema) (node, bool) {
	d.fix("bracket", d.pos)
	d.pos++
	if !d.push(frame{closer: ')', schema: s, list: true}) {
		return node{}, false
	}
	defer d.pop()
	if !d.space() {
		return node{}, false
	}
	n, ok := d.value(s)
	if !ok || !d.space() {
		return n, false
	}
	if d.byteAt(d.pos) != ')' {
		return n, d.failAt("code", d.pos, "%s: expected one value in the parentheses; write it without them", d.here())
	}
	d.pos++
	return n, true
}

// object reads the members of an object, starting at its opening bracket.
func (d *parser) object(s *Schema) (node, bool) {
	start := d.pos
	d.pos++
	return d.members(start, frame{closer: '}', schema: s})
}

// members reads the members of an object that starts at start, up to the closer of its frame.
func (d *parser) members(start int, f frame) (node, bool) {
	n := node{kind: object, off: d.at(start)}
	if !d.push(f) {
		return n, false
	}
	defer d.pop()
	first := len(d.shelf.nodes)
	ok := d.readMembers(first)
	n.children = d.shelf.take(first)
	return n, ok
}

func (d *parser) readMembers(first int) bool {
	f := *d.top()
	comma := true // before the next member
	for {
		if !d.space() {
			return false
		}
		if d.pos >= len(d.text) {
			return f.closer == '\n' || d.truncated()
		}
		if f.closer == '\n' {
			if done, ok := d.linesEnd(f.indent, len(d.shelf.nodes) > first); done || !ok {
				return ok
			}
		}
		switch c := d.text[d.pos]; {
		case c == f.closer:
			if comma && len(d.shelf.nodes) > first {
				d.fix("comma", d.pos)
			}
			d.pos++
			return true
		case c == ']' && d.doubledBracket(first):
			d.fix("bracket", d.pos)
			d.pos++
			continue
		case d.commaAt(d.pos) > 0:
			if comma || c != ',' {
				d.fix("comma", d.pos)
			}
			comma = true
			d.pos += d.commaAt(d.pos)
			continue
		}
		if len(d.shelf.nodes) > first && !comma && f.closer != '\n' {
			d.fix("missing-comma", d.pos)
		}
		k, ok := d.member(f.schema, len(d.shelf.nodes) > first)
		if !ok {
			return false
		}
		d.shelf.nodes = append(d.shelf.nodes, k)
		comma = false
	}
}

// doubledBracket reports whether the bracket at pos is a second closing bracket of the array
// before it. The schema must not allow nested arrays.
func (d *parser) doubledBracket(first int) bool {
	nodes := d.shelf.nodes
	if len(nodes) == first || nodes[len(nodes)-1].kind != array || d.text[d.back(d.pos)] != ']' {
		return false
	}
	s := d.under(d.top().schema, nodes[len(nodes)-1].name)
	return !s.items().free() && !s.items().allows("array")
}

// member reads a name, a separator and a value.
func (d *parser) member(s *Schema, more bool) (node, bool) {
	start := d.pos
	name, ok := d.key(more)
	if !ok {
		return node{}, false
	}
	d.enter(name)
	defer d.leave()
	if !d.separator() {
		return node{}, false
	}
	inner := d.under(s, name)
	if !d.valueSpace(inner) {
		return node{}, false
	}
	var v node
	if d.top().closer == '\n' {
		v, ok = d.lineValue(inner)
	} else {
		v, ok = d.value(inner)
	}
	v.name, v.nameOff = name, d.at(start)
	return v, ok
}

// under returns the schema of a member. The keys of envelopes have schemas too, because they
// contain an object of arguments.
func (d *Nesting) under(s *Schema, name string) *Schema {
	if s == nil {
		return nil
	}
	if p, _ := d.property(s, name); p >= 0 {
		return s.Properties[p].Schema
	}
	if s != d.root {
		return nil
	}
	switch {
	case name == callsWord:
		return arrayOf(d.root)
	case isArgsWord(name), isCallWord(name), d.isTool(name):
		return d.root
	case isToolWord(name):
		return textSchema()
	}
	return nil
}

// list reads the items of an array, or of a tuple in parentheses.
func (d *parser) list(s *Schema, closer byte) (node, bool) {
	n := node{kind: array, off: d.at(d.pos)}
	if closer == ')' {
		d.fix("tuple", d.pos)
	}
	d.pos++
	if !d.push(frame{closer: closer, schema: s.items(), list: true}) {
		return n, false
	}
	defer d.pop()
	first := len(d.shelf.nodes)
	ok := d.readItems(s.items(), closer, first)
	n.children = d.shelf.take(first)
	return n, ok
}

func (d *parser) readItems(s *Schema, closer byte, first int) bool {
	comma := true
	for {
		if !d.space() {
			return false
		}
		if d.pos >= len(d.text) {
			return d.truncated()
		}
		switch c := d.text[d.pos]; {
		case c == closer:
			if comma && len(d.shelf.nodes) > first {
				d.fix("comma", d.pos)
			}
			d.pos++
			return true
		case c == ',' && comma:
			return d.failAt("ambiguous", d.pos, "an item is missing between two commas")
		case c == ',':
			comma = true
			d.pos++
			continue
		}
		if !comma {
			if !d.mayFollow(&d.shelf.nodes[len(d.shelf.nodes)-1]) {
				return false
			}
			d.fix("missing-comma", d.pos)
		}
		d.enterItem(len(d.shelf.nodes) - first)
		v, ok := d.value(s)
		d.leave()
		if !ok {
			return false
		}
		d.shelf.nodes, comma = append(d.shelf.nodes, v), false
	}
}

// commaAt returns the length of the separator between members at i, or 0: a comma, a fullwidth
// comma or a semicolon.
func (d *View) commaAt(i int) int {
	switch c := d.byteAt(i); {
	case c == ',' || c == ';':
		return 1
	case c == 0xef && d.has(i, "\uff0c"):
		return 3
	}
	return 0
}

// mayFollow reports whether an item may start at pos without a comma after the item before it.
func (d *parser) mayFollow(last *node) bool {
	c := d.text[d.pos]
	blank := d.pos > 0 && (d.text[d.pos-1] == ' ' || d.text[d.pos-1] == '\n' || d.text[d.pos-1] == '\t')
	switch {
	case c == '}' || c == ')' || c == ']':
		return d.failAt("syntax", d.pos, "unexpected %q: it does not match the open bracket", c)
	case c == '{' || c == '[' || c == '"' && last.kind != quoted:
		if blank || last.kind == array || last.kind == object {
			return true
		}
	case c == '"' && blank:
		if d.plainItem(d.back(d.pos)+1, d.pos) {
			return true
		}
	case c >= '0' && c <= '9':
		if blank && last.kind == bare && isNumber(last.text) {
			return true
		}
	case c == '+' || c == '-' || c == '*' || c == '/' || c == '%' || c == '.' || c == '(':
		return d.failAt("code", d.pos, "%q after a value is code, which is not evaluated", c)
	case d.isSeparator(d.pos):
		return d.failAt("syntax", d.pos, "unexpected %q after an item of an array", c)
	}
	return d.failAt("ambiguous", d.pos, "it is not clear whether a new item starts here; add the missing comma")
}
