package argparse_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/argparse"
)

// hostileShapes are texts that make careless parsers slow: a start, a repeated part, an end.
var hostileShapes = map[string][3]string{
	"brackets":           {"", "[", ""},
	"braces":             {"", "{", ""},
	"braces in prose":    {"so ", "{ ", ""},
	"double quotes":      {`{"text": "`, `"`, `"}`},
	"single quotes":      {`{'text': '`, `'`, `'}`},
	"quotes alone":       {"", `"`, ""},
	"quotes and words":   {`{"text": "`, `"a `, `"}`},
	"quotes and commas":  {`{"text": "`, `a", `, `"}`},
	"quotes and closers": {`{"text": "`, `a"}`, `"}`},
	"quotes and colons":  {`{"text": "`, `"x": `, `"}`},
	"pairs of quotes":    {`{"text": "`, `say "x" `, `"}`},
	"comments":           {`{"text": "`, `"/*`, `"}`},
	"line comments":      {`{"text": "`, `"//`, `"}`},
	"comments at places": {"{", "/**/", "p: 1}"},
	"hashes":             {"{", "#\n", "p: 1}"},
	"blanks":             {`{"text": "`, `"                `, `"}`},
	"backslashes":        {`{"text": "`, `\`, `"}`},
	"odd escapes":        {`{"text": "`, `\d`, `"}`},
	"commas":             {"{", ",", "}"},
	"commas in a list":   {`{"tags": [`, ",", "]}"},
	"items":              {`{"tags": [`, "'a', ", "]}"},
	"items, no commas":   {`{"tags": [`, `"a" `, "]}"},
	"comma list":         {`{"tags": "`, "a,", `b"}`},
	"bare words":         {"{text: ", "word ", "}"},
	"bare commas":        {"{text: ", "a, ", "}"},
	"bare keys":          {"{text: ", "x: ", "}"},
	"bare apostrophes":   {"{text: ", "it's ", "}"},
	"long word":          {"{text: ", "a", "}"},
	"long name":          {"{", "a", ": 1}"},
	"names":              {"{", "x: 1, ", "}"},
	"one name":           {"{", "p: 1, ", "}"},
	"one name, as JSON":  {`{"p": 1`, `, "p": 1`, "}"},
	"names, as JSON":     {`{"p": 1`, `, "q": 1`, "}"},
	"open objects":       {"", `{"a":`, ""},
	"objects":            {"", "{} ", ""},
	"equal objects":      {"", `{"p": 1} `, ""},
	"placeholders":       {"see ", "{x} ", ""},
	"half placeholders":  {"see ", "{x ", ""},
	"thoughts":           {"", "<think>", ""},
	"ends of thoughts":   {"x", "</think>", ""},
	"whole thoughts":     {"", "<think>x</think>", `{"p": 1}`},
	"tags":               {"", "<tool_call>", ""},
	"signs":              {"", "<", ""},
	"parameters":         {"<function=search>", "<parameter=p>1</parameter>", "</function>"},
	"open parameters":    {"<function=search>", "<parameter=text>1", "</function>"},
	"fences":             {"", "```", ""},
	"fences in lines":    {"", "```\n", ""},
	"tildes":             {"", "~", ""},
	"calls":              {"", "search(", ""},
	"calls of others":    {"", "f(", ""},
	"parentheses":        {"search(p=", "(", ""},
	"prose":              {"", "It is what it is. ", ""},
	"lines":              {"", "text: x\n", ""},
	"dashes":             {"tags:\n", "- a\n", ""},
	"block":              {"text: |\n", "  a\n", ""},
	"blank block":        {"text: |\n", "\n", "  a"},
	"strays":             {`{"p": 1}`, "}", ""},
	"strays and prose":   {`{"p": 1} x`, " }", ""},
	"strings in strings": {`{"text": `, `"\"`, `"}`},
	"array of arrays":    {`{"p": [[`, "],[", "]]}"},
	"surrogates":         {`{"text": "`, `\ud83d\ude00`, `"}`},
	"zero width":         {"", "\u200b", `{"p": 1}`},
	"smart quotes":       {"{text: “", "a” ", "”}"},
	"ellipses":           {"{text: ", "... ", "}"},
	"colons":             {"", "p:", ""},
	"digits":             {"{p: ", "1", "}"},
	"exponents":          {`{"p": "1e`, "9", `"}`},
	"semicolons":         {"{text: ", "; ", "}"},
	"equals":             {"{text: ", "=", "}"},
	"newlines":           {"{text: ", "\n", "}"},
	"tabs in a text":     {`{"text": "`, "\t", `"}`},
	"unicode":            {"{text: ", "é", "}"},
	"mixed":              {"", "{[(\"'`<", ""},
}

func hostileText(name string, size int) string {
	p := hostileShapes[name]
	n := (size - len(p[0]) - len(p[2])) / len(p[1])
	return p[0] + strings.Repeat(p[1], n) + p[2]
}

// cost is the least time of a few tries to read a text, the given number of times.
func cost(read func([]byte), text string, times, tries int) time.Duration {
	least := time.Duration(math.MaxInt64)
	input := []byte(text)
	for range tries {
		start := time.Now()
		for range times {
			read(input)
		}
		least = min(least, time.Since(start))
	}
	return least
}

// growth is what a text of 1 MB costs, in times of what one of 10 KB costs. A hundred small
// texts are held against a large one, so that a busy machine disturbs both alike.
func growth(read func([]byte), text func(size int) string, tries int) float64 {
	small := max(cost(read, text(10<<10), 100, tries), time.Millisecond)
	return 100 * float64(cost(read, text(1<<20), 1, tries)) / float64(small)
}

// usual is the growth of encoding/json on many small values. On a busy machine that is
// more than a hundred, too: a large text does not fit into its caches.
func usual(tries int) float64 {
	return growth(func(b []byte) {
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			panic(err)
		}
	}, func(size int) string { return "[" + strings.Repeat(`{"p":1},`, size/8) + "0]" }, tries)
}

// TestLinear checks that the cost of a text grows linearly with its length.
func TestLinear(t *testing.T) {
	s := declared(t)
	read := func(b []byte) { argparse.Parse(s, "search", b) }
	for name := range hostileShapes {
		t.Run(name, func(t *testing.T) {
			text := func(size int) string { return hostileText(name, size) }
			// Linear is about 100, more where a large text leaves the caches; quadratic is 10,000.
			times, most := growth(read, text, 1), 200.0
			for try := 0; times > most && try < 4; try++ {
				times, most = min(times, growth(read, text, 3+try)), max(most, 1.3*usual(3+try))
			}
			t.Logf("%s: %.0f times", name, times)
			if times > most {
				t.Errorf("1 MB costs %.0f times what 10 KB cost, more than %.0f", times, most)
			}
		})
	}
}

// declared are the parameters of the tool that most tests call.
func declared(t testing.TB) *argparse.Schema {
	t.Helper()
	s, err := argparse.ReadParameters([]byte(`{
		"p": {"type": "number"}, "d": {"type": "number"}, "diameter": {"type": "number"},
		"text": {}, "mode": {"validation": {"enum": ["fast", "slow-motion"]}},
		"tags": {"type": "array", "items": {"type": "string"}},
		"ids": {"type": "array", "items": {"type": "integer"}},
		"opts": {"type": "object", "properties": {"deep": {"type": "boolean"}, "maxCount": {"type": "integer"}}},
		"flag": {"type": "boolean"}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
