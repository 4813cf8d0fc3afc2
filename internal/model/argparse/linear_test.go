package argparse_test

import (
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/model/argparse"
	"github.com/flowrun/flowrun/internal/test/sizetest"
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

// TestLinear checks that the cost of a text grows linearly with its length: a long text costs about as
// much as the same length of short ones, or a bit more because it does not fit into the caches. If the
// cost were quadratic, it would be as many times more as the text is longer. The short and the long
// texts take turns, two at least, until the least times of both agree. So a busy machine makes the test
// slower, but does not make it fail: it does not disturb each of a hundred turns, which take milliseconds.
func TestLinear(t *testing.T) {
	const short, most = 10 << 10, 3
	longer := sizetest.Of(16, 100, 100)
	s := declared(t)
	for name := range hostileShapes {
		t.Run(name, func(t *testing.T) {
			read := func(size, times int) time.Duration {
				text, began := []byte(hostileText(name, size)), time.Now()
				for range times {
					argparse.Parse(s, "search", text)
				}
				return time.Since(began)
			}
			many, one := read(short, longer), read(short*longer, 1)
			for turn := 1; turn < 2 || one > most*many && turn < 100; turn++ {
				many, one = min(read(short, longer), many), min(read(short*longer, 1), one)
			}
			if one > most*many {
				t.Errorf("a text that is %d times as long as another costs %.1f times as much", longer, float64(longer)*float64(one)/float64(many))
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
