package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Document is the object in a --params file.
type Document struct {
	Values  map[string]any
	written map[string]keytable.Value // the values with their locations
}

// ReadDocument reads the --params file, which must hold one JSON or YAML object. "-" means stdin,
// and "" an empty object. takesText reports whether what has the name takes text only: 3.10 in YAML is then this text.
func ReadDocument(env *ui.Env, name string, takesText func(name string) bool) (Document, error) {
	if name == "" {
		return Document{Values: map[string]any{}}, nil
	}
	var text []byte
	var err error
	if name == "-" {
		name = "stdin"
		text, err = io.ReadAll(env.Stdin)
	} else {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // without the name of the file
		}
		return Document{}, fmt.Errorf("cannot read %q: %w", name, err)
	}
	return parseDocument(name, text, takesText)
}

func parseDocument(name string, text []byte, takesText func(string) bool) (Document, error) {
	text = diagnostic.WithoutMark(text)
	if isJSON(name, text) {
		var v any
		if wrong, ok := errors.AsType[*value.JSONError](value.StrictJSON(text, &v)); ok {
			wrong.Pos.File = name
			return Document{}, fmt.Errorf("cannot read %s: %w", wrong.Pos, wrong.Err)
		}
	}
	v, found := keytable.DecodeData(name, text)
	for _, problem := range found {
		if problem.Severity == diagnostic.Error {
			return Document{}, fmt.Errorf("cannot read %s: %s", problem.Pos, problem.Message)
		}
	}
	if v.Map == nil {
		return Document{}, fmt.Errorf("cannot read %s: expected an object, got %s", v.Pos, kind(v))
	}
	d := Document{Values: map[string]any{}, written: map[string]keytable.Value{}}
	for _, e := range v.Map {
		d.written[e.Key] = e.Value
		if takesText(e.Key) {
			e.Value = e.Value.AsText()
		}
		d.Values[e.Key] = e.Value.Data()
	}
	if json.Valid(text) {
		return d, ui.DecodeJSON(text, &d.Values)
	}
	return d, nil
}

// isJSON reports whether errors in a file should be explained as errors in JSON.
func isJSON(name string, text []byte) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return true
	case ".yaml", ".yml":
		return false
	}
	inner, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimSpace(inner), []byte(`"`))
}

func kind(v keytable.Value) string {
	switch {
	case v.List != nil:
		return "a list"
	case v.Scalar == nil:
		return "nothing"
	case v.Text != nil:
		return "text"
	}
	return v.Written()
}
