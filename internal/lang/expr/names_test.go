package expr_test

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// names is the definition that the tests use.
type names struct{}

func (names) Symbol(id string) expr.Symbol {
	switch id {
	case "P", "A", "B", "X", "OUTPUT-FORMAT", "CMD":
		return expr.Symbol{Class: expr.Parameter, Type: "string"}
	case "N", "COUNT":
		return expr.Symbol{Class: expr.Parameter, Type: "number"}
	case "DEBUG":
		return expr.Symbol{Class: expr.Parameter, Type: "boolean"}
	case "LIST":
		return expr.Symbol{Class: expr.Parameter, Type: "array"}
	case "OBJ":
		return expr.Symbol{Class: expr.Parameter, Type: "object"}
	case "HOME", "OS":
		return expr.Symbol{Class: expr.Variable}
	case "a", "b", "a.b", "try-https", "try-ssh", "check-deps":
		return expr.Symbol{Class: expr.Step}
	case "last":
		return expr.Symbol{Class: expr.Last}
	case "item":
		return expr.Symbol{Class: expr.Local}
	}
	return expr.Symbol{}
}

// scope looks up references by their written form. Others are not known yet.
type scope map[string]expr.Value

func (s scope) Lookup(r expr.Ref) (expr.Value, error) {
	r.Raw = false
	v, ok := s[r.String()]
	if !ok {
		return expr.Value{}, fmt.Errorf("%w", expr.ErrUnknown)
	}
	return v, nil
}

// same returns one value for every reference.
type same expr.Value

func (s same) Lookup(expr.Ref) (expr.Value, error) { return expr.Value(s), nil }

func caller(v any) expr.Value { return expr.Value{V: v, Caller: true} }
func output(v any) expr.Value { return expr.Value{V: v, Text: true, Author: true} }

// errorsOf returns the problems that are not warnings.
func errorsOf(ps []expr.Problem) []expr.Problem {
	var out []expr.Problem
	for _, p := range ps {
		if !p.Warning {
			out = append(out, p)
		}
	}
	return out
}
