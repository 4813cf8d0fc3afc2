package runresult

import (
	"path"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Definition is a definition that a run used, as the history keeps it: with secrets masked.
type Definition struct {
	Name   string     `json:"name"` // of its file, without folders of the machine; its own if it has no file
	Scope  tool.Scope `json:"-"`
	Digest string     `json:"digest"` // of Text, see tool.DigestOf
	Text   []byte     `json:"-"`
}

// DefinitionsOf returns the definitions of recorded sources, each once.
func DefinitionsOf(sources []tool.Source) (list []Definition) {
	for _, s := range sources {
		d := Definition{s.Name, s.Scope, s.Digest, s.Text}
		if s.File != "" {
			d.Name = path.Base(strings.ReplaceAll(s.File, `\`, "/"))
		}
		if !slices.ContainsFunc(list, func(o Definition) bool { return o.Name == d.Name && o.Digest == d.Digest }) {
			list = append(list, d)
		}
	}
	return list
}

// ShortDigest returns the beginning of the digest, which is enough for people to tell texts apart.
func (d Definition) ShortDigest() string { return value.UpTo(int64(len("sha256:")+12), d.Digest) }
