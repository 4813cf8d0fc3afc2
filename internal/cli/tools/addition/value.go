package addition

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/service/toolfiles"
)

// set sets the key of an option. what describes the option in messages. kind is the type of the
// parameter that the option belongs to.
func (p *addParser) set(draft *toolfiles.Draft, o *addOption, what, value, kind string) {
	repeats := slices.Contains([]form{listForm, textOrListForm, choicesForm, typedList, pairForm}, o.form)
	if !repeats && !p.once(what) {
		return
	}
	bad := func(want string) { p.problem("%s: %q is not %s", what, value, want) }
	switch o.form {
	case textForm:
		draft.Set(o.key, TextValue(value))
	case listForm:
		draft.Add(o.key, TextValue(value))
	case textOrListForm:
		addTextOrList(draft, o.key, TextValue(value))
	case commaForm:
		draft.Set(o.key, tool.Value{List: []tool.Value{}})
		for _, word := range splitCommas(value) {
			draft.Add(o.key, TextValue(word))
		}
	case choiceForm, choicesForm:
		if !slices.Contains(o.words, value) {
			bad("one of " + strings.Join(o.words, ", ") + ui.HintSuffix(keytable.SuggestChoice(value, o.words)))
		} else if o.form == choiceForm {
			draft.Set(o.key, TextValue(value))
		} else {
			draft.Add(o.key, TextValue(value))
		}
	case integerForm:
		if v, ok := integerValue(value); ok {
			draft.Set(o.key, v)
		} else {
			bad("a whole number")
		}
	case numberForm:
		if v, ok := numberValue(value); ok {
			draft.Set(o.key, v)
		} else {
			bad("a number")
		}
	case booleanForm:
		if v, ok := booleanValue(value); ok {
			draft.Set(o.key, v)
		} else {
			bad("true or false")
		}
	case trueForm:
		draft.Set(o.key, tool.Value{Scalar: true})
	case durationForm:
		if v, ok := integerValue(value); ok {
			draft.Set(o.key, v)
		} else {
			draft.Set(o.key, TextValue(value)) // for example 5s; the validation of the definition checks the unit
		}
	case pairForm:
		name, v, ok := strings.Cut(value, "=")
		if !ok || name == "" {
			bad("NAME=VALUE")
		} else {
			draft.Entry(o.key, name, TextValue(v))
		}
	default:
		p.setTyped(draft, o, what, value, kind)
	}
}

// setTyped sets a key to one or more values of a parameter's type.
func (p *addParser) setTyped(draft *toolfiles.Draft, o *addOption, what, value, kind string) {
	words := []string{value}
	if o.form == typedCommas {
		words = splitCommas(value)
	}
	for _, word := range words {
		v, want := typedValue(word, kind)
		switch {
		case want != "":
			p.problem("%s: %q is not %s", what, word, want)
		case o.form == typedForm:
			draft.Set(o.key, v)
		default:
			draft.Add(o.key, v)
		}
	}
}

// parameters adds the parameters to the definition.
func (p *addParser) parameters() {
	for _, param := range p.params {
		var draft toolfiles.Draft
		draft.Set("description", TextValue(param.description))
		words := slices.Clone(param.words)
		isType := func(w string) bool { return strings.HasPrefix(w, "type=") }
		slices.SortStableFunc(words, func(a, b string) int { // type first, because the other values depend on it
			switch {
			case isType(a) && !isType(b):
				return -1
			case isType(b) && !isType(a):
				return 1
			}
			return 0
		})
		for _, word := range words {
			key, value, ok := strings.Cut(word, "=")
			o := optionNamed(parameterOptions, key)
			what := "parameter " + param.name + ", " + key
			switch {
			case !ok:
				p.problem("parameter %s: %q is not KEY=VALUE; write the tool's name before the options, and put values with spaces in quotes", param.name, word)
			case o == nil:
				p.problem("parameter %s: unknown option %s%s", param.name, key, ui.NearestAs("%s", key, Names(parameterOptions)))
			default:
				p.set(&draft, o, what, value, param.kind)
			}
			if o != nil && key == "type" && slices.Contains(o.words, value) {
				param.kind = value
			}
		}
		p.Tool.Entry("parameters", param.name, draft.Value())
	}
}

// typeParameters converts the parameters of a test to their declared types.
func (p *addParser) typeParameters(test *toolfiles.Draft) {
	given, _ := test.Get("parameters")
	for i, e := range given.Map {
		for _, param := range p.params {
			if v, want := typedValue(e.Value.Text.S, param.kind); param.name == e.Key && want == "" {
				given.Map[i].Value = v
			}
		}
	}
}

// addTextOrList sets a key to a text, which becomes a list when there is a second one.
func addTextOrList(draft *toolfiles.Draft, key string, v tool.Value) {
	old, ok := draft.Get(key)
	switch {
	case !ok:
		draft.Set(key, v)
	case old.List == nil:
		draft.Set(key, tool.Value{List: []tool.Value{old, v}})
	default:
		draft.Add(key, v)
	}
}

func splitCommas(s string) []string {
	words := strings.Split(s, ",")
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// typedValue converts a word to a parameter's type. If that is impossible, want says what was
// expected.
func typedValue(word, kind string) (v tool.Value, want string) {
	ok := true
	switch kind {
	case "number":
		v, ok = numberValue(word)
		want = "a number"
	case "boolean":
		v, ok = booleanValue(word)
		want = "true or false"
	case "array":
		if v, ok = jsonValue(word); !ok || v.List == nil {
			v, ok = tool.Value{List: []tool.Value{TextValue(word)}}, true
		}
	case "object":
		v, ok = jsonValue(word)
		ok = ok && v.Map != nil
		want = "a JSON object"
	default:
		v = TextValue(word)
	}
	if ok {
		want = ""
	}
	return v, want
}

func integerValue(s string) (tool.Value, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return tool.Value{Scalar: n}, err == nil
}

func numberValue(s string) (tool.Value, bool) {
	n, err := value.ParseNumber(s)
	return tool.Value{Scalar: n}, err == nil
}

func booleanValue(s string) (tool.Value, bool) {
	return tool.Value{Scalar: s == "true"}, s == "true" || s == "false"
}

// jsonValue converts JSON text to a value. Keys of objects are sorted.
func jsonValue(s string) (tool.Value, bool) {
	var v any
	err := value.StrictJSON(s, &v)
	return keytable.FromData(v), err == nil
}

// TextValue returns a text as a value of a definition.
func TextValue(s string) tool.Value {
	t := diagnostic.Plain(s)
	return tool.Value{Scalar: s, Text: &t}
}
