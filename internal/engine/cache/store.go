package cache

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Store is a folder of cached results.
type Store struct {
	dir string
	key []byte           // of all hashes
	now func() time.Time // replaced in tests
}

const keySize = 32

// Open opens the store in dir, and creates it if necessary. Only the current user can read what is in it.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, now: time.Now}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("cannot use the cache %q: %w; choose another folder or make it writable", dir, err)
	}
	return s, nil
}

// OpenReadOnly opens the store in dir for reading only, and creates nothing. If there is no store, it returns an
// empty one.
func OpenReadOnly(dir string) (*Store, error) {
	s := &Store{dir: dir, now: time.Now}
	err := s.readKey()
	if errors.Is(err, fs.ErrNotExist) {
		s.key, err = make([]byte, keySize), nil
		rand.Read(s.key)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the cache %q: %w", dir, err)
	}
	return s, nil
}

func (s *Store) open() error {
	err := s.readKey()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.key = make([]byte, keySize)
	rand.Read(s.key)
	if err := s.makeKey(); err != nil {
		return err
	}
	return s.readKey() // another process may have been faster
}

// ready creates the key file again if it is missing: the folder may have been removed while this process had it open,
// and without the key other processes could not find the results.
func (s *Store) ready() error {
	if _, err := os.Lstat(s.keyFile()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.makeKey()
}

func (s *Store) keyFile() string { return filepath.Join(s.dir, "key") }

func (s *Store) readKey() error {
	key, err := ownership.ReadFile(s.keyFile())
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("the key has %d bytes, not %d; remove the folder", len(key), keySize)
	}
	if err == nil {
		s.key = key
	}
	return err
}

// makeKey creates the folder and its key file. The first of several writers wins.
func (s *Store) makeKey() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	err := atomicfile.File{Path: s.keyFile(), Mode: 0o600, Exclusive: true}.WriteText(s.key)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Sum returns a hash of texts that depends on each text and on where one ends and the next begins.
func (s *Store) Sum(texts ...string) string {
	h := s.hash()
	for _, t := range texts {
		addText(h, t)
	}
	return sum(h)
}

// digest returns the hash of everything that r reads.
func (s *Store) digest(ctx context.Context, r io.Reader) (string, error) {
	h := s.hash()
	_, err := copyTo(ctx, h, r)
	return sum(h), err
}

func (s *Store) hash() hash.Hash { return hmac.New(sha256.New, s.key) }

// addText adds a text and its length, so that "a","bc" differs from "ab","c".
func addText(h hash.Hash, text string) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(text)))
	h.Write(n[:])
	io.WriteString(h, text)
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// Step returns the cached results of one step. The texts identify the step; only their hash is stored.
func (s *Store) Step(texts ...string) *Step {
	return &Step{store: s, dir: filepath.Join(s.dir, s.Sum(texts...))}
}

// Step holds the cached results of one step.
type Step struct {
	store *Store
	dir   string
}
