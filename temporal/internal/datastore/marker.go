package datastore

import (
	"context"
	"crypto/rand"
	"strings"
)

// Marker is a value of its own that a program puts into its store. Who has the digest sees whether he has the same store.
type Marker struct {
	store Store
	text  string
}

// NewMarker returns a marker that is not in the store yet.
func NewMarker(s Store) *Marker {
	return &Marker{s, "a worker of flowrun has this store: " + rand.Text() + "\n"}
}

// Digest returns the digest of the marker.
func (m *Marker) Digest() string { return Digest([]byte(m.text)) }

// Put puts the marker into the store, or renews it if it is older than RenewAfter.
func (m *Marker) Put(ctx context.Context) error {
	return m.store.Put(ctx, m.Digest(), strings.NewReader(m.text), int64(len(m.text)))
}
