package expr

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// toExprLang converts the numbers in a value to the types with which expr-lang calculates: int
// and float64.
func toExprLang(v any) any {
	switch v := v.(type) {
	case int64:
		return int(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		f, _ := v.Float64()
		return f
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = toExprLang(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = toExprLang(e)
		}
		return out
	}
	return v
}

func callCompare(args ...any) (any, error) {
	return compare(args[0].(string), operand(args[1]), operand(args[2]))
}

// operand converts an argument of a comparison to a Value. A reference knows whether its text may
// be a number. Computed text may always be one.
func operand(x any) Value {
	if v, ok := x.(Value); ok {
		return v
	}
	return Value{V: x, Text: true}
}

// compare decides a op b. nil equals only nil and has no order. Text is compared with a number by
// parsing it. Any other two kinds are an error, because an answer would be a guess.
func compare(op string, a, b Value) (bool, error) {
	switch {
	case a.V == nil || b.V == nil:
		return applyEquality(op, a.V == nil && b.V == nil), nil
	case isNumber(a.V) || isNumber(b.V):
		x, err := number(a, b)
		if err != nil {
			return false, err
		}
		y, err := number(b, a)
		return applyOrder(op, compareFloats(x, y)), err
	}
	x, xIsText := a.V.(string)
	y, yIsText := b.V.(string)
	if xIsText && yIsText {
		return applyOrder(op, strings.Compare(x, y)), nil
	}
	if reflect.TypeOf(a.V) != reflect.TypeOf(b.V) || op != "==" && op != "!=" {
		return false, fmt.Errorf("cannot compare %s %s %s: values of these types do not support %s", formatValue(a.V), op, formatValue(b.V), op)
	}
	return applyEquality(op, reflect.DeepEqual(toExprLang(a.V), toExprLang(b.V))), nil
}

// applyEquality applies == or != to the result of a comparison. It returns false for every other
// operator.
func applyEquality(op string, equal bool) bool {
	return op == "==" && equal || op == "!=" && !equal
}

func applyOrder(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	}
	return applyEquality(op, c == 0)
}

func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func isNumber(v any) bool {
	_, ok := valuetext.Number(v)
	return ok
}

// number converts v to a number. It fails if v is not a number; other is named in the error.
func number(v, other Value) (float64, error) {
	f, ok := valuetext.AsNumber(v.V)
	if _, isText := v.V.(string); !ok || isText && !v.Text {
		kind := "not a number"
		if ok {
			kind = "text, " + kind
		}
		return math.NaN(), fmt.Errorf("cannot compare %s with %s: %[1]s is %[3]s", formatValue(v.V), formatValue(other.V), kind)
	}
	return f, nil
}

// formatValue writes a value as it would be written in a condition.
func formatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		q := valuetext.Quoted(v)
		if !strings.ContainsAny(v, `'\`) && q == `"`+v+`"` {
			return "'" + v + "'"
		}
		return q
	}
	return valuetext.Shorten(valuetext.Of(v, ", "))
}

func callIn(args ...any) (any, error) {
	x := operand(args[0])
	switch set := args[1].(type) {
	case nil:
		return false, nil
	case map[string]any:
		key, ok := x.V.(string)
		_, found := set[key]
		return ok && found, nil
	case []any:
		for _, e := range set {
			if yes, err := compare("==", x, Value{V: e, Text: true}); err == nil && yes {
				return true, nil
			}
		}
		return false, nil
	}
	return nil, fmt.Errorf("cannot look for %s in %s: %[2]s is not an array or object", formatValue(x.V), formatValue(args[1]))
}

// callText implements contains, startsWith, endsWith and matches. The result is false if either
// side is nil.
func callText(args ...any) (any, error) {
	op := args[0].(string)
	if args[1] == nil || args[2] == nil {
		return false, nil
	}
	s, ok1 := args[1].(string)
	t, ok2 := args[2].(string)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("cannot evaluate %s %s %s: both sides must be text", formatValue(args[1]), op, formatValue(args[2]))
	}
	switch op {
	case "contains":
		return strings.Contains(s, t), nil
	case "startsWith":
		return strings.HasPrefix(s, t), nil
	case "endsWith":
		return strings.HasSuffix(s, t), nil
	}
	re, err := regexp.Compile(t)
	if err != nil {
		// The error of regexp quotes a part of the pattern, which may be secret (see Quoted).
		return nil, fmt.Errorf("cannot use the pattern %s: it is not a valid regular expression (RE2)", valuetext.Quoted(t))
	}
	return re.MatchString(s), nil
}

// callBool returns true and false as they are. nil, the value of a skipped step and of an absent
// parameter, counts as false. Everything else is an error.
func callBool(args ...any) (any, error) {
	switch v := args[0].(type) {
	case bool:
		return v, nil
	case nil:
		return false, nil
	}
	return nil, fmt.Errorf("cannot evaluate the condition: %s is neither true nor false; compare it with a value", formatValue(args[0]))
}

// callTruthy returns the truth of any value in a ternary: false, nil, 0, "" and empty lists and
// objects are false.
func callTruthy(args ...any) (any, error) {
	switch v := args[0].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case string:
		return v != "", nil
	case []any:
		return len(v) > 0, nil
	case map[string]any:
		return len(v) > 0, nil
	}
	f, ok := valuetext.AsNumber(args[0])
	return !ok || f != 0, nil
}

// callWhole converts an end of a range to an int. It accepts a whole number, and text that is one,
// such as the output of a step.
func callWhole(args ...any) (any, error) {
	const maxExact = 1 << 53 // the whole numbers that a float64 holds without gaps
	f, ok := valuetext.AsNumber(args[0])
	if !ok || f != math.Trunc(f) || math.Abs(f) > maxExact {
		return nil, fmt.Errorf("cannot make a range from or to %s: both ends must be whole numbers", formatValue(args[0]))
	}
	return int(f), nil
}

// kind returns what the expression at n can be.
func (p *patcher) kind(n ast.Node) kind {
	switch n := n.(type) {
	case *ast.NilNode:
		return kindNil
	case *ast.StringNode:
		return kindString
	case *ast.IntegerNode, *ast.FloatNode:
		return kindNumber
	case *ast.BoolNode:
		return kindBool
	case *ast.ArrayNode:
		return kindArray
	case *ast.MapNode:
		return kindObject
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			return kindBool
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and", "||", "or":
			return kindBool
		case "-", "*", "/", "%", "^", "**":
			return kindNumber
		case "+": // + also joins text
			if k := p.kind(n.Left); k == p.kind(n.Right) && (k == kindNumber || k == kindString) {
				return k
			}
		}
	case *ast.CallNode:
		return p.callKind(n)
	}
	return kindAny
}

func (p *patcher) callKind(n *ast.CallNode) kind {
	switch name, _ := callName(n); name {
	case "_cmp", "_in", "_text", "_bool", "_true", "_status":
		return kindBool
	}
	ref := p.ref(n)
	switch {
	case ref == nil:
		return kindAny
	case p.isText(n):
		return kindText
	}
	return ref.kind
}

// isText reports whether the reference was written in quotes, and so means its text.
func (p *patcher) isText(n *ast.CallNode) bool {
	return p.cond.asText[n.Arguments[1].(*ast.IntegerNode).Value]
}

// checkComparable reports a comparison that is wrong for all values.
func (p *patcher) checkComparable(n *ast.BinaryNode) {
	a, b := p.kind(n.Left), p.kind(n.Right)
	if canCompare(n.Operator, a, b) || numericLiteral(n.Left, b) || numericLiteral(n.Right, a) {
		return
	}
	at := n.Left
	if p.ref(at) == nil {
		at = n.Right
	}
	p.report(at, comparisonHint(a, b), "cannot compare %s with %s using %s", p.describe(n.Left, a), p.describe(n.Right, b), n.Operator)
	p.problems[len(p.problems)-1].Code = codeType
}

// describe returns an operand for a message.
func (p *patcher) describe(n ast.Node, k kind) string {
	if ref := p.ref(n); ref != nil {
		return ref.String() + " (" + k.String() + ")"
	}
	return k.String()
}

// numericLiteral reports whether n is text that is compared as a number, as in {a.exit-code} == '0'.
func numericLiteral(n ast.Node, other kind) bool {
	s, ok := n.(*ast.StringNode)
	if !ok || other != kindNumber {
		return false
	}
	_, ok = valuetext.ParseNumber(strings.TrimSpace(s.Value))
	return ok
}

func canCompare(op string, a, b kind) bool {
	switch {
	case a == kindAny || b == kindAny || a == kindNil || b == kindNil:
		return true
	case a == kindText || b == kindText:
		other := a
		if a == kindText {
			other = b
		}
		return other == kindText || other == kindString || other == kindNumber
	case a != b:
		return false
	}
	return op == "==" || op == "!=" || a == kindNumber || a == kindString
}

func comparisonHint(a, b kind) string {
	for _, k := range []kind{a, b} {
		switch k {
		case kindNumber:
			return "compare it with a number, or declare it as type: number"
		case kindBool:
			return "compare it with true or false, without quotes"
		case kindArray, kindObject:
			return "use in, contains or len(...)"
		}
	}
	return ""
}
