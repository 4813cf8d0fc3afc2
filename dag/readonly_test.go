package dag

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
)

// TestNextOnlyReads: a decision is a function of the state, the time and the free slots.
// Two calls of Next return the same, and nothing that the state refers to has changed.
func TestNextOnlyReads(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		steps := hastyGen().Draw(t, "script")
		g := graphOf(t, steps, Settings{FailFast: rapid.Bool().Draw(t, "fail-fast")})
		d := newDriver(t, g, rapid.IntRange(1, 8).Draw(t, "slots"), anyOrder(t))
		d.twice = true
		when := rapid.IntRange(1, 60).Draw(t, "cancel in turn")
		d.turns = func(turn int) {
			if turn == when && d.state.result == nil {
				d.cancel()
			}
		}
		d.run()
	})
}

// memory is everything that a value reaches, as text: what pointers lead to once, and no
// functions.
func memory(v any) string {
	var b strings.Builder
	seen := map[uintptr]int{}
	var write func(reflect.Value)
	write = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				b.WriteString("nil ")
				return
			}
			n, known := seen[v.Pointer()]
			if known {
				fmt.Fprintf(&b, "#%d ", n)
				return
			}
			seen[v.Pointer()] = len(seen)
			write(v.Elem())
		case reflect.Interface:
			if !v.IsNil() {
				write(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				write(v.Field(i))
			}
		case reflect.Slice, reflect.Array:
			fmt.Fprintf(&b, "[%d ", v.Len())
			for i := range v.Len() {
				write(v.Index(i))
			}
		case reflect.Map:
			var keys []string
			values := map[string]reflect.Value{}
			for it := v.MapRange(); it.Next(); {
				key := fmt.Sprint(it.Key())
				keys, values[key] = append(keys, key), it.Value()
			}
			sort.Strings(keys)
			for _, key := range keys {
				b.WriteString(key + ": ")
				write(values[key])
			}
		case reflect.Func, reflect.Chan:
		default:
			fmt.Fprintf(&b, "%v ", v)
		}
	}
	write(reflect.ValueOf(v))
	return b.String()
}
