package keytable

import (
	"fmt"
	"strings"
	"testing"
)

// TestForeignObjects reads named objects as other programs write them, in a file that flowrun shares with them.
func TestForeignObjects(t *testing.T) {
	object := NewObject("an object", "", func() []Field {
		return []Field{
			{Kind: KindText, Key: "kind", Foreign: &Foreign{Spellings: []string{"way"}, Inside: true}},
			{Kind: KindText, Key: "run", Foreign: &Foreign{Spellings: []string{"cmd"}, Rest: "with"}},
			{Kind: KindTexts, Key: "with", Foreign: &Foreign{Spellings: []string{"arguments"}}},
			{Kind: KindTextMap, Key: "vars"},
			{Kind: KindBoolean, Key: "on"},
			{Kind: KindDuration, Key: "wait", InSeconds: true, Foreign: &Foreign{Minor: true}},
			{Kind: KindInteger, Key: "port", Min: 1, Max: 9},
			{Kind: KindObject, Key: "more", Of: NewObject("more", "", func() []Field { return []Field{{Kind: KindText, Key: "id"}} })},
		}
	})
	table := NewObject("the settings", "", func() []Field {
		return []Field{
			{Kind: KindObjectMap, Key: "objects", Of: object.Open(), Foreign: &Foreign{Spellings: []string{"things"}, Name: strings.ToLower}},
			{Kind: KindObject, Key: "part", Of: NewObject("a part", "", func() []Field { return []Field{{Kind: KindText, Key: "kind"}} }).Open(), Foreign: &Foreign{Objects: "objects"}},
		}
	}).Open()
	for text, want := range map[string]string{
		`{"objects": {"A": {"run": "x", "with": ["y"]}}}`:                                                   `a.run=x a.with=y | a(A)`,
		`{"things": {"a": {"cmd": ["x", "y", "z"]}}}`:                                                       `a.run=x a.with=y a.with=z | a`,
		`{"objects": {"a": {"cmd": {"x": 1}}}}`:                                                             `| a without cmd`,
		`{"things": {"a": {"run": "x"}, "b": {"y": 1}}}`:                                                    `a.run=x | a b without y`,
		`{"things": {"a": {"on": true}}}`:                                                                   `|`,
		`{"things": ["a"]}`:                                                                                 `|`,
		`{"things": {"a": "x"}}`:                                                                            `|`,
		`{"objects": {"a": {"run": []}}}`:                                                                   `| a error run: expected text, found a list`,
		`{"objects": {"a": {"arguments": {"x": 1}}}}`:                                                       `| a without arguments`,
		`{"objects": {"a": {"arguments": "x"}}}`:                                                            `a.with=x | a`,
		`{"objects": {"a": {"vars": ["A=1", "B=2=3"]}}}`:                                                    `a.vars.A=1 a.vars.B=2=3 | a`,
		`{"objects": {"a": {"vars": ["A"]}}}`:                                                               `| a error vars: expected a mapping of names, found a list`,
		`{"objects": {"a": {"vars": {"A": null, "B": 2}}}}`:                                                 `a.vars.B=2 | a warning vars.A: it has no value`,
		`{"objects": {"a": {"on": "False"}, "b": {"on": "no"}}}`:                                            `a.on=false | a b error on: expected true or false, found the text "no"`,
		`{"objects": {"a": {"wait": 60}, "b": {"wait": "60"}}}`:                                             `a.wait=1m0s b.wait=1m0s | a b`,
		`{"objects": {"a": {"wait": "60ms"}, "b": {"wait": 1000}}}`:                                         `a.wait=60ms b.wait=1s | a b`,
		`{"objects": {"a": {"wait": "soon", "run": "x"}}}`:                                                  `a.run=x | a warning wait: invalid duration "soon"`,
		`{"objects": {"a": {"port": "7", "run": null}}}`:                                                    `a.port=7 | a`,
		`{"objects": {"a": {"more": true, "run": "x"}}}`:                                                    `a.run=x | a warning more: expected a mapping of keys, found the value true`,
		`{"objects": {"a": {"more": {"id": "i", "scope": []}}}}`:                                            `a.more.id=i | a`,
		`{"objects": {"A": {"run": "x"}, "a": {"run": "y"}}}`:                                               `a.run=x | a(A) a error : "A" has the same name`,
		`{"objects": [{"name": "b", "run": "x"}, {"run": "y"}]}`:                                            `b.run=x 2.run=y | b 2`,
		`{"objects": {"_comment": "x", "b": null, "c": {}}}`:                                                `| _comment b c`,
		`{"objects": "x"}`:                                                                                  `| the file: expected a mapping of names, found the text "x"`,
		`{"objects": {"a": {"way": {"kind": "k", "run": "x"}}, "b": {"way": "w"}, "c": {"way": {"x": 1}}}}`: `a.kind=k a.run=x b.kind=w | a b c without way`,
		`{"part": {"kind": "p", "a": {"run": "x"}, "b": {"no": 1}, "things": {"c": {"run": "y"}}}}`:         `part.kind=p a.run=x c.run=y | a c`,
		`{"part": ["x"], "other": 1}`:                                                                       `|`,
	} {
		list, objects, found := DecodeSettings(table, "f.json", []byte(text))
		var words []string
		for _, s := range list {
			words = append(words, fmt.Sprintf("%s=%v", strings.TrimPrefix(s.Path(), "objects."), s.Value))
		}
		words = append(words, "|")
		for _, o := range objects {
			if words = append(words, o.Name); o.Written != o.Name {
				words[len(words)-1] += "(" + o.Written + ")"
			}
			for _, key := range o.Unknown {
				words = append(words, "without", key)
			}
			for _, one := range o.LeftOut {
				words = append(words, fmt.Sprintf("%s %s: %s", one.Severity, one.Path, one.Message))
			}
		}
		for _, one := range found {
			words = append(words, "the file: "+one.Message)
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
