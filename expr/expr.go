// Package expr has the names that a program needs to read the two small languages of definitions by itself: texts with
// placeholders, and conditions. What they mean, and how a value enters a command without ever becoming code, is documented
// where it is decided, in internal/lang/expr, and for users in docs/explanation/substitution.md.
package expr

import "github.com/flowrun/flowrun/internal/lang/expr"

// ParseTemplate parses a text with placeholders. sh is the language of the text, Plain if it is not a script. All problems are
// returned.
func ParseTemplate(src string, sh Shell, names Names) (*Template, []Problem) {
	return expr.ParseTemplate(src, sh, names)
}

// ParseCondition parses a run-condition. All problems are returned.
func ParseCondition(src string, names Names) (*Condition, []Problem) {
	return expr.ParseCondition(src, names)
}

// Template is a parsed text. It does not change. Safe for concurrent use. Refs lists its references, Text renders it.
type Template = expr.Template

// Condition is a parsed run-condition: an expression that is true or false. It does not change. Safe for concurrent use. Refs
// lists its references, Eval evaluates it.
type Condition = expr.Condition

// Names resolves names when a text is parsed.
type Names = expr.Names

// Symbol is what a name stands for.
type Symbol = expr.Symbol

// Scope looks up references when a text is rendered or a condition evaluated.
type Scope = expr.Scope

// Ref is a reference to a value.
type Ref = expr.Ref

// Value is the value of a reference.
type Value = expr.Value

// Status is what a condition may ask about the steps before it.
type Status = expr.Status

// Problem is what is wrong with a text, at a byte of it.
type Problem = expr.Problem

// Shell is the language of a text. It decides how a value may enter it.
type Shell = expr.Shell

// Plain is the language of texts that are not scripts.
const Plain = expr.Plain
