package tool

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/jsonschema"
)

// ForeignSchema reads a schema that another program made, as value.DecodeJSON decodes it, and changes it. Keywords that are
// not valid, or that flowrun cannot check, are put right where their meaning is plain, and left out otherwise: the other
// program checks its arguments itself. leftOut are the paths of those, such as properties/email/pattern.
func ForeignSchema(doc map[string]any) (s *JSONSchema, leftOut []string, err error) {
	setDialect(doc)
	for range maxRepairs {
		_, bad := jsonschema.Compile(doc)
		if len(bad) == 0 {
			break
		}
		changed := false
		for _, p := range bad {
			switch what := repair(doc, p.Path); what {
			case nothing:
			case removed:
				leftOut = append(leftOut, strings.Join(p.Path, "/"))
				changed = true
			default:
				changed = true
			}
		}
		if !changed {
			return nil, nil, schemaError(bad)
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		return nil, nil, err
	}
	s, err = ParseSchema(text.Bytes())
	return s, leftOut, err
}

// maxRepairs is how often a schema is looked at again: a repaired keyword can show that another one is not valid.
const maxRepairs = 20

// draft7 is the oldest dialect that can be checked. What 2020-12 changed is in fewer places than what older ones did.
const draft7 = "http://json-schema.org/draft-07/schema#"

// setDialect replaces the address of a dialect that cannot be checked by that of the nearest one. A schema without one that is
// valid only as draft 7 gets that.
func setDialect(doc map[string]any) {
	address, _ := doc["$schema"].(string)
	switch {
	case strings.Contains(address, "2020-12"):
		doc["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	case strings.Contains(address, "draft-0"), strings.Contains(address, "2019-09"):
		doc["$schema"] = draft7
	default:
		delete(doc, "$schema")
		_, now := jsonschema.Compile(doc)
		doc["$schema"] = draft7
		if _, old := jsonschema.Compile(doc); len(old) >= len(now) {
			delete(doc, "$schema")
		}
	}
}

// repaired is what repair did.
type repaired int

const (
	nothing repaired = iota
	corrected
	removed
)

// repair corrects or removes the keyword to which a path leads, or the keyword that has what it leads to.
func repair(doc map[string]any, path []string) repaired {
	holder, key := keywordOf(doc, path)
	if holder == nil {
		return nothing
	}
	switch v := holder[key].(type) {
	case string:
		if low := strings.ToLower(v); key == "type" && low != v {
			holder[key] = low
			return corrected
		}
	case []any:
		if key == "required" {
			if names := uniqueTexts(v); len(names) < len(v) && len(names) > 0 {
				holder[key] = names
				return corrected
			}
		}
	case bool: // draft 4 has the bound in another keyword
		bound := map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[key]
		if value, has := holder[bound]; has && v {
			holder[key] = value
			delete(holder, bound)
			return corrected
		}
	}
	delete(holder, key)
	return removed
}

// keywordOf returns the object with the keyword to which a path leads, and the keyword. An element of a list belongs to the
// keyword with the list. holder is nil if there is none.
func keywordOf(doc map[string]any, path []string) (holder map[string]any, key string) {
	var at any = doc
	for _, name := range path {
		switch v := at.(type) {
		case map[string]any:
			next, has := v[name]
			if !has {
				return holder, key
			}
			holder, key, at = v, name, next
		default:
			return holder, key
		}
	}
	return holder, key
}

// uniqueTexts returns the texts of a list, each once.
func uniqueTexts(list []any) (texts []any) {
	for _, v := range list {
		if text, ok := v.(string); ok && !slices.Contains(texts, any(text)) {
			texts = append(texts, text)
		}
	}
	return texts
}
