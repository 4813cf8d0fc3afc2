package argparse_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/model/argparse"
)

// anything takes every object as it is.
var anything = &argparse.Schema{Types: []string{"object"}, Open: true}

// TestStrictAsEncodingJSON: a valid document means what encoding/json says, to the digit.
func TestStrictAsEncodingJSON(t *testing.T) {
	for seed := range int64(seeds(10_000)) {
		text := (&jsonWriter{rand.New(rand.NewSource(seed))}).object(0)
		got, refusal := argparse.Parse(anything, "", []byte(text))
		if refusal != nil {
			t.Fatalf("seed %d: %s\nrefused: %s: %s", seed, text, refusal.Code, refusal.Message)
		}
		if want := decoded(t, text); got.Repaired || !reflect.DeepEqual(want, got.Value) {
			t.Fatalf("seed %d: %s\nbecame %#v\nwant   %#v\nrepaired = %v", seed, text, got.Value, want, got.Repaired)
		}
	}
}

// TestStrictByteByByte: with some bytes changed, what is still valid means what
// encoding/json says, and what is not is never said to be.
func TestStrictByteByByte(t *testing.T) {
	const edits = "{}[]\",:'\\ \n0a-.e/#`="
	for seed := range int64(seeds(10_000)) {
		r := rand.New(rand.NewSource(seed))
		text := []byte((&jsonWriter{r}).object(2))
		for range 1 + r.Intn(3) {
			text[r.Intn(len(text))] = edits[r.Intn(len(edits))]
		}
		got, refusal := argparse.Parse(anything, "", text)
		valid := json.Valid(text) && utf8.Valid(text) && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
		switch {
		case refusal != nil:
			if valid && refusal.Code != "duplicate-key" && refusal.Code != "encoding" { // a lone surrogate
				t.Fatalf("seed %d: %s\nrefused: %s: %s", seed, text, refusal.Code, refusal.Message)
			}
		case !valid && !got.Repaired:
			t.Fatalf("seed %d: %s\nis not JSON, and was not repaired: %s", seed, text, encode(t, got.Value))
		case valid && (got.Repaired || !reflect.DeepEqual(decoded(t, string(text)), got.Value)):
			t.Fatalf("seed %d: %s\nbecame %s", seed, text, encode(t, got.Value))
		}
	}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// jsonWriter writes random JSON in all the ways JSON may be written.
type jsonWriter struct{ r *rand.Rand }

func (w *jsonWriter) pick(of ...string) string { return of[w.r.Intn(len(of))] }

func (w *jsonWriter) space() string { return w.pick("", "", "", " ", "\n", "\t\r\n  ") }

func (w *jsonWriter) object(depth int) string {
	var members []string
	for i := range w.r.Intn(5) {
		// The number makes the names of an object distinct.
		name := w.text(fmt.Sprintf("k%d", i))
		members = append(members, w.space()+name+w.space()+":"+w.space()+w.value(depth+1)+w.space())
	}
	return "{" + strings.Join(members, ",") + w.space() + "}"
}

func (w *jsonWriter) value(depth int) string {
	kinds := 7
	if depth > 5 {
		kinds = 5
	}
	switch w.r.Intn(kinds) {
	case 0:
		return w.pick("true", "false", "null")
	case 1, 2:
		return w.number()
	case 3, 4:
		return w.text("")
	case 5:
		return w.object(depth)
	}
	var items []string
	for range w.r.Intn(4) {
		items = append(items, w.space()+w.value(depth+1)+w.space())
	}
	return "[" + strings.Join(items, ",") + w.space() + "]"
}

func (w *jsonWriter) number() string {
	n := w.pick("", "-") + w.pick("0", "1", "10", "9007199254740993", fmt.Sprint(w.r.Int63()), strings.Repeat("9", 1+w.r.Intn(40)))
	n += w.pick("", "", ".0", ".10", fmt.Sprintf(".%d", w.r.Intn(1000)))
	return n + w.pick("", "", "e5", "E+10", "e-07", "e999")
}

// text writes a string that begins with head: letters, escapes, and what looks like syntax.
func (w *jsonWriter) text(head string) string {
	var b strings.Builder
	b.WriteString(`"` + head)
	for range w.r.Intn(8) {
		switch w.r.Intn(4) {
		case 0:
			b.WriteString(w.pick(`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\u0000`, `\u00e9`, `\uD83D\uDE00`))
		case 1:
			b.WriteString(w.pick("{", "}", "[", "]", ",", ":", "'", "`", "//", "/*", "#", "...", "</think>", "```", "<tool_call>", "None", "=", "“", "\u2028"))
		case 2:
			if c := rune(0x20 + w.r.Intn(0x3000)); c != '"' && c != '\\' {
				b.WriteRune(c)
			}
		default:
			b.WriteString(w.pick("a", "word", " ", "äöü", "語", "😀"))
		}
	}
	b.WriteString(`"`)
	return b.String()
}
