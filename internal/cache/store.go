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

	"github.com/flowrun/flowrun/internal/atomicfile"
)

// Store is a folder of kept results.
type Store struct {
	dir string
	key []byte           // of every hash
	now func() time.Time // a test has a clock of its own
}

const keySize = 32

// Open opens the store in dir, and makes it where there is none. Everything in it can
// be read by this user alone.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, now: time.Now}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("cannot use the cache %q: %w; choose another folder or make it writable", dir, err)
	}
	return s, nil
}

// Peek opens the store in dir to be looked at, and makes nothing: where there is no
// store it holds no result.
func Peek(dir string) (*Store, error) {
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
	return s.readKey() // another one may have been faster
}

// ready makes sure that others will find what is kept: somebody may have removed the
// folder while this process had it open.
func (s *Store) ready() error {
	if _, err := os.Lstat(s.keyFile()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.makeKey()
}

func (s *Store) keyFile() string { return filepath.Join(s.dir, "key") }

func (s *Store) readKey() error {
	key, err := os.ReadFile(s.keyFile())
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("the key has %d bytes, not %d; remove the folder", len(key), keySize)
	}
	if err == nil {
		s.key = key
	}
	return err
}

// makeKey makes the folder and the file of its key. The first of several writers wins.
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

// Sum is the hash of texts: which texts, how many and where one ends.
func (s *Store) Sum(texts ...string) string {
	h := s.hash()
	for _, t := range texts {
		addText(h, t)
	}
	return sum(h)
}

// digest is the hash of what r reads.
func (s *Store) digest(ctx context.Context, r io.Reader) (string, error) {
	h := s.hash()
	_, err := copyTo(ctx, h, r)
	return sum(h), err
}

func (s *Store) hash() hash.Hash { return hmac.New(sha256.New, s.key) }

// addText adds a text and its length, so that "a","bc" is not "ab","c".
func addText(h hash.Hash, text string) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(text)))
	h.Write(n[:])
	io.WriteString(h, text)
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// Step is what is kept of one step. The texts say which; they are only ever kept as a
// hash.
func (s *Store) Step(texts ...string) *Step {
	return &Step{store: s, dir: filepath.Join(s.dir, s.Sum(texts...))}
}

// Step is the kept results of one step.
type Step struct {
	store *Store
	dir   string
}
