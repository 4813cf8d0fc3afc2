package node_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
)

// value returns what a node of strict JSON stands for.
func value(n *node.Node) any {
	switch n.Kind {
	case node.Array:
		list := []any{}
		for i := range n.Children {
			list = append(list, value(&n.Children[i]))
		}
		return list
	case node.Object:
		m := map[string]any{}
		for i := range n.Children {
			m[n.Children[i].Name] = value(&n.Children[i])
		}
		return m
	}
	return node.Scalar(n)
}

// TestReadJSON holds the reader against encoding/json.
func TestReadJSON(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `{"a": [1, -0.5e+3, true, false, null, "x"]}`, `"\u00e9\ud83d\ude00\n\/"`, `  {"a":{"b":[[]]}}`, `0`, `"a\"b\\c"`,
		`{"a" 1}`, `{"a":}`, `[1,]`, `[1 2]`, `{'a': 1}`, `01`, `1.`, `"a`, `"\x41"`, `"\ud83d"`, "\"a\nb\"", `tru`, ``, `[`, `{"a":1`,
		strings.Repeat("[", 201) + strings.Repeat("]", 201),
	} {
		n, end, code, ok := node.ReadJSON(node.Source{Text: text}, 0)
		var want any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		valid := json.Valid([]byte(text)) && code == ""
		if err := d.Decode(&want); ok && end == len(text) != valid || valid && (err != nil || !reflect.DeepEqual(value(&n), want)) {
			t.Errorf("%s: %v up to %d, %#v, want %v, %#v", text, ok, end, value(&n), valid, want)
		}
	}
}

// TestOffsets: offsets are in the input, also those of a text inside a string.
func TestOffsets(t *testing.T) {
	n, _, _, ok := node.ReadJSON(node.Source{Text: `{"a": ["{\"b\": 5}", "{}"]}`, Base: 100}, 0)
	if !ok || n.Off != 100 || n.Children[0].NameOff != 101 {
		t.Fatalf("%+v", n)
	}
	escaped, exact := n.Children[0].Children[0], n.Children[0].Children[1]
	in, plain := escaped.Inner(), exact.Inner()
	if in.At(0) != 107 || in.At(5) != 107 || plain.At(0) != 122 || plain.At(1) != 123 {
		t.Errorf("%d %d, %d %d", in.At(0), in.At(5), plain.At(0), plain.At(1))
	}
}

func TestIntegral(t *testing.T) {
	for text, want := range map[string]bool{
		"10": true, "-10.0": true, "1e3": true, "1.5e1": true, "1.55e1": false, "100e-2": true, "105e-2": false, "0.0e-5": true, "0.5": false,
		"0.5e-1": false, "1e99999999999999999999": false, "0.10e1": true,
	} {
		if got := node.Integral(text); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if !node.SameNumber("1.50e1", "15") || node.SameNumber("1.5", "15") || node.SameNumber("-1", "1") || !node.SameNumber("-0", "0.0") {
		t.Error("numbers are compared by their text")
	}
}

// TestEqual: numbers are equal if they are written alike, and an object with repeated names is equal to nothing.
func TestEqual(t *testing.T) {
	read := func(text string) *node.Node {
		n, _, _, _ := node.ReadJSON(node.Source{Text: text}, 0)
		return &n
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[2]}`, `{"b": [2], "a": 1}`, true}, {`1`, `1.0`, false}, {`"1"`, `1`, false}, {`{"a":1,"a":1}`, `{"a":1,"a":1}`, false},
		{`null`, `"null"`, false}, {`[]`, `{}`, false},
	} {
		if got := node.Equal(read(c.a), read(c.b)); got != c.want {
			t.Errorf("%s and %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
