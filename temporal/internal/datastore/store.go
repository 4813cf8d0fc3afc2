// Package datastore keeps what is too large for the history of a workflow: long outputs of steps, and
// large payloads.
//
// A [Store] is addressed by content. A value is put under its SHA-256 digest and never changes, so many
// workers can put the same value at once, and a value that was damaged is not returned. There are two
// kinds: a folder that all workers share, and a bucket of an S3-compatible service. [Open] chooses by
// the URL.
//
// Values are deleted by age: those of a folder by [Prune], those of a bucket by a rule of the bucket. A
// value that is put again counts as new.
package datastore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// Store keeps values by their digest. Safe for concurrent use, also by several processes.
type Store interface {
	// Put stores the content of r, which must have the digest and the size. It need not read r if the
	// store has the value.
	Put(ctx context.Context, digest string, r io.Reader, size int64) error
	// Get returns n bytes from an offset on, or fewer if the value is shorter; n < 0: all of them. A
	// whole value is checked: reading a damaged one ends with an error. The error is ErrMissing if
	// there is no such value.
	Get(ctx context.Context, digest string, offset, n int64) (io.ReadCloser, error)
	// Size returns the size of a value, or ErrMissing.
	Size(ctx context.Context, digest string) (int64, error)
	// String returns where it is, for messages: the folder or the URL, without its options.
	String() string
}

// ErrMissing means that a store has no value with the digest.
var ErrMissing = fmt.Errorf("the value is not in the store: %w", fs.ErrNotExist)

// RenewAfter is the age at which a value that is put again is renewed, so that it is not deleted by age
// while a new run uses it. So a value can be that much older than the run that uses it.
const RenewAfter = 24 * time.Hour

// Open returns the store at a URL: an absolute folder, file:///folder, or s3://bucket/prefix with the
// options endpoint, region and path-style.
func Open(ctx context.Context, location string) (Store, error) {
	if filepath.IsAbs(location) {
		return openFolder(location)
	}
	u, err := url.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("invalid store: %w", err)
	}
	switch {
	case u.Scheme == "file" && u.Host == "" && filepath.IsAbs(filepath.FromSlash(u.Path)):
		return openFolder(filepath.FromSlash(u.Path))
	case u.Scheme == "s3" && u.Host != "":
		return openBucket(u)
	}
	return nil, fmt.Errorf("invalid store %q: write an absolute folder, or s3://BUCKET/PREFIX", location)
}

const digestPrefix = "sha256:"

// Digest returns the digest of a value.
func Digest(value []byte) string {
	sum := sha256.Sum256(value)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// split returns a digest as the path of a value. The path cannot leave the store.
func split(digest string) (folder, name string, err error) {
	sum, ok := strings.CutPrefix(digest, digestPrefix)
	if _, err := hex.DecodeString(sum); !ok || err != nil || len(sum) != 2*sha256.Size || sum != strings.ToLower(sum) {
		return "", "", fmt.Errorf("invalid digest %q", digest)
	}
	return sum[:2], sum[2:], nil
}

// errDamaged is the error for content that does not have its digest.
var errDamaged = errors.New("the content does not have its digest")

// checkedReader fails at the end if what was read does not have the digest and the size.
type checkedReader struct {
	r      io.Reader
	digest string
	left   int64
	sum    hash.Hash
}

func checked(r io.Reader, digest string, size int64) *checkedReader {
	return &checkedReader{r, digest, size, sha256.New()}
}

func (c *checkedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	c.left -= int64(n)
	if c.left < 0 || err == io.EOF && (c.left > 0 || digestPrefix+hex.EncodeToString(c.sum.Sum(nil)) != c.digest) {
		return 0, fmt.Errorf("%w %s", errDamaged, c.digest)
	}
	return n, err
}

// readCloser joins a reader with what closes it.
type readCloser struct {
	io.Reader
	io.Closer
}
