package tool

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// schema is a JSON Schema that values are held against: draft 2020-12 unless it says
// another, and formats such as date and email count.
type schema struct{ *jsonschema.Schema }

// schemaProblem is one thing that is wrong, with the keys and numbers that lead to it.
type schemaProblem struct {
	path    []string
	missing bool // what should be there is not
	unknown bool // what is there should not be
	message string
}

// schemaURL stands for the schema itself; references into it begin with #.
const schemaURL = "https://flowrun.invalid/form"

// ownOnly refuses to load schemas that are somewhere else.
type ownOnly struct{}

func (ownOnly) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is another document, and only what stands here is read", url)
}

// compileForm makes a schema of a JSON document, or says everything that is wrong
// with it.
func compileForm(doc any) (schema, []schemaProblem) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(ownOnly{})
	err := c.AddResource(schemaURL, doc)
	var s *jsonschema.Schema
	if err == nil {
		s, err = c.Compile(schemaURL)
	}
	return schema{s}, schemaProblems(err)
}

// problems are everything that is wrong with a value.
func (s schema) problems(v any) []schemaProblem { return schemaProblems(s.Validate(v)) }

func schemaProblems(err error) []schemaProblem {
	var bad *jsonschema.ValidationError
	var of *jsonschema.SchemaValidationError
	if errors.As(err, &of) {
		err = of.Err
	}
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &bad):
		return []schemaProblem{{message: strings.ReplaceAll(err.Error(), schemaURL, "")}}
	}
	var list []schemaProblem
	leaves(bad, &list)
	slices.SortStableFunc(list, func(a, b schemaProblem) int { return slices.Compare(a.path, b.path) })
	return slices.CompactFunc(list, func(a, b schemaProblem) bool { return slices.Equal(a.path, b.path) && a.message == b.message })
}

// leaves collects the errors that have no others for reasons. Where none of several
// alternatives holds, that is the error, and not what is wrong with each of them.
func leaves(e *jsonschema.ValidationError, into *[]schemaProblem) {
	at := func(more ...string) []string { return slices.Concat(e.InstanceLocation, more) }
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			*into = append(*into, schemaProblem{path: at(name), missing: true, message: "is missing"})
		}
		return
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			*into = append(*into, schemaProblem{path: at(name), unknown: true, message: "is not known here"})
		}
		return
	case *kind.Type:
		*into = append(*into, schemaProblem{path: at(), message: fmt.Sprintf("expected %s, got %s", typeWords(k.Want), typeWords([]string{k.Got}))})
		return
	case *kind.Enum:
		words := make([]string, len(k.Want))
		for i, w := range k.Want {
			words[i] = fmt.Sprint(w)
		}
		*into = append(*into, schemaProblem{path: at(), message: fmt.Sprintf("%s is none of %s", quote(fmt.Sprint(k.Got)), strings.Join(words, ", "))})
		return
	case *kind.AnyOf:
		*into = append(*into, schemaProblem{path: at(), message: "none of the forms it may have (anyOf)"})
		return
	case *kind.OneOf:
		*into = append(*into, schemaProblem{path: at(), message: "not exactly one of the forms it may have (oneOf)"})
		return
	}
	if len(e.Causes) == 0 {
		*into = append(*into, schemaProblem{path: at(), message: e.BasicOutput().Error.String()})
	}
	for _, cause := range e.Causes {
		leaves(cause, into)
	}
}

// typeWords names types of JSON for people.
func typeWords(types []string) string {
	words := map[string]string{"string": "text", "number": "a number", "integer": "a whole number", "boolean": "true or false", "object": "an object", "array": "a list"}
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = cmp.Or(words[t], t)
	}
	return strings.Join(list, " or ")
}
