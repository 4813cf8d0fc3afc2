package argparse_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/model/argparse"
)

// letter returns the parameters of the malformed calls in this file.
func letter(t *testing.T) *argparse.Schema {
	t.Helper()
	s, err := argparse.ReadParameters([]byte(`{"to":{"type":"string"},"body":{"type":"string"},"copies":{"type":"integer"},
		"urgent":{"type":"boolean"},"cc":{"type":"array","items":{"type":"string"}},
		"opts":{"type":"object","properties":{"weight":{"type":"number"},"note":{"type":"string"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSloppyTame: tame values in every sloppy form that is clear are the values.
func TestSloppyTame(t *testing.T) {
	schema := letter(t)
	for seed := range int64(seeds(5_000)) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: tame}
		args := w.arguments()
		text := w.wrapped(w.object(args))
		got, refusal := parse(t, schema, "send_letter", text)
		if refusal != nil {
			t.Fatalf("seed %d: %s\nrefused: %s: %s", seed, text, refusal.Code, refusal.Message)
		}
		same(t, seed, text, got, args)
	}
}

// TestSloppyHostile: hostile values, quotes that are not escaped, bare text: the values
// or a refusal, never a third result.
func TestSloppyHostile(t *testing.T) {
	schema := letter(t)
	accepted := 0
	rounds := int(seeds(5_000))
	for seed := range int64(rounds) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: hostileWords, unescaped: seed%2 == 1}
		args := w.arguments()
		text := w.wrapped(w.object(args))
		if got, refusal := parse(t, schema, "send_letter", text); refusal == nil {
			same(t, seed, text, got, args)
			accepted++
		}
	}
	t.Logf("%d of %d were read", accepted, rounds)
	if accepted < rounds/4 {
		t.Errorf("%d of %d were read: too much is refused", accepted, rounds)
	}
}

// TestSloppyCutOff: a call that is cut off is the call or a refusal.
func TestSloppyCutOff(t *testing.T) {
	schema := letter(t)
	for seed := range int64(seeds(5_000)) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: hostileWords, unescaped: seed%2 == 1}
		args := w.arguments()
		text := w.wrapped(w.object(args))
		text = text[:1+w.Intn(len(text))]
		if got, refusal := parse(t, schema, "send_letter", text); refusal == nil {
			if len(got.Value) == 0 && strings.TrimSpace(text) == "" {
				continue // nothing was sent yet
			}
			if w.unescaped && endsTwice(text, got.Value, args) {
				continue // what was sent is a call by itself
			}
			same(t, seed, text, got, args)
		}
	}
}

// endsTwice reports whether a text of the arguments has a quote and a bracket in it, at which what was sent ends.
func endsTwice(sent string, got, args map[string]any) bool {
	for name := range got {
		short, _ := got[name].(string)
		whole, _ := args[name].(string)
		rest, cut := strings.CutPrefix(whole, short)
		if cut && len(rest) > 1 && strings.ContainsRune(`"'`, rune(rest[0])) && rest[1] == '}' && strings.HasSuffix(sent, short+rest[:2]) {
			return true
		}
	}
	return false
}

// TestTruncatedCode checks that truncated JSON has the code truncated, so that the model
// sends the whole call again.
func TestTruncatedCode(t *testing.T) {
	schema := letter(t)
	for seed := range int64(seeds(5_000)) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: hostileWords}
		args := w.arguments()
		form, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		text := w.pick("", "", "Here it is:\n", `{"name": "send_letter", "arguments": `) + string(form)
		text = text[:len(text)-len(form)+1+w.Intn(len(form)-1)]
		if !utf8.ValidString(text) {
			continue
		}
		if got, refusal := parse(t, schema, "send_letter", text); refusal == nil {
			t.Fatalf("seed %d: %s\nbecame %s", seed, text, encode(t, got.Value))
		} else if refusal.Code != "truncated" {
			t.Fatalf("seed %d: %s\nrefused: %s: %s, want truncated", seed, text, refusal.Code, refusal.Message)
		}
	}
}

// TestTagged: raw values in tags, hostile and cut off.
func TestTagged(t *testing.T) {
	schema := letter(t)
	for seed := range int64(seeds(5_000)) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: hostileWords}
		args := w.arguments()
		text := w.tagged(args)
		if seed%2 == 1 {
			text = text[:1+w.Intn(len(text))]
		}
		if got, refusal := parse(t, schema, "send_letter", text); refusal == nil {
			same(t, seed, text, got, args)
		}
	}
}

func same(t *testing.T, seed int64, text string, got *argparse.Result, args map[string]any) {
	t.Helper()
	if !reflect.DeepEqual(got.Value, args) {
		t.Fatalf("seed %d: %s\nbecame %s\nwant   %s", seed, text, encode(t, got.Value), encode(t, args))
	}
}

var tame = []string{"cats", "two words", "it is late", "Größe", "東京", "a-b", "x.y", "7 days", "true", "v1.10"}

// hostileWords hold all syntax but a declared name with a separator: whoever leaves the
// quotes away around those has written another call.
var hostileWords = append([]string{
	`"`, `"a"`, `a "b" c`, `it's`, `'x'`, "`", "“q”", "’", `\`, `\n`, `\d`, `C:\new`, "\n", "\t", "{", "}", "[", "]", "(", ")", "{a: 1}", `{"k": "v"}`,
	"a, b", ", x: 1", "=", ":", "//", "/* c */", "# x", "...", "…", "</think>", "<think>", "```", "```json\n{\"to\": \"evil\"}\n```",
	"<tool_call>", "</tool_call>", "</parameter>", "</function>", "<parameter=to>evil</parameter>", "null", "None", "10", "007", "1,5", "f(x)", "${x}", `"}`, `'}`, `"]`, `","`, `", "`, "', '",
	"—", "😀", "\u200b", "\u00a0", "“", "”", "<b>", "&quot;", "%", "@", ";", "--", "|", "- x", "to", "body",
}, tame...)

// sloppyWriter writes arguments as a careless model does.
type sloppyWriter struct {
	*rand.Rand
	words     []string
	unescaped bool // quotes in texts are not escaped; texts may be bare
}

func (w *sloppyWriter) pick(of ...string) string { return of[w.Intn(len(of))] }

func (w *sloppyWriter) text() string {
	var parts []string
	for range 1 + w.Intn(3) {
		parts = append(parts, w.words[w.Intn(len(w.words))])
	}
	return strings.Join(parts, " ")
}

// arguments draws a call: one argument at least.
func (w *sloppyWriter) arguments() map[string]any {
	all := map[string]any{
		"to":     w.text(),
		"body":   w.text(),
		"copies": json.Number(w.pick("0", "1", "12", "9007199254740993")),
		"urgent": w.Intn(2) == 0,
		"cc":     []any{w.text(), w.text()},
		"opts":   map[string]any{"weight": json.Number(w.pick("1.10", "-5", "2e3")), "note": w.text()},
	}
	args := map[string]any{}
	for len(args) == 0 {
		for _, name := range order {
			if v, ok := all[name]; ok && w.Intn(2) == 0 {
				args[name] = v
			}
		}
	}
	return args
}

func (w *sloppyWriter) space() string { return w.pick("", " ", " ", "\n  ") }

func (w *sloppyWriter) gap() string {
	return w.pick("", " ", " ", "\n", "\n", " /* c */ ", " // c\n", " # it's\n")
}

var order = []string{"to", "body", "copies", "urgent", "cc", "opts", "weight", "note"}

func (w *sloppyWriter) object(args map[string]any) string {
	var b strings.Builder
	b.WriteString("{" + w.space())
	separator := w.pick(":", ": ", "=", " = ", " => ")
	first := true
	for _, name := range order {
		v, ok := args[name]
		if !ok {
			continue
		}
		if !first {
			b.WriteString("," + w.gap())
		}
		first = false
		b.WriteString(w.pick(`"`+name+`"`, `'`+name+`'`, name, "“"+name+"”") + separator + w.value(v))
	}
	b.WriteString(w.pick("", "", ",") + w.space() + "}")
	return b.String()
}

func (w *sloppyWriter) value(v any) string {
	switch v := v.(type) {
	case string:
		return w.quoted(v)
	case bool:
		if v {
			return w.pick("true", "True", "TRUE", `"yes"`, "1")
		}
		return w.pick("false", "False", "FALSE", `"no"`, "0")
	case json.Number:
		return w.pick(string(v), `"`+string(v)+`"`, "'"+string(v)+"'")
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, w.item(item.(string)))
		}
		list := strings.Join(items, ","+w.space()) + w.pick("", ",")
		return w.pick("["+list+"]", "("+list+")")
	case map[string]any:
		return w.object(v)
	}
	panic(fmt.Sprintf("%T", v))
}

// item writes a text in a list: one that holds what separates texts there is escaped.
func (w *sloppyWriter) item(text string) string {
	if strings.ContainsAny(text, "'\"“”") && strings.Contains(text, ",") {
		strict, _ := json.Marshal(text)
		return string(strict)
	}
	return w.quoted(text)
}

func (w *sloppyWriter) quoted(text string) string {
	if w.unescaped && !strings.Contains(text, `\`) && w.Intn(2) == 0 {
		return w.pick(`"`+text+`"`, `'`+text+`'`, "“"+text+"”")
	}
	strict, _ := json.Marshal(text)
	single := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", "\t").Replace(text)
	if w.Intn(2) == 0 {
		return string(strict)
	}
	return "'" + single + "'"
}

// wrapped puts around an object what models put around it.
func (w *sloppyWriter) wrapped(object string) string {
	inString, _ := json.Marshal(object)
	switch w.Intn(12) {
	case 0:
		return "```json\n" + object + "\n```"
	case 1:
		return "Let's send it:\n" + object
	case 2:
		return object + "\n\nThat's it."
	case 3:
		return `<think>Not {"to": "evil"}.</think>` + object
	case 4:
		return `<tool_call>{"name": "send_letter", "arguments": ` + object + `}</tool_call>`
	case 5:
		return "<function=send_letter>" + object + "</function>"
	case 6:
		return "send_letter(" + object + ")"
	case 7:
		return `{"name": "send_letter", "arguments": ` + string(inString) + `}`
	case 8:
		return string(inString)
	case 9:
		return "I call it.\n```\n" + object + "\n```\nDone."
	}
	return object
}

// tagged writes every value in a tag of its own, raw.
func (w *sloppyWriter) tagged(args map[string]any) string {
	var b strings.Builder
	b.WriteString("<function=send_letter>\n")
	for _, name := range order {
		v, ok := args[name]
		if !ok {
			continue
		}
		raw, isText := v.(string)
		if !isText {
			raw = w.value(v)
		}
		line := w.pick("", "\n")
		if strings.HasPrefix(raw, "\n") || strings.HasSuffix(raw, "\n") {
			line = "\n" // the tag would take a newline of the text
		}
		b.WriteString("<parameter=" + name + ">" + line + raw + line + "</parameter>\n")
	}
	b.WriteString("</function>")
	return b.String()
}
