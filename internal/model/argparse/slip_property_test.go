package argparse_test

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"
)

// TestOneSlip checks that JSON with one missing or additional syntax character is the same
// call or refused.
func TestOneSlip(t *testing.T) {
	schema := letter(t)
	accepted := 0
	rounds := int(seeds(10_000))
	for seed := range int64(rounds) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: hostileWords}
		args := w.arguments()
		form, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		text := w.slip(string(form))
		if got, refusal := parse(t, schema, "send_letter", text); refusal == nil {
			same(t, seed, text, got, args)
			accepted++
		}
	}
	t.Logf("%d of %d were read", accepted, rounds)
}

// slip removes one character of the syntax, or inserts one where a token is allowed.
func (w *sloppyWriter) slip(text string) string {
	signs := syntax(text)
	at := signs[w.Intn(len(signs))]
	if w.Intn(2) == 0 {
		return text[:at] + text[at+1:]
	}
	if text[at] == '\\' || text[at] == '"' {
		return text // a quote too many is a quote of the text
	}
	sign := w.pick("{", "}", "[", "]", ",", ":", "(", ")")
	return text[:at] + sign + text[at:]
}

// syntax lists the offsets of brackets, separators, quotes around texts, and backslashes
// before quotes inside them.
func syntax(text string) []int {
	var at []int
	inText := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inText = !inText
			at = append(at, i)
		case inText && c == '\\':
			if text[i+1] == '"' {
				at = append(at, i)
			}
			i++
		case !inText && strings.IndexByte("{}[]:,", c) >= 0:
			at = append(at, i)
		}
	}
	return at
}
