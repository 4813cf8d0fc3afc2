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
//
//	type Template struct {
//		// contains filtered or unexported fields
//	}
//
//	// Argv renders an Argv template and returns the program and its arguments.
//	func (t *Template) Argv(sc Scope) ([]string, error)
//
//	func (t *Template) AuthorityRefs() (refs []Ref)
//
//	// Display returns the command as a person would write it, with quoted values in place of the placeholders.
//	func (t *Template) Display(sc Scope, mask func(string) string) string
//
//	// EncodedText is Text that passes each value through encode, with the text before it.
//	func (t *Template) EncodedText(sc Scope, encode func(before, value string) string) (string, error)
//
//	// Guarded reports whether some value is used where the shell reads more than text.
//	func (t *Template) Guarded() bool
//
//	// Length returns the minimum length of the text in bytes, if each reference has the length that of returns.
//	func (t *Template) Length(of func(Ref) int) int
//
//	// LiteralText returns the text of the template without its placeholders, which are each a space.
//	func (t *Template) LiteralText() string
//
//	// Refs returns the references of the template in the order in which they are written, including those in conditions and branches.
//	func (t *Template) Refs() []Ref
//
//	// Script renders the template of a script.
//	func (t *Template) Script(sc Scope) (Script, error)
//
//	// Sources returns the references whose values become part of the text.
//	func (t *Template) Sources() []Ref
//
//	// Static reports whether the template has no placeholders.
//	func (t *Template) Static() bool
//
//	// SyntaxProblems returns the syntax error of a script for bash or sh without placeholders, which ParseTemplate does not parse.
//	func (t *Template) SyntaxProblems(src string) []Problem
//
//	// Text renders a Plain template.
//	func (t *Template) Text(sc Scope) (string, error)
//
//	// Value renders a Plain template whose result need not be text.
//	func (t *Template) Value(sc Scope) (any, error)
type Template = expr.Template

// Condition is a parsed run-condition: an expression that is true or false. It does not change. Safe for concurrent use. Refs
// lists its references, Eval evaluates it.
//
//	type Condition struct {
//		// contains filtered or unexported fields
//	}
//
//	// Eval decides the condition.
//	func (c *Condition) Eval(sc Scope, st Status) (bool, error)
//
//	// Explain decides the condition as far as the scope allows, and returns the reason: the condition with its values in place of the references, or the names of the missing values.
//	func (c *Condition) Explain(sc Scope, st Status) (Verdict, string)
//
//	// Refs returns the references in the order in which they are written.
//	func (c *Condition) Refs() []Ref
//
//	// Uses returns the strongest kind of status function that the condition calls.
//	func (c *Condition) Uses() Uses
type Condition = expr.Condition

// Names resolves names when a text is parsed.
//
//	type Names interface {
//		Symbol(id string) Symbol
//	}
type Names = expr.Names

// Symbol is what a name stands for.
//
//	type Symbol struct {
//		Class Class
//		Type  string // of a parameter: string, number, boolean, array or object; of a step: that of an artifact; "" if it is not known
//		// As is the id for which this name is another word, as prev_step is for the step before. "" if
//		// there is none. It is used for Markdown tools only.
//		As string
//	}
type Symbol = expr.Symbol

// Scope looks up references when a text is rendered or a condition evaluated.
//
//	type Scope interface {
//		Lookup(Ref) (Value, error)
//	}
type Scope = expr.Scope

// Ref is a reference to a value.
//
//	type Ref struct {
//		Class    Class
//		Root     string
//		Path     []Segment
//		Raw      bool
//		Off, Len int
//		// contains filtered or unexported fields
//	}
//
//	// Decides reports whether the reference is part of a condition, so that its value is compared and not inserted.
//	func (r Ref) Decides() bool
//
//	// String returns the reference as it is written, in braces except for one of a Markdown tool.
//	func (r Ref) String() string
type Ref = expr.Ref

// Value is the value of a reference.
//
//	type Value struct {
//		V         any     // nil, string, bool, an integer, float64, json.Number, []any or map[string]any
//		Text      bool    // text that may be compared with a number (output, error, env)
//		Absent    bool    // a parameter without a value, a variable that is not set, or a field of a step that did not run
//		Author    bool    // a literal or default of the author, or the output of a step
//		Caller    bool    // a value of the caller: it must not begin with '-' at the start of a word
//		AllowDash bool    // the caller's value may begin with '-' (allow-dash, number, enum)
//		Format    *Format // text of the author around the value, or nil
//		Delimiter string  // between the elements of an array; "" = one space
//		Raw       bool    // security.escape-shell: false: the value is shell text
//		// contains filtered or unexported fields
//	}
type Value = expr.Value

// Status is what a condition may ask about the steps before it.
//
//	type Status struct {
//		Tainted   bool // result of failure()
//		Cancelled bool // result of cancelled()
//		Ahead     bool // nothing has run yet, as in a dry run; only always() has a result
//	}
type Status = expr.Status

// Problem is what is wrong with a text, at a byte of it.
//
//	type Problem struct {
//		Code     string
//		Off, Len int
//		Message  string
//		Hint     string // what to do; "" if the message says it
//		Warning  bool   // the text works, but probably not as intended
//	}
type Problem = expr.Problem

// Shell is the language of a text. It decides how a value may enter it.
//
//	type Shell int
type Shell = expr.Shell

// Plain is the language of texts that are not scripts.
const Plain = expr.Plain
