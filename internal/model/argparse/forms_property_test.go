package argparse_test

import (
	"encoding/json"
	"html"
	"math/rand"
	"strings"
	"testing"
)

// forms write arguments in forms that are not JSON but have one reading. refused is the share
// of hostile calls that may be refused, in percent.
var forms = []struct {
	name    string
	refused int
	form    func(w *sloppyWriter, args map[string]any) string
}{
	{"semicolons", 2, func(w *sloppyWriter, args map[string]any) string {
		return "{" + w.join(args, ";"+w.space(), `"%": `, compact) + "}"
	}},
	{"no colons", 2, func(w *sloppyWriter, args map[string]any) string {
		return "{" + w.join(args, ","+w.space(), `"%" `, compact) + "}"
	}},
	{"doubled colons", 2, func(w *sloppyWriter, args map[string]any) string {
		return "{" + w.join(args, ","+w.space(), `"%":`+w.pick(":", " :", "=")+" ", compact) + "}"
	}},
	{"doubled quotes of names", 2, func(w *sloppyWriter, args map[string]any) string {
		return "{" + w.join(args, ","+w.space(), `""%"": `, compact) + "}"
	}},
	{"lost quotes of names", 2, func(w *sloppyWriter, args map[string]any) string {
		return "{" + w.join(args, ","+w.space(), `%": `, compact) + "}"
	}},
	{"doubled braces", 2, func(_ *sloppyWriter, args map[string]any) string { return "{" + compact(args) + "}" }},
	{"no opening brace", 25, func(_ *sloppyWriter, args map[string]any) string { return compact(args)[1:] }},
	{"parentheses", 2, func(w *sloppyWriter, args map[string]any) string {
		return w.pick("(", "send_letter(", "print(send_letter(", "[send_letter(", "dict(") + w.join(args, ", ", "%=", compact) + ")"
	}},
	{"escaped", 2, func(_ *sloppyWriter, args map[string]any) string {
		text := compact(compact(args))
		return text[1 : len(text)-1]
	}},
	{"entities", 2, func(_ *sloppyWriter, args map[string]any) string { return html.EscapeString(compact(args)) }},
	{"unescaped list", 2, func(w *sloppyWriter, args map[string]any) string {
		return "{" + w.join(args, ", ", `"%": `, func(v any) string {
			if _, ok := v.(string); ok {
				return compact(v)
			}
			return `"` + compact(v) + `"`
		}) + "}"
	}},
	{"triple quotes", 2, func(w *sloppyWriter, args map[string]any) string {
		return "{" + w.join(args, ", ", `"%": `, func(v any) string {
			if s, ok := v.(string); ok && !strings.ContainsAny(s, `"\`) {
				return `"""` + s + `"""`
			}
			return compact(v)
		}) + "}"
	}},
	{"raw", 2, func(w *sloppyWriter, args map[string]any) string {
		return "{" + w.join(args, ", ", `"%": `, func(v any) string {
			if s, ok := v.(string); ok && !strings.ContainsAny(s, "\"\n\t") && !strings.HasSuffix(s, `\`) {
				return `r"` + s + `"`
			}
			return compact(v)
		}) + "}"
	}},
	{"indented lines", 2, func(w *sloppyWriter, args map[string]any) string {
		return w.yaml(args, "")
	}},
	{"document of YAML", 2, func(w *sloppyWriter, args map[string]any) string {
		return "---\nsend_letter:\n" + w.yaml(args, "  ") + "...\n"
	}},
	{"beside the name", 2, func(_ *sloppyWriter, args map[string]any) string {
		return `{"tool": "send_letter", ` + compact(args)[1:]
	}},
	{"under the name", 2, func(_ *sloppyWriter, args map[string]any) string { return `{"send_letter": ` + compact(args) + "}" }},
	{"tags of the tool", 40, func(w *sloppyWriter, args map[string]any) string {
		return "<send_letter>" + w.join(args, w.pick("", "\n"), "<%>", func(v any) string {
			if s, ok := v.(string); ok {
				return "\n" + s + "\n"
			}
			return compact(v)
		}) + "</send_letter>"
	}},
}

func compact(v any) string {
	form, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(form)
}

// join writes the members of the arguments: name has % for the name. A name in a tag is
// closed after its value.
func (w *sloppyWriter) join(args map[string]any, separator, name string, value func(any) string) string {
	var parts []string
	for _, n := range order {
		v, ok := args[n]
		if !ok {
			continue
		}
		part := strings.Replace(name, "%", n, 1) + value(v)
		if name == "<%>" {
			part += "</" + n + ">"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, separator)
}

// yaml writes the arguments as lines, with texts in quotes or as literal blocks.
func (w *sloppyWriter) yaml(args map[string]any, indent string) string {
	var b strings.Builder
	for _, n := range order {
		v, ok := args[n]
		if !ok {
			continue
		}
		b.WriteString(indent + n + ":")
		switch v := v.(type) {
		case map[string]any:
			b.WriteString("\n" + w.yaml(v, indent+w.pick("  ", "    ")))
		case []any:
			b.WriteString("\n")
			for _, item := range v {
				b.WriteString(indent + "  - " + compact(item) + "\n")
			}
		case string:
			if w.Intn(2) == 0 && v != "" && strings.TrimSpace(v) == v && !strings.Contains(v, "\n") {
				b.WriteString(" |-\n" + indent + "  " + v + "\n")
				continue
			}
			b.WriteString(" " + compact(v) + "\n")
		default:
			b.WriteString(" " + compact(v) + "\n")
		}
	}
	return b.String()
}

// TestHostileForms checks that hostile values in other forms are read correctly or refused, whole and
// truncated.
func TestHostileForms(t *testing.T) {
	schema := letter(t)
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			rounds := int(seeds(2_000))
			refused := 0
			for seed := range int64(rounds) {
				w := &sloppyWriter{Rand: rand.New(rand.NewSource(seed)), words: hostileWords}
				args := w.arguments()
				text := f.form(w, args)
				for open, closer := range map[string]string{"print(send_letter(": ")", "[send_letter(": "]"} {
					if strings.HasPrefix(text, open) {
						text += closer
					}
				}
				if got, refusal := parse(t, schema, "send_letter", text); refusal == nil {
					same(t, seed, text, got, args)
				} else {
					refused++
				}
				if strings.IndexByte("{[(<", text[0]) < 0 {
					continue
				}
				if cutOff := text[:1+w.Intn(len(text)-1)]; !json.Valid([]byte(cutOff)) {
					if got, refusal := parse(t, schema, "send_letter", cutOff); refusal == nil {
						same(t, seed, cutOff, got, args)
					}
				}
			}
			if refused*100 > rounds*f.refused {
				t.Errorf("%d of %d are refused", refused, rounds)
			}
			t.Logf("%d of %d are refused", refused, rounds)
		})
	}
}
