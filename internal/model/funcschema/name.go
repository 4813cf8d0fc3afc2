package funcschema

import (
	"regexp"
	"sync"
)

// maxName is the longest name, in characters, that every provider accepts.
const maxName = 64

var invalidNameChars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_-]`) })

// Name returns the name under which a tool is declared, and which the calls of a model use: letters, digits,
// '_' and '-', at most 64 characters. For Gemini it does not begin with a digit.
func Name(tool string, f Format) string {
	name := invalidNameChars().ReplaceAllString(tool, "_")
	if f == Gemini && name != "" && name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return shorten(name)
}

// shorten cuts a name of ASCII characters, such as the name of a parameter.
func shorten(name string) string { return name[:min(len(name), maxName)] }
