package keytable

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// record is what the tests decode.
type record struct {
	name   string
	count  int
	amount float64
	within time.Duration
	parts  []*record
}

func recordObject() *Object {
	o := NewObject("a record", "", func() []Field {
		return []Field{
			String("name", "", "", func(r *record, s string) { r.name = s }),
			Integer("count", "", 2, 9, "", func(r *record, n int) { r.count = n }),
			Amount("amount", "", 0.5, "", func(r *record, n float64) { r.amount = n }),
			Duration("within", "", "", func(r *record, d time.Duration) { r.within = d }),
		}
	})
	o.Add(func() []Field {
		return []Field{List("parts", "", o, "", func(r *record, _ diagnostic.Pos) *record {
			r.parts = append(r.parts, &record{})
			return r.parts[len(r.parts)-1]
		})}
	})
	return o
}

// decode reads a record. It returns the codes of the problems.
func decode(text string) (r record, problems string) {
	o := recordObject()
	d := &Decoder{Src: diagnostic.NewSource("f.yaml", []byte(text)), Root: o}
	if root := d.Parse(); root != nil && d.Shape(root) {
		d.Object(o, &r, root)
	}
	var codes []string
	for _, one := range d.Found.Sorted() {
		codes = append(codes, one.Code)
	}
	return r, strings.Join(codes, " ")
}

// TestBounds: a bound is part of its range.
func TestBounds(t *testing.T) {
	const ms = time.Millisecond
	for text, want := range map[string]string{
		"count: 2": "2 0 0s", "count: 9": "9 0 0s", "count: 1": "out-of-range", "count: 10": "out-of-range",
		"count: 0x9": "9 0 0s", "count: 99999999999999999999": "integer-range", "count: 2.5": "wrong-type", "count: '2'": "wrong-type",
		"amount: 0.5": "0 0.5 0s", "amount: 1e3": "0 1000 0s", "amount: 0.49": "out-of-range", "amount: -1": "out-of-range",
		"amount: .inf": "out-of-range", "amount: .nan": "out-of-range", "amount: !!float nan": "out-of-range", "amount: !!float inf": "out-of-range", "amount: 1e999": "wrong-type",
		"within: 1": fmt.Sprint("0 0 ", ms), "within: 1ms": fmt.Sprint("0 0 ", ms), "within: 0": "bad-duration", "within: -1": "bad-duration", "within: 999us": "bad-duration",
		"within: 365d": fmt.Sprint("0 0 ", MaxDuration), "within: 31536000000": fmt.Sprint("0 0 ", MaxDuration), "within: 8760h1ms": "bad-duration", "within: 31536000001": "bad-duration",
		"within: 99999999999999999999": "bad-duration", "within: '5'": "bad-duration",
	} {
		r, problems := decode(text)
		got := fmt.Sprint(r.count, " ", r.amount, " ", r.within)
		if problems != "" {
			got = problems
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestDirectives: a directive of YAML 1.2 is read, and is not taken for the error that stands elsewhere.
func TestDirectives(t *testing.T) {
	for text, want := range map[string]string{
		"%YAML 1.2\n---\nname: a\n": "a", "%YAML 1.1\n---\nname: a\n": "a", "# x\n\n%YAML 1.2 # y\n---\nname: a\n": "a", "%TAG ! tag:x,2000:\n%YAML 1.2\n---\nname: a\n": "a",
		"%YAML 1.2\r\n---\r\nname: a\r\n": "a", "name: |\n  %YAML 1.2\n": "%YAML 1.2\n",
		"%YAML 2.0\n---\nname: a\n": "bad-yaml", "%YAML 1.2\n---\nname: [a\n": "unclosed-bracket", "name: %a\n": "reserved-character",
	} {
		r, problems := decode(text)
		if got := cmp.Or(problems, r.name); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestAliases: an entry of a list that an alias refers to is read each time.
func TestAliases(t *testing.T) {
	for _, text := range []string{
		"parts: [&p {name: a, count: 3}, *p]",
		"parts: [&p {name: a, count: 3}, {<<: *p}]",
		"parts:\n- {name: a, count: 3, parts: [&p {name: x, count: 4}]}\n- {name: a, count: 3, parts: [*p]}",
		"parts: &l [{name: a, count: 3}]\n<<: {parts: *l}",
	} {
		r, problems := decode(text)
		if problems != "" || len(r.parts) == 0 {
			t.Errorf("%s: %+v %s", text, r, problems)
		}
		for _, p := range r.parts {
			if p.name != "a" || p.count != 3 {
				t.Errorf("%s: a part is %+v", text, *p)
			}
			for _, inner := range p.parts {
				if inner.name != "x" || inner.count != 4 {
					t.Errorf("%s: a part of a part is %+v", text, *inner)
				}
			}
		}
	}
}
