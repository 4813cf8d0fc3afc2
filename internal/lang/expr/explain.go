package expr

import (
	"errors"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/parser"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Verdict is the result of a condition while some values may not be known.
type Verdict int

const (
	NotYet Verdict = iota // the result depends on values that do not exist yet
	True
	False
)

var verdictWords = [...]string{"not yet known", "true", "false"}

// String returns the verdict in words.
func (v Verdict) String() string { return verdictWords[v] }

// MarshalText writes the verdict in words.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Explain decides the condition as far as the scope allows, and returns the reason: the condition
// with its values in place of the references, or the names of the missing values. Parts that do
// not matter, as in false && ..., need no values. If deciding fails, the verdict is NotYet and
// the reason is the text of the error.
func (c *Condition) Explain(sc Scope, st Status) (Verdict, string) {
	v, err := c.decide(c.root, sc, st)
	if err != nil {
		return NotYet, err.Error()
	}
	if v == NotYet {
		return v, c.missing(sc)
	}
	return v, c.withValues(sc)
}

// decide applies three-valued logic to &&, || and !. It evaluates everything else if its values
// are known.
func (c *Condition) decide(n ast.Node, sc Scope, st Status) (Verdict, error) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		v, err := c.decide(n.Node, sc, st)
		return v.not(), err
	case *ast.BinaryNode:
		left, err := c.decide(n.Left, sc, st)
		deciding := False
		if n.Operator == "||" || n.Operator == "or" {
			deciding = True
		}
		if err != nil || left == deciding {
			return left, err
		}
		right, err := c.decide(n.Right, sc, st)
		if err != nil || right == deciding || left != NotYet {
			return right, err
		}
		return NotYet, nil
	}
	return c.leaf(n, sc, st)
}

func (v Verdict) not() Verdict {
	switch v {
	case True:
		return False
	case False:
		return True
	}
	return NotYet
}

func (c *Condition) leaf(n ast.Node, sc Scope, st Status) (Verdict, error) {
	if n == nil {
		return NotYet, errors.New("cannot evaluate an invalid condition")
	}
	program, err := compiler.Compile(&parser.Tree{Node: n, Source: c.source}, exprLangConfig())
	if err != nil {
		return NotYet, unwrapExprLangError(err)
	}
	yes, err := c.run(program, sc, st)
	switch {
	case errors.Is(err, ErrUnknown):
		return NotYet, nil
	case err != nil:
		return NotYet, err
	case yes:
		return True, nil
	}
	return False, nil
}

func (c *Condition) missing(sc Scope) string {
	var names []string
	seen := map[string]bool{}
	for _, ref := range c.refs {
		_, err := sc.Lookup(ref)
		if name := ref.String(); errors.Is(err, ErrUnknown) && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return "it depends on the results of upstream steps"
	case 1:
		return names[0] + " is not known yet"
	}
	return strings.Join(names, ", ") + " are not known yet"
}

// withValues returns the condition with every known value in place of its reference.
func (c *Condition) withValues(sc Scope) string {
	var b strings.Builder
	at := 0
	for i, ref := range c.refs {
		v, err := sc.Lookup(ref)
		if err != nil {
			continue
		}
		start, end := ref.Off, ref.Off+ref.Len
		value := formatValue(toExprLang(v.V))
		if c.asText[i] { // the quotes around {ref} belong to the reference
			start, end = start-1, end+1
			value = formatValue(valuetext.Of(v.V, v.Delimiter))
		}
		b.WriteString(c.src[at:start] + value)
		at = end
	}
	b.WriteString(c.src[at:])
	return b.String()
}
