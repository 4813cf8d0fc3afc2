package argparse_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse"
)

// Whatever the text is: no panic; either a result or a refusal of at most 2 KB; a result
// written as JSON is read as itself; what is JSON of the declared types is not touched.
func FuzzParse(f *testing.F) {
	for name := range hostileShapes {
		f.Add(hostileText(name, 200))
	}
	for seed := range uint64(200) {
		m, p, st := newCase(seed)
		var b strings.Builder
		st.write(&b, p.value)
		f.Add(m.wrap(unmark(b.String())))
	}
	s := declared(f)
	f.Fuzz(func(t *testing.T, text string) {
		res, ref := argparse.Parse(s, "search", []byte(text))
		if (res == nil) == (ref == nil) {
			t.Fatal("neither or both")
		}
		if ref != nil {
			refusalFits(t, ref, text)
			return
		}
		again, err := json.Marshal(res.Value)
		if err != nil {
			t.Fatal(err)
		}
		second, ref := argparse.Parse(s, "search", again)
		if ref != nil {
			t.Fatalf("%q was read as %s, which is refused: %s", text, again, ref.Message)
		}
		if second.Repaired || !reflect.DeepEqual(second.Value, res.Value) {
			b, _ := json.Marshal(second.Value)
			t.Fatalf("%q was read as %s, and that as %s", text, again, b)
		}
		untouched(t, text, res)
	})
}

// refusalFits holds a refusal against what every refusal has.
func refusalFits(t *testing.T, ref *argparse.Refusal, text string) {
	t.Helper()
	b, err := json.Marshal(ref)
	if err != nil || len(b) > 2048 {
		t.Fatalf("the refusal has %d bytes: %v", len(b), err)
	}
	if ref.Code == "" || ref.Message == "" || ref.Hint == "" || ref.Offset < 0 || ref.Offset > len(text) {
		t.Fatalf("the refusal of %q lacks something: %s", text, b)
	}
}

// untouched holds the reading of plain JSON against encoding/json.
func untouched(t *testing.T, text string, res *argparse.Result) {
	t.Helper()
	var plain map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if !json.Valid([]byte(text)) || d.Decode(&plain) != nil || plain == nil || res.Repaired || len(res.Coercions) > 0 {
		return
	}
	for k, v := range plain {
		if v == nil {
			delete(plain, k)
		}
	}
	if !reflect.DeepEqual(plain, res.Value) {
		b, _ := json.Marshal(res.Value)
		t.Fatalf("%q is JSON and was read as %s", text, b)
	}
}
