package tool

import (
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"reflect"
)

// Same reports whether two definitions mean the same. Positions and the contents of the files are not compared.
func (d *Definition) Same(o *Definition) bool {
	return equalValues(reflect.ValueOf(*d), reflect.ValueOf(*o))
}

// ignoredFields are the fields that are not compared, by type.
var ignoredFields = map[reflect.Type][]string{
	reflect.TypeFor[Definition]():        {"File", "Source", "Scope"},
	reflect.TypeFor[Text]():              {"src", "form", "indent"},
	reflect.TypeFor[dataschema.Form]():   {"compiled"}, // compiled from source, and cyclic
	reflect.TypeFor[dataschema.Schema](): {"compiled", "doc"},
}

func equalValues(a, b reflect.Value) bool {
	if a.Kind() != b.Kind() || a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equalValues(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() || a.IsNil() != b.IsNil() {
			return false
		}
		for i := range a.Len() {
			if !equalValues(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for _, k := range a.MapKeys() {
			if v := b.MapIndex(k); !v.IsValid() || !equalValues(a.MapIndex(k), v) {
				return false
			}
		}
		return true
	case reflect.Struct:
		return equalStructs(a, b)
	}
	return a.Equal(b)
}

func equalStructs(a, b reflect.Value) bool {
	typ := a.Type()
	if typ == reflect.TypeFor[Pos]() {
		return true
	}
fields:
	for i := range typ.NumField() {
		for _, name := range ignoredFields[typ] {
			if typ.Field(i).Name == name {
				continue fields
			}
		}
		if !equalValues(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}
