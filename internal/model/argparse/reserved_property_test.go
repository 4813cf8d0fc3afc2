package argparse_test

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse"
)

// reserved are the names of envelopes and schemas, which parameters may have as well.
var reserved = []string{"name", "arguments", "parameters", "args", "input", "tool", "tool_name", "function", "tool_calls", "type", "id", "action", "properties", "required", "value", "text", "p"}

// TestDeclaredNamesAreNoEnvelope: valid JSON of declared names is the call, whatever the
// names are.
func TestDeclaredNamesAreNoEnvelope(t *testing.T) {
	for seed := range int64(seeds(5_000)) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: []string{"calc", "delete", "object", `{"p": 1}`, "[]", "x y", ""}}
		schema := &argparse.Schema{Types: []string{"object"}}
		args := map[string]any{}
		for _, name := range reserved {
			if w.Intn(2) == 0 {
				continue
			}
			kind, value := "string", any(w.text())
			if w.Intn(3) == 0 {
				kind, value = "object", map[string]any{w.pick(reserved...): w.text(), w.pick(reserved...): map[string]any{"p": json.Number("1")}}
			}
			schema.Properties = append(schema.Properties, argparse.Property{Name: name, Schema: &argparse.Schema{Types: []string{kind}}})
			if w.Intn(3) > 0 {
				args[name] = value
			}
		}
		form, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		got, refusal := parse(t, schema, "calc", string(form))
		if refusal != nil {
			t.Fatalf("seed %d: %s\nrefused: %s: %s", seed, form, refusal.Code, refusal.Message)
		}
		if got.Repaired || !reflect.DeepEqual(got.Value, args) {
			t.Fatalf("seed %d: %s\nbecame %s, repaired = %v", seed, form, encode(t, got.Value), got.Repaired)
		}
		around := [][2]string{{"```json\n", "\n```"}, {"Here: ", ""}, {"<think>x</think>", ""}, {"<tool_call>", "</tool_call>"}, {"calc(", ")"}}[w.Intn(5)]
		text := around[0] + string(form) + around[1]
		if got, refusal := parse(t, schema, "calc", text); refusal == nil {
			same(t, seed, text, got, args)
		}
	}
}

// TestOddNames: declared names may look like literals, numbers or syntax.
func TestOddNames(t *testing.T) {
	odd := []string{"true", "null", "None", "a b", "p-1", "a.b", "größe", "$x", "@id", "x:y", "a=b", "1", "-5", "it's", `"q"`, "…", "...", "//", "#", "{", "]", "</think>", "f(x)", "e", "Inf", "名"}
	for seed := range int64(seeds(5_000)) {
		w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: hostileWords}
		schema := &argparse.Schema{Types: []string{"object"}}
		args := map[string]any{}
		text := "{"
		for _, name := range odd {
			if w.Intn(6) > 0 {
				continue
			}
			schema.Properties = append(schema.Properties, argparse.Property{Name: name, Schema: &argparse.Schema{Types: []string{"string"}}})
			args[name] = w.text()
			quoted, _ := json.Marshal(name)
			written := w.pick(string(quoted), string(quoted), "'"+strings.ReplaceAll(name, "'", `\'`)+"'", name)
			text += written + w.pick(": ", "=", " => ") + w.quoted(args[name].(string)) + ", "
		}
		text += "}"
		form, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		got, refusal := parse(t, schema, "", string(form))
		if refusal != nil || got.Repaired {
			t.Fatalf("seed %d: %s\nrefused: %v", seed, form, refusal)
		}
		same(t, seed, string(form), got, args)
		if got, refusal := parse(t, schema, "", text); refusal == nil {
			same(t, seed, text, got, args)
		}
	}
}
