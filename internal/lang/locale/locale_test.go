package locale_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/lang/locale"
)

func TestTranslate(t *testing.T) {
	for english, german := range map[string]string{
		"Parameter 'url' is required":           "Parameter 'url' ist Pflichtfeld",
		"Parameter 'url' is required by nobody": "Parameter 'url' is required by nobody",
		"Parameter 'url': expected a number":    "Parameter 'url': expected a number",
		locale.ValidationFailed:                 "Schema-Validierung fehlgeschlagen",
		locale.ValidationFailed + " once":       "Schema validation failed once",
		"Use the format: execute_tool(...)":     "Verwende format: execute_tool(...)",
		"SyntaxError: Unexpected token":         "SyntaxError: Unexpected token",
		"":                                      "",
	} {
		if got := locale.German.Translate(english); got != german {
			t.Errorf("%q in German: got %q, want %q", english, got, german)
		}
		for _, l := range []locale.Language{"", locale.English, "fr"} {
			if got := l.Translate(english); got != english {
				t.Errorf("%q in %q: got %q", english, l, got)
			}
		}
	}
}

func TestTranslateLines(t *testing.T) {
	const text = "Parameter 'a' is required\nParameter 'b': is not text\n"
	if got, want := locale.German.TranslateLines(text), "Parameter 'a' ist Pflichtfeld\nParameter 'b': is not text\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOf(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want locale.Language
	}{
		{nil, locale.English},
		{map[string]string{"LANG": "de"}, locale.German},
		{map[string]string{"LANG": "de_AT.UTF-8"}, locale.German},
		{map[string]string{"LANG": "de.UTF-8"}, locale.German},
		{map[string]string{"LANG": "den_CA"}, locale.English},
		{map[string]string{"LANG": "fr_FR"}, locale.English},
		{map[string]string{"LANG": "de_DE", "LC_MESSAGES": "en_US"}, locale.English},
		{map[string]string{"LANG": "en_US", "LC_ALL": "de_DE"}, locale.German},
		{map[string]string{"LANG": "de_DE", "LC_ALL": "C"}, locale.English},
		{map[string]string{"LANG": "de_DE", "LC_CTYPE": "C"}, locale.German},
	} {
		if got := locale.Of(func(name string) string { return test.env[name] }); got != test.want {
			t.Errorf("%v: got %s, want %s", test.env, got, test.want)
		}
	}
}
