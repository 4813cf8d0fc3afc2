package jsworld

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/js/jscheck"
)

// mentionsLocales reports whether a script may use Intl, or a method that formats or compares in
// the manner of a language. Few scripts do, and others need not pay for it.
func mentionsLocales(s jscheck.Source) bool {
	for _, word := range []string{"toLocale", "localeCompare", "Intl"} {
		if strings.Contains(s.Text, word) {
			return true
		}
	}
	return false
}

// addLocales adds what goja lacks of the language: Intl, and locales and options for
// toLocaleString and its siblings.
func (w *World) addLocales() error {
	require, err := w.loader()
	if err != nil {
		return err
	}
	if w.require == nil {
		if err := w.defineLazyGlobals(map[string]string{"Intl": shimGlobals["Intl"]}); err != nil {
			return err
		}
	}
	load, _ := goja.AssertFunction(require)
	_, err = load(goja.Undefined(), w.vm.ToValue("internal/locale-methods"))
	return err
}
