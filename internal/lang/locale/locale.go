// Package locale has the texts that flowrun also prints in a language other than English: those for
// which the specifications of its formats show a translation. Codes, names of fields and all other
// texts are English.
package locale

import (
	"cmp"
	"strings"
)

// Language is the code of a language.
type Language string

// The languages.
const (
	English Language = "en"
	German  Language = "de"
)

// Texts in English, for callers that have no other text to translate.
const (
	ValidationFailed = "Schema validation failed"
	UseFormat        = "Use the format: {}(...)"
)

// texts are all translations. {} is a part that is the same in every language.
var texts = []struct{ english, german string }{
	{"Parameter '{}' is required", "Parameter '{}' ist Pflichtfeld"},
	{ValidationFailed, "Schema-Validierung fehlgeschlagen"},
	{UseFormat, "Verwende format: {}(...)"},
}

// Of returns the language that the environment asks for: that of the first of LC_ALL, LC_MESSAGES
// and LANG that is set, or English if there are no texts in it.
func Of(getenv func(string) string) Language {
	code, _, _ := strings.Cut(cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG")), ".")
	code, _, _ = strings.Cut(code, "_")
	if strings.EqualFold(code, string(German)) {
		return German
	}
	return English
}

// TranslateLines translates each line of a text.
func (l Language) TranslateLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = l.Translate(line)
	}
	return strings.Join(lines, "\n")
}

// Translate returns an English text in the language. A text without a translation is unchanged.
func (l Language) Translate(text string) string {
	if l != German {
		return text
	}
	for _, t := range texts {
		before, after, _ := strings.Cut(t.english, "{}")
		rest, starts := strings.CutPrefix(text, before)
		same, ends := strings.CutSuffix(rest, after)
		if starts && ends && strings.Contains(t.english, "{}") == (same != "") {
			return strings.Replace(t.german, "{}", same, 1)
		}
	}
	return text
}
