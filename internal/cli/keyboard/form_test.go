package keyboard

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
)

func formOf(t *testing.T, schema string) *dataschema.Form {
	t.Helper()
	f, err := dataschema.ParseForm([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFieldValue: an answer can be one of the choices or its number, unless that number is a choice itself.
func TestFieldValue(t *testing.T) {
	f := formOf(t, `{"properties": {"size": {"enum": ["small", "large"]}, "year": {"enum": ["2", "1"]}, "count": {"enum": [10, 20]}, "sure": {"type": "boolean"}, "text": {"type": "string"}}}`)
	for _, c := range []struct {
		field, answer string
		want          any
	}{
		{"size", "large", "large"}, {"size", "1", "small"}, {"size", "2", "large"}, {"size", "0", "0"}, {"size", "3", "3"}, {"size", "huge", "huge"},
		{"year", "1", "1"}, {"count", "20", "20"}, {"count", "1", "10"}, {"sure", "1", "1"}, {"text", "1", "1"},
	} {
		if got := fieldValue(f.Field(c.field), c.answer); got != c.want {
			t.Errorf("%s, %s: got %v, want %v", c.field, c.answer, got, c.want)
		}
	}
}

// TestDescribeField: what a person reads before they are asked for a field.
func TestDescribeField(t *testing.T) {
	f := formOf(t, `{"properties": {
		"name": {"type": "string", "title": "Name", "description": "Yours."},
		"size": {"enum": ["small", "large"]},
		"sure": {"type": "boolean"},
		"count": {"type": "integer", "description": "a\u001b[2Jb"},
		"lines": {"type": "array"}}, "required": ["name", "sure"]}`)
	var out strings.Builder
	for i := range f.Fields {
		describeField(&out, &f.Fields[i])
	}
	want := "name (text): Name. Yours.\nsize (text, optional)\n  1) small\n  2) large\nsure (yes or no)\n  1) true\n  2) false\n"
	if !strings.HasPrefix(out.String(), want) || strings.Contains(out.String(), "\x1b") || !strings.HasSuffix(out.String(), "lines (a list: one value, or JSON, optional)\n") {
		t.Errorf("got\n%s", out.String())
	}
}

// TestFieldProblem: the reason why a value of a field is invalid, without those of other fields.
func TestFieldProblem(t *testing.T) {
	q := history.Question{Form: formOf(t, `{"properties": {"count": {"type": "integer", "minimum": 1}, "lines": {"type": "array", "items": {"type": "integer"}}, "line": {"type": "string"}}, "required": ["line"]}`)}
	f := &Form{question: q, Values: map[string]any{}}
	got := map[string]string{}
	for name, answer := range map[string]string{"count": "0", "lines": `["a"]`} {
		got[name] = f.fieldProblem(q.Form.Field(name), answer)
	}
	for name, problem := range got {
		if problem == "" || problem == "this value is not allowed" || strings.Contains(problem, "required") {
			t.Errorf("%s: %q", name, problem)
		}
	}
	if diff := cmp.Diff(map[string]any{}, f.Values); diff != "" {
		t.Error(diff)
	}
}

// TestInsideField: the path of a problem belongs to a field if it begins with all of its name.
func TestInsideField(t *testing.T) {
	for path, want := range map[string]bool{"line": true, "line.a": true, "line[0]": true, "lines": false, "lin": false, "": false} {
		if got := insideField(path, "line"); got != want {
			t.Errorf("%q: got %v", path, got)
		}
	}
}
