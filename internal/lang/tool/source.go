package tool

import (
	"crypto/sha256"
	"encoding/hex"
)

// Source is a definition as it was found: the name that was looked up, and the text. A run stores the Sources it was
// compiled from, so that it can be resumed with the same definitions.
type Source struct {
	From   string `json:"from,omitempty"` // the definition that contains the name, see HolderOf; "" for the caller
	Name   string `json:"name"`           // as it was looked up: a name or a path
	File   string `json:"file"`
	Scope  Scope  `json:"scope"`
	Digest string `json:"digest"` // of Text, from DigestOf
	// Original is the digest of the file, if Text differs from the file because a secret was removed.
	Original string `json:"original,omitempty"`
	Text     []byte `json:"-"`
	// Files are the further files that Text was made of, if they are known.
	Files []Part `json:"-"`
}

// HolderOf returns the From of a name that a definition contains: its file, or "go:" and its name if it has none.
func HolderOf(d *Definition) string {
	if d.File == "" {
		return "go:" + d.Name
	}
	return d.File
}

// Part is a file that a definition was made of, with the DigestOf its text.
type Part struct{ Path, Digest string }

// DigestOf returns "sha256:" and the SHA-256 checksum of text in hexadecimal.
func DigestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
