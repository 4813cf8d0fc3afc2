package mcpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Limits of what a server says about a tool, in bytes.
const (
	maxTitle       = 200
	maxDescription = 8 << 10
	maxSchema      = 1 << 20
	maxSchemaDepth = 100
)

// definition makes a definition of a listed tool. All its texts are untrusted. leftOut is what cannot be checked of its schema.
func (r *remote) definition(t *mcp.Tool) (def *tool.Definition, leftOut []string, err error) {
	name := r.config.Name + separator + t.Name
	if why, ok := t.Meta[unusableKey].(string); ok {
		return nil, nil, errors.New(why)
	}
	if t.Name == "" || !tool.ValidName(name) {
		return nil, nil, errors.New("its name is not valid: names have at most 128 characters: letters, digits and _ . -")
	}
	schema, leftOut, err := schemaOf(t.InputSchema)
	if err != nil {
		return nil, nil, err
	}
	def = gostep.GoTool{
		Name:        name,
		DisplayName: plainText(titleOf(t), maxTitle),
		Description: plainText(t.Description, maxDescription),
		Schema:      schema,
		Run:         r.step(t.Name),
	}.Definition()
	def.Scope = tool.ScopeMCP
	return def, leftOut, nil
}

// titleOf returns the title of a tool, "" if it has none.
func titleOf(t *mcp.Tool) string {
	if t.Title == "" && t.Annotations != nil {
		return t.Annotations.Title
	}
	return t.Title
}

// schemaOf reads the schema of a tool's parameters; see dataschema.Foreign.
func schemaOf(input any) (schema *dataschema.Schema, leftOut []string, err error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, nil, fmt.Errorf("its schema cannot be read: %w", err)
	}
	if len(text) > maxSchema {
		return nil, nil, fmt.Errorf("its schema is larger than %d MiB", maxSchema>>20)
	}
	doc := map[string]any{}
	switch string(text) {
	case "null", "[]": // a server that has no schema, or an empty one in a language in which a map can look like a list
	default:
		if err := value.DecodeJSON(string(text), &doc); err != nil {
			return nil, nil, errors.New("its schema is not an object")
		}
	}
	if !isOfObjects(doc["type"]) {
		return nil, nil, errors.New("its schema does not have the type object")
	}
	doc["type"] = "object"
	if err := cleanSchema(doc, 0); err != nil {
		return nil, nil, err
	}
	schema, leftOut, err = dataschema.Foreign(doc)
	if err != nil {
		return nil, nil, fmt.Errorf("its schema is not valid: %s", plainText(err.Error(), maxTitle))
	}
	return schema, leftOut, nil
}

// isOfObjects reports whether objects are among the values of a type in a schema.
func isOfObjects(kind any) bool {
	switch kind := kind.(type) {
	case nil:
		return true
	case string:
		return strings.EqualFold(kind, "object")
	case []any:
		return slices.ContainsFunc(kind, isOfObjects)
	}
	return false
}

// cleanSchema cleans the texts for people in a schema. It returns an error if a name in it has
// characters that cannot be shown, or if it is nested too deeply.
func cleanSchema(v any, depth int) error {
	if depth > maxSchemaDepth {
		return fmt.Errorf("its schema is nested deeper than %d levels", maxSchemaDepth)
	}
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if err := cleanSchema(one, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, one := range v {
			if plainText(key, maxSchema) != key || strings.ContainsAny(key, "\n\t") {
				return errors.New("its schema has a name with characters that cannot be shown")
			}
			if text, ok := one.(string); ok && (key == "description" || key == "title" || key == "$comment") {
				v[key] = plainText(text, maxDescription)
			} else if err := cleanSchema(one, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainText returns a text of a server without characters that are not shown as they are: control
// characters, and those that reverse or hide text. It is cut to most bytes.
func plainText(s string, most int) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c == '\n', c == '\t', c == '\u200c', c == '\u200d': // joiners are part of scripts and symbols
			return c
		case unicode.IsControl(c), unicode.Is(unicode.Cf, c), c == '\u2028', c == '\u2029':
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\ufffd"))
	if len(s) > most {
		s = value.UpTo(int64(most), s) + "..."
	}
	return strings.TrimSpace(s)
}
