package schematest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/docs"
	"github.com/flowrun/flowrun/internal/lang/jsonschema"
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
	s, err := compile(document, pointer)
	if err != nil {
		t.Errorf("cannot use the schema at %s: %v", pointer, err)
		return
	}
	validate(t, s, pointer, doc)
}

func validate(t testing.TB, s *jsonschema.Schema, name string, doc []byte) {
	t.Helper()
	v, err := decode(doc)
	if err != nil {
		t.Errorf("not a JSON document: %v\n%s", err, doc)
		return
	}
	for _, p := range s.Validate(v) {
		t.Errorf("not a %s document: %v %s\n%s", name, p.Path, p.Message, doc)
	}
}

// decode reads one JSON document.
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more follows the document: %v", err)
	}
	return v, nil
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
	b, err := docs.Schema(name)
	if err != nil {
		return nil, err
	}
	s, err := compile(b, "")
	if err == nil {
		compiled[name] = s
	}
	return s, err
}

// compile compiles the schema at a place in a document, with all objects of the document closed.
func compile(document []byte, at string) (*jsonschema.Schema, error) {
	v, err := decode(document)
	if err != nil {
		return nil, err
	}
	closeObjects(v)
	if whole, ok := v.(map[string]any); ok && at != "" {
		whole["$ref"] = "#" + at
	}
	s, problems := jsonschema.Compile(v)
	if len(problems) > 0 {
		return nil, fmt.Errorf("%v", problems)
	}
	return s, nil
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
