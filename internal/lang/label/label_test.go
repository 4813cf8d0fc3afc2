package label_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/label"
)

// TestCheck holds which labels are valid.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, value string
		valid       bool
	}{
		{"team", "ops", true},
		{"example.com/cost-center_2", "Zürich 4711, a/b:c@d+e=f.g_h-i", true},
		{strings.Repeat("n", 63), strings.Repeat("v", 100), true},
		{"", "ops", false},
		{"Team", "ops", false},
		{"1team", "ops", false},
		{"te am", "ops", false},
		{"team=", "ops", false},
		{strings.Repeat("n", 64), "ops", false},
		{"team", "", false},
		{"team", " ops", false},
		{"team", "{TEAM}", false},
		{"team", "a\nb", false},
		{"team", "a\x1b[0m", false},
		{"team", "caf\xe9", false},
		{"team", `"`, false},
		{"team", strings.Repeat("v", 101), false},
	} {
		if err := label.Check(c.name, c.value); (err == nil) != c.valid {
			t.Errorf("%q=%q: %v", c.name, c.value, err)
		}
	}
}

// TestParse holds how labels are written.
func TestParse(t *testing.T) {
	many := make([]string, label.Max)
	for i := range many {
		many[i] = fmt.Sprintf("l%d=x", i)
	}
	for _, c := range []struct {
		words []string
		want  map[string]string
		err   string
	}{
		{nil, nil, ""},
		{[]string{"team=ops", "a=b=c"}, map[string]string{"team": "ops", "a": "b=c"}, ""},
		{[]string{"team=ops", "team=dev"}, map[string]string{"team": "dev"}, ""},
		{[]string{"team"}, nil, `"team" is not a label: write it as NAME=VALUE`},
		{[]string{"team="}, nil, "the label team has no value"},
		{[]string{"=ops"}, nil, `"" cannot be the name of a label`},
		{append(many, "more=x"), nil, "17 labels are too many: at most 16 are allowed"},
	} {
		got, err := label.Parse(c.words)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%q: %v, want %s", c.words, err, c.err)
			}
		} else if err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%q: %v %v", c.words, got, err)
		}
	}
	if _, err := label.Parse(many); err != nil {
		t.Error(err)
	}
	if got := label.Listed(map[string]string{"team": "ops", "env": "prod"}); got != "env=prod team=ops" {
		t.Error(got)
	}
}
