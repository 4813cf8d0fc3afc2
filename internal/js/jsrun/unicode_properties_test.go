package jsrun

import "testing"

// Unicode properties work in regular expressions with the flags u and v, in every notation, and
// nothing else about these expressions changes.
func TestUnicodeProperties(t *testing.T) {
	for code, want := range map[string]string{
		`return "to bé, 1".match(/\p{L}+/gu)`:                                                               `["to","bé"]`,
		`return "a1-b2".replace(/[^\p{L}\p{Nd}]+/gu, " ")`:                                                  `"a1 b2"`,
		`return "αβ ab".match(/\p{Script=Greek}+/u)[0]`:                                                     `"αβ"`,
		`return "AbC".match(/\P{Lu}/u).index`:                                                               `1`,
		`return new RegExp("\\p{L}+", "gu").exec("1ab")[0]`:                                                 `"ab"`,
		`return RegExp("^\\p{General_Category=Lowercase_Letter}$", "u").test("a")`:                          `true`,
		`return [1].map(() => "x9".match(/(?<w>\p{L})(?<d>\d)/u).groups.d)[0]`:                              `"9"`,
		`return "\u00e9 2024-01".match(/(?<y>\d+)-(?<m>\d+)/u).groups.m`:                                    `"01"`,
		`return "\u00e9 2024".replace(/(?<y>\d+)/u, "<$<y>>")`:                                              `"é <2024>"`,
		`return "p{L}".match(/\p{L}/).index`:                                                                `0`, // without the flag it is plain text
		`return [/\p{L}+/u.source, String(/[\p{L}\/]/gu)]`:                                                  `["\\p{L}+","/[\\p{L}\\/]/gu"]`,
		`const p = "\\p{L}+"; return new RegExp(p, "u").test("abc")`:                                        `true`,
		`return "aB1".match(/[\p{L}--[a-z]]/v)[0]`:                                                          `"B"`,
		`const RegExp = 1; return /\p{Lu}/u.test("A")`:                                                      `true`,
		`return /\p{L}/u instanceof RegExp && /a/ instanceof RegExp`:                                        `true`,
		`return (() => { try { return new RegExp("\\p{Nope" + "}", "u") } catch (e) { return e.name } })()`: `"SyntaxError"`,
	} {
		both(t, Call{Script: compile(t, Body, code)}, func(t *testing.T, got string, err error) {
			if err != nil || got != want {
				t.Errorf("%s: got %s (%v), want %s", code, got, err, want)
			}
		})
	}
}
