package schema_test

import (
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// TestProperty resolves names with a few properties, which are searched, and with many, which have an index.
func TestProperty(t *testing.T) {
	few := &schema.Schema{Properties: []schema.Property{{Name: "fileName"}, {Name: "max_count"}, {Name: "p"}, {Name: "P"}}}
	many := &schema.Schema{Properties: few.Properties}
	for i := range 20 {
		many.Properties = append(many.Properties, schema.Property{Name: fmt.Sprint("x", i)})
	}
	for _, s := range []*schema.Schema{few, many} {
		c := &schema.Call{Root: s}
		for name, want := range map[string]struct {
			i     int
			exact bool
		}{
			"fileName": {0, true}, "File-Name": {0, false}, "file name": {0, false}, "maxCount": {1, false},
			"p": {2, true}, "P": {3, true}, "_p": {-1, false}, "q": {-1, false},
		} {
			if i, exact := c.Property(s, name); i != want.i || exact != want.exact {
				t.Errorf("%s: %d, %v, want %v", name, i, exact, want)
			}
		}
	}
	if i, _ := new(schema.Call).Property(nil, "p"); i >= 0 {
		t.Error("a missing schema declares a name")
	}
}

func TestIsTool(t *testing.T) {
	for name, want := range map[string]bool{"web.search": true, "search": true, "Search": true, "functions.search": false, "find": false} {
		if got := (&schema.Call{Tool: "web.search"}).IsTool(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if (&schema.Call{}).IsTool("") {
		t.Error("a call without a tool has a name")
	}
}

func TestAllows(t *testing.T) {
	for _, c := range []struct {
		s    *schema.Schema
		name string
		want bool
	}{
		{nil, "null", true}, {&schema.Schema{Types: []string{"number"}}, "integer", true},
		{&schema.Schema{Types: []string{"integer"}}, "number", false},
		{&schema.Schema{Enum: []any{"a"}}, "string", true}, {&schema.Schema{Enum: []any{"a"}}, "boolean", false},
		{schema.ArrayOf(nil), "array", true}, {&schema.Schema{Properties: []schema.Property{{Name: "a"}}}, "object", true},
	} {
		if got := c.s.Allows(c.name); got != c.want {
			t.Errorf("%+v allows %s: %v, want %v", c.s, c.name, got, c.want)
		}
	}
}
