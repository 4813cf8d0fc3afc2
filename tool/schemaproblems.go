package tool

import "errors"

// SchemaProblems are what an error of ParseSchema says, one by one: Field leads to the
// place in the schema. Of another error it is one problem without a place.
func SchemaProblems(err error) []FormProblem {
	var bad schemaError
	if !errors.As(err, &bad) {
		return []FormProblem{{Message: err.Error()}}
	}
	list := make([]FormProblem, len(bad))
	for i, p := range bad {
		list[i] = FormProblem{Field: valuePath(p.Path), Missing: p.Missing, Unknown: p.Unknown, Message: p.Message}
	}
	return list
}
