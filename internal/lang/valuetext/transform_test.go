package valuetext_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

func TestTransforms(t *testing.T) {
	for _, test := range []struct {
		transform string
		in        any
		want      any
	}{
		{"lowercase", "AbÉ", "abé"}, {"uppercase", "ab", "AB"}, {"trim", " a\n", "a"}, {"base64encode", "hi", "aGk="}, {"base64decode", "aGk=", "hi"},
		{"urlencode", "a b/é&+", "a%20b%2F%C3%A9%26%2B"}, {"urldecode", "a%20b+", "a b+"}, {"jsonescaped", "a\"\n<é", `a\"\n<é`},
		{"shellescaped", "it's", `'it'\''s'`}, {"trim:uppercase", " a ", "A"}, {"uppercase", []any{"a", 1}, []any{"A", "1"}}, {"trim", nil, nil},
		{"format(0000)", 5, "0005"}, {"format(0000)", -5, "-0005"}, {"format(D4)", 5, "0005"}, {"format(F2)", 2.345, "2.35"}, {"format(F0)", 2.5, "3"},
		{"format(X)", 255, "FF"}, {"format(x4)", 255, "00ff"}, {"format(#,##0.00)", 1234567.891, "1,234,567.89"}, {"format(N0)", 1234, "1,234"},
		{"format(0.##)", 1.5, "1.5"}, {"format(#.##)", 0.5, ".5"}, {"format(0.0)", "12", "12.0"}, {"format(F2)", json.Number("1e3"), "1000.00"}, {"format(0)", -0.2, "0"},
	} {
		ts, err := valuetext.ParseTransforms(test.transform)
		if err != nil {
			t.Errorf("%s: %v", test.transform, err)
			continue
		}
		got := test.in
		for _, tr := range ts {
			if got, err = tr.Apply(got); err != nil {
				t.Errorf("%s: %v", test.transform, err)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s of %v: %s", test.transform, test.in, diff)
		}
	}
}

func TestTransformErrors(t *testing.T) {
	for _, src := range []string{"value.toUpperCase()", "Math.floor", "nope", "trim:nope"} {
		if _, err := valuetext.ParseTransforms(src); !errors.Is(err, valuetext.ErrJavaScript) {
			t.Errorf("%s: %v", src, err)
		}
	}
	for _, src := range []string{"format()", "format(Q)", "format(0#)", "format(D999)"} {
		if _, err := valuetext.ParseTransforms(src); err == nil || errors.Is(err, valuetext.ErrJavaScript) {
			t.Errorf("%s: %v", src, err)
		}
	}
	for src, in := range map[string]any{"base64decode": "***", "urldecode": "%zz", "format(D2)": 1.5, "format(0)": "x", "format(F2)": "1e999999999"} {
		ts, err := valuetext.ParseTransforms(src)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := ts[0].Apply(in); err == nil || !strings.HasPrefix(err.Error(), "cannot ") {
			t.Errorf("%s of %v: %v, %v", src, in, out, err)
		}
	}
}
