package rewrite

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// The private characters of Unicode. They stand for others while a text is encoded.
const firstPrivate, lastPrivate = '\ue000', '\uf8ff'

// hideEmoji replaces the characters above U+FFFF in all scalars of n, and returns a function that puts them back in what
// was encoded. The encoder takes them for unprintable: a script with one of them would become a quoted text on one line.
func hideEmoji(n *yaml.Node) (restore func([]byte) []byte) {
	used := map[rune]bool{}
	eachScalar(n, func(s *yaml.Node) {
		for _, r := range s.Value {
			used[r] = true
		}
	})
	var hide, show []string
	private := rune(firstPrivate)
	for r := range used {
		for private <= lastPrivate && used[private] {
			private++
		}
		if r <= 0xffff || private > lastPrivate { // beyond, the encoder escapes them
			continue
		}
		hide, show = append(hide, string(r), string(private)), append(show, string(private), string(r))
		private++
	}
	if len(hide) == 0 {
		return func(b []byte) []byte { return b }
	}
	hidden, shown := strings.NewReplacer(hide...), strings.NewReplacer(show...)
	eachScalar(n, func(s *yaml.Node) { s.Value = hidden.Replace(s.Value) })
	return func(b []byte) []byte { return []byte(shown.Replace(string(b))) }
}

func eachScalar(n *yaml.Node, f func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode {
		f(n)
	}
	for _, c := range n.Content {
		eachScalar(c, f)
	}
}
