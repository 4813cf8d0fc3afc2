package schematest

import (
	"bytes"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/flowrun/flowrun"
)

// Validate fails the test if doc, one JSON document, does not match the schema with that name (see
// flowrun.Schema), or has a field that the schema does not describe. Safe for concurrent use.
func Validate(t testing.TB, name string, doc []byte) {
	t.Helper()
	s, err := strict(name)
	if err != nil {
		t.Errorf("cannot use the schema %s: %v", name, err)
		return
	}
	validate(t, s, name, doc)
}

// ValidatePart is Validate for a schema inside a document such as an OpenAPI description. pointer
// is the JSON Pointer of the schema.
func ValidatePart(t testing.TB, document []byte, pointer string, doc []byte) {
	t.Helper()
	s, err := compile(document, "document", "#"+pointer)
	if err != nil {
		t.Errorf("cannot use the schema at %s: %v", pointer, err)
		return
	}
	validate(t, s, pointer, doc)
}

func validate(t testing.TB, s *jsonschema.Schema, name string, doc []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Errorf("not a JSON document: %v\n%s", err, doc)
		return
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("not a %s document: %v\n%s", name, err, doc)
	}
}

var (
	mu       sync.Mutex
	compiled = map[string]*jsonschema.Schema{}
)

// strict returns a schema with all its objects closed.
func strict(name string) (*jsonschema.Schema, error) {
	mu.Lock()
	defer mu.Unlock()
	if s := compiled[name]; s != nil {
		return s, nil
	}
	b, err := flowrun.Schema(name)
	if err != nil {
		return nil, err
	}
	s, err := compile(b, name, "")
	if err == nil {
		compiled[name] = s
	}
	return s, err
}

// compile compiles the schema at a place in a document, with all objects of the document closed.
func compile(document []byte, name, at string) (*jsonschema.Schema, error) {
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, err
	}
	closeObjects(whole)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, whole); err != nil {
		return nil, err
	}
	return c.Compile(name + at)
}

// closeObjects makes objects reject fields that they do not describe. Conditions have properties
// but no type, and stay open.
func closeObjects(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			closeObjects(item)
		}
	case map[string]any:
		_, listed := v["properties"].(map[string]any)
		if _, said := v["additionalProperties"]; v["type"] == "object" && listed && !said {
			v["additionalProperties"] = false
		}
		for _, item := range v {
			closeObjects(item)
		}
	}
}
