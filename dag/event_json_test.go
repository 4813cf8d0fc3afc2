package dag

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
)

// TestAppendJSON: AppendJSON writes what json.Marshal writes, for random values of all
// fields. The fields are found by reflection, so that a new one cannot be forgotten.
func TestAppendJSON(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		var e Event
		draw(t, reflect.ValueOf(&e).Elem())
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(want, &a); err != nil {
			t.Fatal(err)
		}
		got := e.AppendJSON(nil)
		if err := json.Unmarshal(got, &b); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("(-Marshal +AppendJSON):\n%s", diff)
		}
	})
}

func draw(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if rapid.Bool().Draw(t, "set") {
				v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 1<<35).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()))
			}
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !strings.HasPrefix(f.Tag.Get("json"), "-") {
				draw(t, v.Field(i))
			}
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem())
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes(rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{"type":"object"}`), json.RawMessage(`"<a>"`)}).Draw(t, "json"))
			return
		}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			e := reflect.New(v.Type().Elem()).Elem()
			draw(t, e)
			v.Set(reflect.Append(v, e))
		}
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "plain text", "a\nb", "\xff", `"`})).Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
	case reflect.Uint8: // Status
		v.SetUint(uint64(rapid.IntRange(0, len(statusWords)-1).Draw(t, "status")))
	default:
		t.Fatalf("a field of kind %s", v.Kind())
	}
}
