package schematest

import (
	"bytes"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/flowrun/flowrun"
)

// Validate fails the test when doc, one JSON document, does not keep to the schema
// with that name (see flowrun.Schema), or has a field that the schema does not
// describe. It is safe for concurrent use.
func Validate(t testing.TB, name string, doc []byte) {
	t.Helper()
	s, err := strict(name)
	if err != nil {
		t.Errorf("cannot use the schema %s: %v", name, err)
		return
	}
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

// strict is a schema with all its objects closed.
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
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	closeObjects(schema)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, schema); err != nil {
		return nil, err
	}
	s, err := c.Compile(name)
	if err == nil {
		compiled[name] = s
	}
	return s, err
}

// closeObjects refuses fields that are not described. Conditions have properties
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
