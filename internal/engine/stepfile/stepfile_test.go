package stepfile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/value"
)

var declared = []Declaration{{Name: "s", Type: "string"}, {Name: "n", Type: "integer", Optional: true}, {Name: "f", Type: "number", Optional: true},
	{Name: "b", Type: "boolean", Optional: true}, {Name: "l", Type: "array", Optional: true}, {Name: "o", Type: "object", Optional: true}, {Name: "x", Optional: true}}

func collect(text string) (map[string]any, error) {
	entries, err := Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	return Collect("$FILE", entries, declared)
}

func TestCollect(t *testing.T) {
	for text, want := range map[string]map[string]any{
		"s=a":                               {"s": "a"},
		"s=a\n":                             {"s": "a"},
		"s=a\r\n\r\n":                       {"s": "a"},
		"s=":                                {"s": ""},
		"s= a = b ":                         {"s": " a = b "},
		"s=a<<b":                            {"s": "a<<b"},
		"s=true":                            {"s": "true"},
		"s={\"a\":1}":                       {"s": `{"a":1}`},
		"s=1\ns=2":                          {"s": "2"},
		"s<<EOF\na\n\nb=1\nEOF\n":           {"s": "a\n\nb=1"},
		"s<<EOF\nEOF":                       {"s": ""},
		"s<< E \r\na\r\nE\r\n":              {"s": "a"},
		"\uFEFFs=a":                         {"s": "a"},
		"s=a\nn=-3":                         {"s": "a", "n": json.Number("-3")},
		"s=a\nn= 3 ":                        {"s": "a", "n": json.Number("3")},
		"s=a\nn=3.0\nf=1e3":                 {"s": "a", "n": json.Number("3"), "f": json.Number("1e3")},
		"s=a\nb=true\nl=[1]\no={\"a\":1}":   {"s": "a", "b": true, "l": []any{json.Number("1")}, "o": map[string]any{"a": json.Number("1")}},
		"s=a\no<<E\n{\"a\":\n1}\nE":         {"s": "a", "o": map[string]any{"a": json.Number("1")}},
		"s=\ufeffa\nl=\ufeff[1]":            {"s": "\ufeffa", "l": []any{json.Number("1")}},
		`{"s": "a", "n": 9007199254740993}`: {"s": "a", "n": json.Number("9007199254740993")},
		"{\n\"s\": \"a\"\n}\nb=true\n":      {"s": "a", "b": true},
		"  {\"s\":\"a\"}\n{\"s\":\"b\"}":    {"s": "b"},
		"s=a\nn=1\n{\"n\":null}":            {"s": "a"},
		"s=a\nx=1":                          {"s": "a", "x": "1"},
		"{\"s\":\"a\",\"x\":1}":             {"s": "a", "x": json.Number("1")},
	} {
		got, err := collect(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestCollectErrors(t *testing.T) {
	long := strings.Repeat("x", 50)
	for text, want := range map[string]string{
		"":                               "s is missing in $FILE",
		"n=1":                            "s is missing in $FILE",
		"{\"s\":null}":                   "s is missing in $FILE",
		"s=a\nversion=1":                 `line 2 of $FILE: "version" is not declared; the declared names are s, n, f, b, l, o, x`,
		"s=a\nn=many":                    `line 2 of $FILE: n: expected an integer, got "many"`,
		"s=a\nn=1.5":                     `line 2 of $FILE: n: expected an integer, got "1.5"`,
		"s=a\nn=":                        `line 2 of $FILE: n: expected an integer, got ""`,
		"s=a\nn=1 2":                     `line 2 of $FILE: n: expected an integer, got "1 2"`,
		"s=a\nn=" + long:                 "line 2 of $FILE: n: expected an integer, got a text of 50 characters",
		"s=a\nb=yes":                     `line 2 of $FILE: b: expected a boolean, got "yes"; write true or false`,
		"s=a\nl={}":                      `line 2 of $FILE: l: expected an array, got "{}"; write JSON, such as ["a", "b"]`,
		"s=a\no=[":                       `line 2 of $FILE: o: expected an object, got "["; write JSON, such as {"a": 1}`,
		"{\"s\": 1}":                     "line 1 of $FILE: s: expected a string, got a number",
		"{\n\"s\":\"a\",\n\"n\": \"3\"}": `line 3 of $FILE: n: expected an integer, got "3"`,
		"s=a\n{\"f\": [1]}":              "line 2 of $FILE: f: expected a number, got an array",
		"s":                              "line 1: expected NAME=value, NAME<<EOF or a JSON object",
		"s=a\n# done":                    "line 2: expected NAME=value, NAME<<EOF or a JSON object",
		"a b=1":                          `line 1: "a b" is not a name; a name consists of letters, digits, _ and -, and no spaces stand around it`,
		"s =1":                           `line 1: "s " is not a name; a name consists of letters, digits, _ and -, and no spaces stand around it`,
		"=1":                             `line 1: "" is not a name; a name consists of letters, digits, _ and -, and no spaces stand around it`,
		"s<<\na":                         "line 1: expected a word after <<, as in NAME<<EOF; the value ends at the line with this word",
		"\ns<<EOF\na":                    `line 2: the value is not ended: no line consists of "EOF"`,
		"{\"s\":\"a\"":                   "line 1: invalid JSON: the object has no end",
		"{\"s\":\n tru}":                 "line 1: invalid JSON",
		"{\"s\":\"a\"} n=1":              "line 1: expected the end of the line after a JSON object",
		"{\"a b\": 1}":                   `line 1: "a b" is not a name; a name consists of letters, digits, _ and -, and no spaces stand around it`,
		"s=a\x00b":                       "line 1: the line has a NUL byte; write text, for example in base64",
		"s=a\nx=\xff":                    "line 2: the line is not UTF-8; write text, for example in base64",
		"\xff\xfes\x00":                  "line 1: the file is UTF-16; write UTF-8, in PowerShell with Add-Content -Encoding utf8",
		strings.Repeat("x", 1<<20+1):     "the file has more than 1048576 bytes; write large data to a file of its own, and its path here",
	} {
		if _, err := collect(text); err == nil || err.Error() != want {
			t.Errorf("%.40q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// Parse and Collect do not panic, and what they accept has the declared types.
func FuzzCollect(f *testing.F) {
	for _, text := range []string{"s=a\nn=1", "s<<E\na\nE", `{"s":"a","l":[1]}`, "{", "=", "s=\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := collect(text)
		if err != nil {
			return
		}
		for _, d := range declared {
			if v, ok := values[d.Name]; ok && value.OfType(d.Type, v) == nil {
				t.Errorf("%s is %T", d.Name, v)
			}
		}
	})
}
