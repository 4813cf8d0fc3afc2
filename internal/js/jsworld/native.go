package jsworld

import (
	"time"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/js/jsnative"
	"github.com/flowrun/flowrun/internal/js/jsregexp"
)

// nativeFunctions returns the functions of package jsnative as a built-in module calls them: bytes
// are an ArrayBuffer or a view of one, and an error is thrown.
func nativeFunctions(vm *goja.Runtime) map[string]any {
	texts, began := jsnative.Collators{}, time.Now()
	buffer := func(b []byte) goja.Value { return vm.ToValue(vm.NewArrayBuffer(b)) }
	return map[string]any{
		"random": func(n int) (goja.Value, error) {
			b, err := jsnative.Random(n)
			return buffer(b), err
		},
		"hasDigest":  jsnative.HasDigest,
		"digest":     func(name string, data []byte) goja.Value { return buffer(jsnative.Digest(name, data)) },
		"hmac":       func(name string, key, data []byte) goja.Value { return buffer(jsnative.HMAC(name, key, data)) },
		"equalBytes": jsnative.Equal,

		// translatePattern returns the pattern and the flags for goja, whether it must find the matches one by one, and why the
		// expression is not valid.
		"translatePattern": func(pattern, flags string) []any {
			if !jsregexp.Translated(pattern, flags) {
				return []any{goja.Undefined(), goja.Undefined(), jsregexp.OneByOne(pattern, flags), ""}
			}
			text, native, err := jsregexp.Translate(pattern, flags)
			if err != nil {
				return []any{"", "", false, err.Error()}
			}
			return []any{text, native, jsregexp.OneByOne(text, native), ""}
		},

		"now": func() float64 { return float64(time.Since(began)) / float64(time.Millisecond) },

		"compareText": texts.Compare,
		"segments":    jsnative.Segments,
		"zoneName":    jsnative.ZoneName,
		"zoneAt": func(name string, milliseconds float64) ([]any, error) {
			offset, abbreviation, err := jsnative.ZoneAt(name, milliseconds)
			return []any{offset, abbreviation}, err
		},
	}
}
