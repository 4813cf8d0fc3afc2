package config

import (
	"encoding/json"
	"testing"
)

func TestWithoutComments(t *testing.T) {
	for src, want := range map[string]string{
		`{"a": "//", "b": "/*"} // c`:    `{"a": "//", "b": "/*"}     `,
		"{ // c\r\n\"a\": 1 /* x\ny */}": "{     \r\n\"a\": 1     \n    }",
		`{"a": "\"//", "b": 2 /**/}`:     `{"a": "\"//", "b": 2     }`,
		`{"url": "https://x/y"}/*`:       `{"url": "https://x/y"}  `,
		`{"open`:                         `{"open`,
		`/`:                              `/`,
	} {
		if got := string(withoutComments([]byte(src))); got != want {
			t.Errorf("%q became %q, want %q", src, got, want)
		}
	}
}

// FuzzWithoutComments checks that valid JSON is unchanged, and that positions stay the
// same.
func FuzzWithoutComments(f *testing.F) {
	f.Add([]byte(`{"a": "//"} // c`))
	f.Add([]byte(`["\\", "/*"] /* c`))
	f.Fuzz(func(t *testing.T, src []byte) {
		got := withoutComments(src)
		if len(got) != len(src) || json.Valid(src) && string(got) != string(src) {
			t.Errorf("%q became %q", src, got)
		}
	})
}
