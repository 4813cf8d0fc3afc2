package keytable

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// AsCommand makes a text, or a list of texts, a command or a script. A text without anything to run is an error, because
// it would succeed.
func (f Field) AsCommand() Field {
	f.Command = true
	set := f.Set
	f.Set = func(d *Decoder, into any, n *yaml.Node) {
		set(d, into, n)
		texts := []*yaml.Node{n}
		if list := Deref(n); list.Kind == yaml.SequenceNode {
			texts = list.Content
		}
		for _, text := range texts {
			if v := Deref(text); v.ShortTag() == "!!str" && strings.TrimSpace(v.Value) == "" {
				d.Fail(v, "empty-command", f.Key+" is empty", "write what to run, or remove the key; 'true' is a command that does nothing")
			}
		}
	}
	return f
}
