package registry_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/registry"
)

// TestRepairs is the table of docs/reference/calls.md: each row is read, and called so.
func TestRepairs(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/calls.md")
	if err != nil {
		t.Fatal(err)
	}
	r := stock(t, options{})
	weather, err := r.Get("weather")
	if err != nil {
		t.Fatal(err)
	}
	for kind, text := range map[string]string{
		"bare-key":        `{CITY: "Rome"}`,
		"separator":       `{CITY="Rome"}`,
		"quotes":          `{'CITY': 'Rome'}`,
		"literal":         `{"CITY": "Rome", "UNIT": None}`,
		"bare-text":       `{"CITY": Rome}`,
		"missing-colon":   `{"CITY" "Rome"}`,
		"bracket":         `{{"CITY": "Rome"}}`,
		"comma":           `{"CITY": "Rome",}`,
		"missing-comma":   `{"CITY": "Rome" "DAYS": 3}`,
		"comment":         `{"CITY": "Rome" /* there */}`,
		"raw-newline":     "{\"CITY\": \"Rome\nLazio\"}",
		"unescaped-quote": `{"CITY": "the "eternal" one", "DAYS": 3}`,
		"escape":          `{"CITY": "\d+"}`,
		"fence":           "```json\n{\"CITY\": \"Rome\"}\n```",
		"prose":           `Here it is: {"CITY": "Rome"}`,
		"thinking":        `<think>Rome?</think>{"CITY": "Rome"}`,
		"tag":             `<tool_call>{"name": "weather", "arguments": {"CITY": "Rome"}}</tool_call>`,
		"call":            `weather(CITY='Rome')`,
		"envelope":        `{"name": "weather", "arguments": {"CITY": "Rome"}}`,
		"json-text":       `"{\"CITY\": \"Rome\"}"`,
		"lines":           "CITY: Rome\nDAYS: 3",
	} {
		i, refused := parse(weather, text)
		if refused != nil {
			t.Errorf("%s: %s is refused: %s", kind, text, refused.Message)
			continue
		}
		city, _ := i.Params["CITY"].(string)
		if !i.Repaired || city == "" || !slices.ContainsFunc(i.Repairs, func(x registry.Repair) bool { return x.Kind == kind }) {
			t.Errorf("%s: %s: %v, %v", kind, text, i.Params, i.Repairs)
		}
		if !strings.Contains(string(page), "`"+kind+"`") {
			t.Errorf("docs/reference/calls.md does not report %s", kind)
		}
	}
	for code, text := range map[string]string{
		"truncated":     `{"CITY": "Rome", "DAYS": `,
		"several-calls": "{\"CITY\": \"Rome\"}\n{\"CITY\": \"Oslo\"}",
		"wrong-tool":    `{"name": "delete", "arguments": {"CITY": "Rome"}}`,
		"not-arguments": `This is not JSON`,
		"undeclared":    `{"CITY": "Rome", "AT": 5}`,
		"missing":       `{"DAYS": 3}`,
		"duplicate-key": `{"CITY": "Rome", "CITY": "Oslo"}`,
		"type":          `{"CITY": {"name": "Rome"}}`,
		"enum":          `{"CITY": "Rome", "UNIT": "kelvin"}`,
		"number":        `{"CITY": "Rome", "DAYS": "3 days"}`,
		"code":          `{"CITY": "Rome", "DAYS": 1+2}`,
		"ellipsis":      `{"CITY": "Rome", ...}`,
		"positional":    `weather('Rome', 3)`,
		"too-large":     strings.Repeat(" ", 1<<20) + "{}",
		"too-deep":      strings.Repeat("[", 500),
		"encoding":      "{\"CITY\": \"\xff\"}",
	} {
		if _, refused := parse(weather, text); refused == nil || refused.Code != code {
			t.Errorf("%s: %.60q: %+v", code, text, refused)
		}
		if !strings.Contains(string(page), "`"+code+"`") {
			t.Errorf("docs/reference/calls.md does not report %s", code)
		}
	}
	_, refused := parse(weather, `{"CITY": "Rome", "DAYS": `)
	if want := "the text ends before DAYS is complete"; refused.Message != want || strings.Contains(refused.Hint, "truncated") {
		t.Errorf("a truncated call: %q, %q", refused.Message, refused.Hint)
	}
}
