package launch

import (
	"strings"

	"github.com/flowrun/flowrun/internal/lang/locale"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/registry"
)

// RefusalTexts returns the functions for registry.Options.Refused: the texts of the
// settings, then the translation.
func RefusalTexts(s *config.Config, l locale.Language) []func(tool string, r *registry.Refusal) {
	return []func(string, *registry.Refusal){configured(s), translated(l)}
}

// translated returns a function that adds the translated texts to a refusal. Reasons are English in every language.
func translated(l locale.Language) func(tool string, r *registry.Refusal) {
	return func(tool string, r *registry.Refusal) {
		if l == locale.English {
			return
		}
		r.Message = l.Translate(locale.ValidationFailed) + ": " + r.Message
		r.Hint = strings.TrimSpace(l.Translate(strings.Replace(locale.UseFormat, "{}", tool, 1)) + ". " + r.Hint)
	}
}

// configured returns a function that adds to a refusal what the settings contain for it.
func configured(s *config.Config) func(tool string, r *registry.Refusal) {
	return func(_ string, r *registry.Refusal) {
		r.DocumentationLink = s.Word("refusals.documentation-link")
		r.Hint = strings.TrimSpace(r.Hint + " " + s.Word("refusals.hint"))
	}
}
