package importtest

import (
	"strings"
	"testing"
)

// The shapes that the value of a key can have.
const (
	Text   = "text"
	Bool   = "true or false"
	Map    = "mapping"
	Texts  = "list of texts, or one" // or a text
	Steps  = "list of steps"
	Either = "text or mapping"
)

// wrong are values of other shapes. A text is not wrong for a number here: the readers check numbers by themselves.
var wrong = map[string][]string{
	Text:   {"[w]", "{w: x}", "[]", "{}"},
	Bool:   {"[true]", "{w: x}", "maybe", "7"},
	Map:    {"w", "[w]", "7", "[{w: x}]"},
	Texts:  {"{w: x}", "[[w]]", "[{w: x}]"},
	Steps:  {"[[w]]", "7.5", "{w: x}"},
	Either: {"[w]", "[{w: x}]"},
}

// Keys are keys that a reader knows, by the place of KEY and VALUE in a file whose command is echo GUARDED. Each key has
// its shape, or one value that is wrong.
type Keys = struct {
	File string
	Keys map[string]string
}

// WrongShapes checks that no key is lost because its value has a shape that the reader does not expect: the command that it
// belongs to is left out, or the file is refused.
func WrongShapes(t *testing.T, read Reader, places []Keys) {
	for _, place := range places {
		for key, shape := range place.Keys {
			values := wrong[shape]
			if values == nil {
				values = []string{shape} // one that is wrong
			}
			for _, v := range values {
				src := strings.NewReplacer("KEY", key, "VALUE", v).Replace(place.File)
				r, err := read(src)
				if err != nil {
					continue
				}
				if text := Definitions(t, r); strings.Contains(text, "GUARDED") {
					t.Errorf("%s is lost:\n%s%s\n%+v", key, src, text, r.Rows)
				}
			}
		}
	}
}

// RightShapes checks that the files of WrongShapes are understood if the value is right.
func RightShapes(t *testing.T, read Reader, files ...string) {
	for _, src := range files {
		r, err := read(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if text := Definitions(t, r); !strings.Contains(text, "GUARDED") {
			t.Errorf("left out:\n%s%+v", src, r.Rows)
		}
	}
}
