package jsworld

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/js/jscheck"
)

// lacks is what a script needs of the language that goja does not have. Few scripts need any of it, and the others need
// not pay for it.
type lacks struct {
	locales bool // Intl, and locales and options for toLocaleString and its siblings
	regExp  bool // see internal/regexp
	rest    bool // see internal/language
	faults  goFunctions
}

// goFunctions are the functions that are replaced by functions written in Go.
type goFunctions struct {
	indent     bool // JSON.stringify with indentation
	replaceAll bool
	find       bool // and its siblings
}

// lacksOf returns what a script needs, by the words in its text.
func lacksOf(text string, callsPatternFunction bool) lacks {
	mentions := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(text, word) {
				return true
			}
		}
		return false
	}
	return lacks{
		locales: mentions("toLocale", "localeCompare", "Intl"),
		regExp:  callsPatternFunction || mentions("RegExp"),
		faults:  goFunctions{mentions("stringify"), mentions("replaceAll"), mentions("find")},
		rest:    mentions("captureStackTrace", "stackTraceLimit", "WellFormed"),
	}
}

// set replaces the functions.
func (f goFunctions) set(vm *goja.Runtime) {
	if f.indent {
		setStringify(vm)
	}
	if f.replaceAll {
		setReplaceAll(vm)
	}
	if f.find {
		setFind(vm)
	}
}

// addLanguage adds what goja lacks of the language.
func (w *World) addLanguage(l lacks) error {
	l.faults.set(w.vm)
	if l.faults = (goFunctions{}); l == (lacks{}) {
		return nil
	}
	require, err := w.loader()
	if err != nil {
		return err
	}
	later := map[string]string{}
	if l.locales && w.require == nil {
		later["Intl"] = shimGlobals["Intl"]
	}
	if l.regExp {
		later["RegExp"], later[jscheck.PatternFunction] = "internal/regexp", "internal/regexp"
	}
	if err := w.defineLazyGlobals(later); err != nil {
		return err
	}
	load, _ := goja.AssertFunction(require)
	for module, needed := range map[string]bool{"internal/locale-methods": l.locales, "internal/language": l.rest} {
		if !needed {
			continue
		}
		if _, err := load(goja.Undefined(), w.vm.ToValue(module)); err != nil {
			return err
		}
	}
	return nil
}
