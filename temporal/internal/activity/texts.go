package activity

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// Store keeps content under its digest, for all workers.
type Store interface {
	Put(ctx context.Context, digest string, r io.Reader, size int64) error
	Get(ctx context.Context, digest string, off, n int64) (io.ReadCloser, error)
	String() string // where it is
}

// Texts keeps the output of steps in a Store. It implements engine.Texts.
type Texts struct {
	Store Store
	Dir   string // where fetched texts are kept
	Limit int    // how many of them; 0 means all
	// Secrets encrypts the texts that contain secrets. If it is nil, these are not kept, and no
	// later step can read them.
	Secrets converter.DataConverter
}

// stored is the beginning of the File of an Output that is in the store; its digest follows.
const stored = engine.DepositedPrefix

// Keep implements engine.Texts.
func (t *Texts) Keep(ctx context.Context, o *dag.Output) error {
	if strings.HasPrefix(o.File, stored) {
		return nil
	}
	digest, err := t.KeepFile(ctx, o.File)
	if err == nil {
		o.File = stored + digest
	}
	return err
}

// KeepFile implements engine.Texts.
func (t *Texts) KeepFile(ctx context.Context, file string) (digest string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	digest = fmt.Sprintf("sha256:%x", sum.Sum(nil))
	return digest, t.Store.Put(ctx, digest, io.LimitReader(f, size), size)
}

// Open implements engine.Texts.
func (t *Texts) Open(ctx context.Context, digest string) (io.ReadCloser, error) {
	return t.Store.Get(ctx, digest, 0, -1)
}

// Artifact copies an artifact of a run from the store into Dir, and returns it with its path there.
func (t *Texts) Artifact(a dag.Artifact) (dag.Artifact, error) {
	digest, ok := strings.CutPrefix(a.Path, stored)
	if !ok {
		return a, nil
	}
	return artifact.Withdraw(context.Background(), t, digest, filepath.Join(t.Dir, "artifacts"))
}

// KeepSecret implements engine.Texts.
func (t *Texts) KeepSecret(ctx context.Context, o *dag.Output) error {
	if t.Secrets == nil {
		return nil
	}
	payload, err := t.Secrets.ToPayload([]byte(o.Raw))
	if err != nil {
		return err
	}
	text, err := proto.Marshal(payload)
	if err != nil {
		return err
	}
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(text))
	if err := t.Store.Put(ctx, digest, bytes.NewReader(text), int64(len(text))); err != nil {
		return err
	}
	o.Digest = stored + digest
	return nil
}

// FetchSecret implements engine.Texts.
func (t *Texts) FetchSecret(ctx context.Context, o *dag.Output) error {
	digest, ok := strings.CutPrefix(o.Digest, stored)
	if !ok || t.Secrets == nil {
		return errors.New("it contains a secret, and only workers with --encryption-keys pass that on")
	}
	r, err := t.Open(ctx, digest)
	if err != nil {
		return fmt.Errorf("cannot fetch the output from the store %s: %w", t.Store, err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	var payload common.Payload
	if err := proto.Unmarshal(text, &payload); err != nil {
		return err
	}
	var raw []byte
	if err := t.Secrets.FromPayload(&payload, &raw); err != nil {
		return err
	}
	o.Raw = string(raw)
	return nil
}

// Fetch implements engine.Texts.
func (t *Texts) Fetch(ctx context.Context, o *dag.Output) error {
	digest, ok := strings.CutPrefix(o.File, stored)
	if !ok {
		return nil
	}
	name := filepath.Join(t.Dir, strings.TrimPrefix(digest, "sha256:"))
	if _, err := os.Stat(name); err == nil {
		o.File = name
		return nil
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return err
	}
	r, err := t.Open(ctx, digest)
	if err != nil {
		return fmt.Errorf("cannot fetch the output from the store %s: %w", t.Store, err)
	}
	defer r.Close()
	err = atomicfile.File{Path: name, Mode: 0o600, Unsynced: true}.Write(func(f *os.File) error {
		_, err := io.Copy(f, r)
		return err
	})
	if err != nil {
		return err
	}
	o.File = name
	if t.Limit > 0 {
		atomicfile.Prune(t.Dir, t.Limit)
	}
	return nil
}
