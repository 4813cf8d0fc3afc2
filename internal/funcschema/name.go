package funcschema

import (
	"regexp"
	"sync"
)

// maxName is how many characters of a name every provider accepts.
const maxName = 64

var invalidNameChars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_-]`) })

// Name is what a tool called so is shown as: letters, digits, '_' and '-', at most 64
// of them, for Gemini not beginning with a digit. A model's call names the
// function so.
func Name(tool string, f Format) string {
	name := invalidNameChars().ReplaceAllString(tool, "_")
	if f == Gemini && name != "" && name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return shorten(name)
}

// shorten is a name of ASCII characters, as those of parameters are, made short.
func shorten(name string) string { return name[:min(len(name), maxName)] }
