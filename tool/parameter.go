package tool

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// checkParameter looks at one parameter as a whole: whether its rules make
// sense, and whether its own default and examples keep them.
func checkParameter(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	p := into.(*parameterDraft).Parameter
	if p.Description == "" && valueOf(content, "description") == nil {
		d.reportOn(p, p.Pos, Warning, "no-description", "", "the parameter %s has no description", "add 'description:', which people and models fill it in by")
	}
	d.rules(p)
	if p.Default != nil {
		d.fits(p, p.Default, "default")
		d.keeps(p, *p.Default, "default")
	}
	for i := range p.Validation.Enum {
		d.fits(p, &p.Validation.Enum[i], "validation.enum")
	}
	for i := range p.Examples {
		d.fits(p, &p.Examples[i], "examples")
		d.keeps(p, p.Examples[i], "examples")
	}
}

// reportOn reports a problem with a part of a parameter; message holds one %s
// for the parameter's name.
func (d *decoder) reportOn(p *Parameter, at Pos, s Severity, code, part, message, hint string) {
	where := d.path.String()
	if part != "" {
		where += "." + part
	}
	d.report(Diagnostic{Code: code, Severity: s, Pos: at, Path: where, Message: fmt.Sprintf(message, quote(p.Name)), Hint: hint})
}

// rules checks the rules against each other and against the type.
func (d *decoder) rules(p *Parameter) {
	v := p.Validation
	if v.MinLength != nil && v.MaxLength != nil && *v.MinLength > *v.MaxLength {
		d.reportOn(p, p.Pos, Error, "empty-range", "validation", fmt.Sprintf("no value of %%s can have at least %d and at most %d characters", *v.MinLength, *v.MaxLength), "swap minLength and maxLength")
	}
	if v.Minimum != nil && v.Maximum != nil && *v.Minimum > *v.Maximum {
		d.reportOn(p, p.Pos, Error, "empty-range", "validation", fmt.Sprintf("no value of %%s can be at least %v and at most %v", *v.Minimum, *v.Maximum), "swap minimum and maximum")
	}
	if v.Enum != nil && len(v.Enum) == 0 {
		d.reportOn(p, p.Pos, Error, "empty-range", "validation.enum", "no value of %s is allowed: enum is empty", "list the allowed values, or remove enum")
	}
	if v.Pattern != nil {
		if _, err := regexp.Compile(v.Pattern.S); err != nil {
			reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
			d.reportOn(p, v.Pattern.Pos, Error, "bad-pattern", "validation.pattern", "cannot read the pattern of %s: "+strings.ReplaceAll(printable(reason), "%", "%%"), "patterns are RE2 expressions: no look-around and no back-references")
		}
	}
	if lengths := v.MinLength != nil || v.MaxLength != nil || v.Pattern != nil; lengths && p.Type != "string" && p.Type != "array" {
		d.reportOn(p, p.Pos, Warning, "rule-without-effect", "validation", "minLength, maxLength and pattern of %s have no effect on the type "+p.Type, "they are rules for strings")
	}
	if bounds := v.Minimum != nil || v.Maximum != nil; bounds && p.Type != "number" && p.Type != "array" {
		d.reportOn(p, p.Pos, Warning, "rule-without-effect", "validation", "minimum and maximum of %s have no effect on the type "+p.Type, "they are rules for numbers")
	}
}

// fits reports a value that is not of the parameter's type. A scalar given for
// a string becomes the text that stands in the file. Texts with a '{' may refer
// to other parameters and are only known when the tool is called.
func (d *decoder) fits(p *Parameter, v *Value, part string) {
	if v.Text != nil && strings.Contains(v.Text.S, "{") {
		return
	}
	ok, scalar := false, v.List == nil && v.Map == nil
	switch p.Type {
	case "string":
		if ok = scalar && v.Scalar != nil; ok && v.Text == nil {
			v.Scalar, v.Text = v.written, &Text{S: v.written, Pos: v.Pos}
		}
	case "number":
		switch v.Scalar.(type) {
		case int64, float64:
			ok = true
		}
	case "boolean":
		_, ok = v.Scalar.(bool)
	case "array":
		ok = v.List != nil || part != "default" && scalar // an enum or example of one element
	case "object":
		ok = v.Map != nil
	}
	if !ok {
		d.reportOn(p, v.Pos, Error, "type-mismatch", part, fmt.Sprintf("%s of %%s is %s, but its type is %s", lastPart(part), strings.ReplaceAll(v.describe(), "%", "%%"), p.Type), p.mismatchHint(*v))
	}
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

func (v Value) describe() string {
	switch {
	case v.List != nil:
		return "a list"
	case v.Map != nil:
		return "a mapping"
	case v.Text != nil:
		return "the text " + quote(v.Text.S)
	case v.Scalar == nil:
		return "nothing"
	}
	return printable(v.written)
}

// keeps warns of a default or example that the parameter's own rules refuse
// (S1-107, S1-109).
func (d *decoder) keeps(p *Parameter, v Value, part string) {
	for _, item := range v.List {
		if p.Type == "array" {
			d.keeps(p, item, part)
		}
	}
	rule := ""
	switch s := v.Scalar.(type) {
	case string:
		if !strings.Contains(s, "{") {
			rule = p.Validation.refusesText(s)
		}
	case int64:
		rule = p.Validation.refusesNumber(float64(s))
	case float64:
		rule = p.Validation.refusesNumber(s)
	}
	if rule == "" && v.Scalar != nil && !p.Validation.lists(v) {
		rule = "enum"
	}
	if rule != "" {
		what := "an example"
		if part == "default" {
			what = "the default"
		}
		d.reportOn(p, v.Pos, Warning, part+"-refused", part, fmt.Sprintf("%s of %%s, %s, is refused by its own %s", what, strings.ReplaceAll(v.describe(), "%", "%%"), rule), "change the value or the rule")
	}
}

// refusesText is the rule a text breaks, empty for none.
func (v Validation) refusesText(s string) string {
	n := utf8.RuneCountInString(s)
	switch {
	case v.MinLength != nil && n < *v.MinLength:
		return "minLength"
	case v.MaxLength != nil && n > *v.MaxLength:
		return "maxLength"
	}
	if v.Pattern != nil {
		if re, err := regexp.Compile(v.Pattern.S); err == nil && !re.MatchString(s) {
			return "pattern"
		}
	}
	return ""
}

func (v Validation) refusesNumber(n float64) string {
	switch {
	case v.Minimum != nil && n < *v.Minimum:
		return "minimum"
	case v.Maximum != nil && n > *v.Maximum:
		return "maximum"
	}
	return ""
}

// lists says whether enum allows a scalar; without an enum everything is.
func (v Validation) lists(value Value) bool {
	if len(v.Enum) == 0 || value.Text != nil && strings.Contains(value.Text.S, "{") {
		return true
	}
	for _, e := range v.Enum {
		if e.Scalar == value.Scalar || e.written == value.written && value.written != "" {
			return true
		}
	}
	return false
}
