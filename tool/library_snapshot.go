package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/flowrun/flowrun/internal/diagnostic"
)

// Source is a definition as it was found: what was asked for, and the bytes that
// answered. A run keeps the Sources it was compiled from, so that it can go on
// with what it was started with.
type Source struct {
	From   string `json:"from,omitempty"` // the file of the definition that asked; "" for the caller
	Name   string `json:"name"`           // as it was asked for: a name or a path
	File   string `json:"file"`
	Scope  Scope  `json:"scope"`
	Digest string `json:"digest"` // of Text, as DigestOf makes it
	// Original is the digest of the file's bytes where Text is not what stood there,
	// because that held a secret.
	Original string `json:"original,omitempty"`
	Text     []byte `json:"-"`
	// Files are others that Text was made of, while that is known.
	Files []string `json:"-"`
}

// DigestOf names bytes by what they are: "sha256:" and the sum in hexadecimal.
func DigestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Snapshot is a Library that answers from sources alone and touches no file.
// Definitions made in Go, and the loaders, are those of l.
func (l *Library) Snapshot(sources []Source) *Library {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &Library{extensions: l.extensions, loaders: l.loaders, added: l.added, maxSteps: l.maxSteps, provided: l.provided, missed: l.missed,
		cache: map[string]loaded{}, live: l.live, frozen: make(map[asked]Source, len(sources))}
	if s.live == nil {
		s.live = l
	}
	for _, src := range sources {
		s.frozen[asked{src.From, src.Name}] = src
	}
	return s
}

// Live is the Library that reads files: of a Snapshot the one it was made of, of another
// itself.
func (l *Library) Live() *Library {
	if l != nil && l.live != nil {
		return l.live
	}
	return l
}

// asked is one question to a Library.
type asked struct{ from, name string }

// recall answers from a snapshot. A file that was asked for in several ways is one
// definition.
func (l *Library) recall(name string, from *Definition) (*Definition, Diagnostics, error) {
	q := asked{name: name}
	if from != nil {
		q.from = from.File
	}
	src, ok := l.frozen[q]
	if !ok {
		if def := l.given(name, from); def != nil {
			return def, nil, nil
		}
		return nil, nil, fmt.Errorf("cannot find the tool %s: it is not among the definitions stored with the run", diagnostic.Quote(name))
	}
	if src.Scope == ScopeDiscovered {
		def, err := readProgram(src.Text)
		return def, nil, err
	}
	key := string(src.Scope) + "\x00" + src.File
	l.mu.Lock()
	c, known := l.cache[key]
	l.mu.Unlock()
	if !known {
		c.def, c.found = l.decode(src.File, src.Scope, src.Text)
		l.mu.Lock()
		l.cache[key] = c
		l.mu.Unlock()
	}
	return c.def, c.found, nil
}
