package tool

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// CheckParameter checks one parameter as a whole: whether its rules are consistent, and whether its own default and
// examples follow them.
func CheckParameter(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	p := into.(*ParameterDraft).Parameter
	if p.Description == "" && keytable.ValueOf(content, "description") == nil {
		reportAt(d, p.Pos, Warning, "no-description", "", "the parameter "+diagnostic.Quote(p.Name)+" has no description", "add 'description:'; people and models need it to choose a value")
	}
	if p.Path && p.Type != "string" && p.Type != "array" {
		reportAt(d, p.Pos, Error, "type-mismatch", "path", fmt.Sprintf("%s cannot be a path: its type is %s", diagnostic.Quote(p.Name), p.Type), "change its type to string or array, or remove 'path:'")
	}
	for i := range p.Validation.Enum {
		checkType(d, p, &p.Validation.Enum[i], "validation.enum")
	}
	r := compileRules(d, p)
	if p.Default != nil {
		if checkType(d, p, p.Default, "default") {
			checkRules(d, p, r, *p.Default, "default")
		} else {
			p.Default = nil // so that nobody reports it again
		}
	}
	for i := range p.Examples {
		checkType(d, p, &p.Examples[i], "examples")
		checkRules(d, p, r, p.Examples[i], "examples")
	}
}

// reportAt reports a problem at a position in the current mapping; part is the path from there.
func reportAt(d *keytable.Decoder, at Pos, s Severity, code, part, message, hint string) {
	path := d.Path.String()
	if part != "" {
		path += "." + part
	}
	d.Report(Diagnostic{Code: code, Severity: s, Pos: at, Path: path, Message: message, Hint: hint})
}

// ruleSet is a Validation prepared for many checks: a file may have a hundred thousand examples and as many allowed
// values.
type ruleSet struct {
	Validation
	pattern *regexp.Regexp
	allowed map[any]bool // nil = everything
}

// compileRules checks the validation rules against each other and against the type, and prepares them.
func compileRules(d *keytable.Decoder, p *Parameter) ruleSet {
	v, name := p.Validation, diagnostic.Quote(p.Name)
	r := ruleSet{Validation: v}
	fail := func(at Pos, code, part, message, hint string) { reportAt(d, at, Error, code, part, message, hint) }
	if v.MinLength != nil && v.MaxLength != nil && *v.MinLength > *v.MaxLength {
		fail(p.Pos, "empty-range", "validation", fmt.Sprintf("no value of %s can match: minLength %d is greater than maxLength %d", name, *v.MinLength, *v.MaxLength), "swap minLength and maxLength")
	}
	if v.Minimum != nil && v.Maximum != nil && *v.Minimum > *v.Maximum {
		fail(p.Pos, "empty-range", "validation", fmt.Sprintf("no value of %s can match: minimum %v is greater than maximum %v", name, *v.Minimum, *v.Maximum), "swap minimum and maximum")
	}
	if v.Enum != nil && len(v.Enum) == 0 {
		fail(p.Pos, "empty-range", "validation.enum", "no value of "+name+" is allowed: enum is empty", "list the allowed values, or remove enum")
	}
	if v.Pattern != nil {
		var err error
		if r.pattern, err = regexp.Compile(v.Pattern.S); err != nil {
			reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
			fail(v.Pattern.Pos, "bad-pattern", "validation.pattern", "invalid pattern of parameter "+name+": "+diagnostic.Printable(reason), "use RE2 syntax, which has no look-around and no back-references")
		}
	}
	warnUnusedRules(d, p)
	if len(v.Enum) > 0 {
		r.allowed = make(map[any]bool, len(v.Enum))
		for _, e := range v.Enum {
			r.allowed[e.Scalar] = true
		}
	}
	return r
}

// warnUnusedRules warns about rules for a type that the parameter does not have. Rules of an array apply to its
// elements.
func warnUnusedRules(d *keytable.Decoder, p *Parameter) {
	v := p.Validation
	for _, rule := range []struct {
		names, kind string
		given       bool
	}{
		{"minLength, maxLength and pattern", "string", v.MinLength != nil || v.MaxLength != nil || v.Pattern != nil},
		{"minimum and maximum", "number", v.Minimum != nil || v.Maximum != nil},
	} {
		if rule.given && p.Type != rule.kind && p.Type != "array" {
			reportAt(d, p.Pos, Warning, "rule-without-effect", "validation",
				fmt.Sprintf("%s of %s have no effect: its type is %s", rule.names, diagnostic.Quote(p.Name), p.Type), "they apply to the type "+rule.kind)
		}
	}
}

// Parameter returns the parameter of that name, nil if there is none.
func (d *Definition) Parameter(name string) *Parameter {
	for _, p := range d.Parameters {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Takes returns a value that a file has for the parameter as the parameter takes it: text if its type is string.
func (p *Parameter) Takes(v Value) Value {
	if p.Type == "string" {
		return v.AsText()
	}
	return v
}

// checkType reports a value that does not have the parameter's type. If the type is string, a number or boolean becomes
// its text in the file. Texts with a '{' are not checked: they may refer to other parameters and are only known when
// the tool is called.
func checkType(d *keytable.Decoder, p *Parameter, v *Value, part string) (ok bool) {
	if v.Text != nil && strings.Contains(v.Text.S, "{") {
		return true
	}
	scalar := v.List == nil && v.Map == nil
	switch p.Type {
	case "string":
		if ok = scalar && v.Scalar != nil; ok {
			*v = v.AsText()
		}
	case "number":
		if _, ok = value.Number(v.Scalar); ok {
			*v = v.AsNumber()
		}
	case "boolean":
		_, ok = v.Scalar.(bool)
	case "array":
		ok = v.List != nil || part != "default" && scalar // enum and examples may list single elements
	case "object":
		ok = v.Map != nil
	}
	if !ok {
		message := fmt.Sprintf("%s of %s is %s, but its type is %s", lastPart(part), diagnostic.Quote(p.Name), describeValue(*v), p.Type)
		reportAt(d, v.Pos, Error, "type-mismatch", part, message, p.mismatchHint(*v))
	}
	return ok
}

func lastPart(part string) string { return part[strings.LastIndexByte(part, '.')+1:] }

func (p *Parameter) mismatchHint(v Value) string {
	if v.Text != nil {
		_, err := strconv.ParseFloat(v.Text.S, 64)
		if p.Type == "number" && err == nil || p.Type == "boolean" && (v.Text.S == "true" || v.Text.S == "false") {
			return "remove the quotes: " + v.Text.S
		}
	}
	return "change the value or the type"
}

// checkRules reports a default or an example that violates the parameter's own rules. For an example it is a warning: no
// run uses it.
func checkRules(d *keytable.Decoder, p *Parameter, r ruleSet, v Value, part string) {
	for _, item := range v.List {
		if p.Type == "array" {
			checkRules(d, p, r, item, part)
		}
	}
	rule := ""
	switch s := v.Scalar.(type) {
	case string:
		if !strings.Contains(s, "{") {
			rule = r.textViolation(s)
		}
	default:
		if n, is := value.Number(s); is {
			rule = r.numberViolation(n)
		}
	}
	if rule == "" && v.Scalar != nil && !r.allows(v) {
		rule = "enum"
	}
	if rule != "" {
		what, severity := "an example", Warning
		if part == "default" {
			what, severity = "the default", Error
		}
		message := fmt.Sprintf("%s of %s, %s, violates its own %s", what, diagnostic.Quote(p.Name), describeValue(v), rule)
		reportAt(d, v.Pos, severity, part+"-refused", part, message, "change the value or the validation rule")
	}
}

// textViolation returns the rule that a text violates, or "".
func (r ruleSet) textViolation(s string) string {
	n := utf8.RuneCountInString(s)
	switch {
	case r.MinLength != nil && n < *r.MinLength:
		return "minLength"
	case r.MaxLength != nil && n > *r.MaxLength:
		return "maxLength"
	case r.pattern != nil && !r.pattern.MatchString(s):
		return "pattern"
	}
	return ""
}

func (r ruleSet) numberViolation(n float64) string {
	switch {
	case r.Minimum != nil && n < *r.Minimum:
		return "minimum"
	case r.Maximum != nil && n > *r.Maximum:
		return "maximum"
	}
	return ""
}

// allows reports whether enum allows a scalar. A text with a '{' is allowed: it is only known when the tool is called.
func (r ruleSet) allows(v Value) bool {
	return r.allowed == nil || r.allowed[v.Scalar] || v.Text != nil && strings.Contains(v.Text.S, "{")
}

// describeValue describes a value for messages.
func describeValue(v Value) string {
	switch {
	case v.List != nil:
		return "a list"
	case v.Map != nil:
		return "a mapping"
	case v.Text != nil:
		return "the text " + diagnostic.Quote(v.Text.S)
	case v.Scalar == nil:
		return "nothing"
	}
	return diagnostic.Printable(v.Spelling())
}
