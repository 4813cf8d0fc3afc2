package jsworld

import "github.com/flowrun/flowrun/internal/js/jscheck"

// addRegExp replaces the global RegExp by the one that knows the properties of Unicode and the flag v. Scripts that do
// not mention it need not pay for it.
func (w *World) addRegExp() error {
	if _, err := w.loader(); err != nil {
		return err
	}
	const module = "internal/regexp"
	return w.defineLazyGlobals(map[string]string{"RegExp": module, jscheck.PatternFunction: module})
}
