package argparse_test

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

// TestTwoCallsNeverRun: of two different calls none is run, whatever is around them.
func TestTwoCallsNeverRun(t *testing.T) {
	schema := letter(t)
	for seed := range int64(seeds(5_000)) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: tame}
		if seed%2 == 1 {
			w.words = hostileWords
		}
		one, two := w.arguments(), w.arguments()
		if reflect.DeepEqual(one, two) {
			continue
		}
		text := w.form(one) + w.pick("\n", " ", "\n\nor\n\n", ", ", "; ") + w.form(two)
		if got, refusal := parse(t, schema, "send_letter", text); refusal == nil {
			t.Fatalf("seed %d: %s\nbecame %s", seed, text, encode(t, got.Value))
		}
	}
}

// form writes a call so that a second one cannot be taken for a part of it.
func (w *sloppyWriter) form(args map[string]any) string {
	if w.Intn(4) == 0 {
		return w.tagged(args)
	}
	text := w.wrapped(w.object(args))
	if strings.HasPrefix(text, "<think>") { // would make the first call a thought
		_, text, _ = strings.Cut(text, "</think>")
	}
	return text
}

// TestAnotherToolNeverRuns: a call that names another tool is refused.
func TestAnotherToolNeverRuns(t *testing.T) {
	schema := letter(t)
	for seed := range int64(seeds(5_000)) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: hostileWords}
		args := w.arguments()
		text := w.named(args)
		other := strings.ReplaceAll(text, "send_letter", w.pick("delete", "send_letters", "send", "letter", "mail.send_letter2"))
		if got, refusal := parse(t, schema, "send_letter", other); refusal == nil {
			t.Fatalf("seed %d: %s\nbecame %s", seed, other, encode(t, got.Value))
		}
		if got, refusal := parse(t, schema, "send_letter", text); refusal == nil {
			same(t, seed, text, got, args)
		}
	}
}

// named writes a call that names its tool.
func (w *sloppyWriter) named(args map[string]any) string {
	object := w.object(args)
	inString, _ := json.Marshal(object)
	var text string
	switch w.Intn(9) {
	case 0:
		text = `{"name": "send_letter", "arguments": ` + object + `}`
	case 1:
		text = `{'name': 'send_letter', 'parameters': ` + string(inString) + `}`
	case 2:
		text = `{"function": {"name": "send_letter", "arguments": ` + string(inString) + `}}`
	case 3:
		text = `{tool: send_letter, parameters: ` + object + `}`
	case 4:
		text = `{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "send_letter", "arguments": ` + string(inString) + `}}]}`
	case 5:
		text = "<function=send_letter>" + object + "</function>"
	case 6:
		text = w.pick("", "functions.") + "send_letter(" + object + ")"
	case 7:
		text = w.tagged(args)
	default:
		text = `execute_tool("send_letter", ` + object + ")"
	}
	switch w.Intn(6) {
	case 0:
		return "```json\n" + text + "\n```"
	case 1:
		return "I'll do it.\n" + text + "\nDone."
	case 2:
		return "<tool_call>\n" + text + "\n</tool_call>"
	}
	return text
}

// TestCallForm: keyword arguments in parentheses, whole and cut off.
func TestCallForm(t *testing.T) {
	schema := letter(t)
	for seed := range int64(seeds(5_000)) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: hostileWords, unescaped: seed%4 == 1}
		args := w.arguments()
		object := w.object(args)
		text := "send_letter(" + object[1:len(object)-1] + ")"
		if seed%2 == 1 {
			text = text[:1+w.Intn(len(text))]
		}
		if got, refusal := parse(t, schema, "send_letter", text); refusal == nil {
			same(t, seed, text, got, args)
		}
	}
}

// TestLines: arguments on lines of their own, texts quoted, bare or in a block.
func TestLines(t *testing.T) {
	schema := letter(t)
	accepted := 0
	rounds := int(seeds(5_000))
	for seed := range int64(rounds) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: hostileWords}
		args := w.arguments()
		text := w.lines(args)
		if got, refusal := parse(t, schema, "send_letter", text); refusal == nil {
			same(t, seed, text, got, args)
			accepted++
		}
	}
	t.Logf("%d of %d were read", accepted, rounds)
}

func (w *sloppyWriter) lines(args map[string]any) string {
	var b strings.Builder
	for _, name := range order {
		v, ok := args[name]
		if !ok {
			continue
		}
		text, isText := v.(string)
		switch {
		case isText && w.Intn(3) == 0 && plainLine(text):
			b.WriteString(name + ": " + text + "\n")
		case isText && w.Intn(2) == 0 && blockLine(text):
			text += "\n"
			args[name] = text // a block ends with its last newline
			b.WriteString(name + ": |\n  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n")
		case isText:
			strict, _ := json.Marshal(text)
			b.WriteString(name + ": " + string(strict) + "\n")
		default:
			b.WriteString(name + ": " + w.strict(v) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n") + "\n"
}

func (w *sloppyWriter) strict(v any) string {
	form, _ := json.Marshal(v)
	return string(form)
}

// plainLine reports whether a text can be unquoted on a line: what begins or ends like
// something else, or holds an escape, is none of a writer's plain lines.
func plainLine(text string) bool {
	return text == strings.Trim(strings.TrimSpace(text), "\u200b\u00a0") && !strings.ContainsAny(text, "\n\t\\") && strings.IndexAny(text, "\"'`“”’‘[{(|>-#=:&*!%@…") != 0 &&
		!strings.Contains(text, " #") && !strings.Contains(text, "//") && !strings.Contains(text, "/*") &&
		text != "null" && text != "None" && text != "..." && !strings.HasSuffix(text, ",")
}

func blockLine(text string) bool {
	return text == strings.TrimSpace(text) && !strings.Contains(text, "\n\n")
}
