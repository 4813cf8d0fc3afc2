package quoting

import (
	"strconv"
	"strings"
)

// Marker is the name that replaces a placeholder in the text that is parsed.
type Marker struct {
	Placeholder *Placeholder
	Off         int // in that text
	Name        string
}

// Mark replaces every placeholder by a name that the text does not contain, so that a marker in the
// syntax tree cannot be anything else.
func Mark(src string, pieces []Piece) (string, []Marker) {
	prefix := "_flowrun"
	for strings.Contains(src, prefix) {
		prefix += "_"
	}
	var b strings.Builder
	b.Grow(len(src) + 16)
	markers := make([]Marker, 0, len(pieces)/2+1)
	for _, p := range pieces {
		if p.Placeholder == nil {
			b.WriteString(p.Text)
			continue
		}
		name := prefix + strconv.Itoa(len(markers)) + "_"
		if endsInVariable(b.String()) {
			name = "." + name // without the dot, $HOME{X} would read as one longer name
		}
		markers = append(markers, Marker{Placeholder: p.Placeholder, Off: b.Len(), Name: name})
		b.WriteString(name)
	}
	return b.String(), markers
}

// endsInVariable reports whether text ends in $name.
func endsInVariable(text string) bool {
	i := len(text)
	for i > 0 && isNameByte(text[i-1]) {
		i--
	}
	return i > 0 && i < len(text) && text[i-1] == '$'
}
