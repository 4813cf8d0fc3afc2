package activity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/converter"

	"github.com/flowrun/flowrun/dag"
)

// memory is a Store. It counts what is read.
type memory struct {
	content map[string][]byte
	reads   int
}

func (m *memory) Put(_ context.Context, digest string, r io.Reader, size int64) error {
	text, err := io.ReadAll(r)
	if err == nil && int64(len(text)) != size {
		err = fmt.Errorf("%d bytes instead of %d", len(text), size)
	}
	m.content[digest] = text
	return err
}

func (m *memory) Get(_ context.Context, digest string, _, _ int64) (io.ReadCloser, error) {
	m.reads++
	text, ok := m.content[digest]
	if !ok {
		return nil, errors.New("not found")
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

func (m *memory) String() string { return "memory" }

// TestTexts: a log is kept once under its digest, and another worker reads it from the store once.
func TestTexts(t *testing.T) {
	ctx := t.Context()
	store := &memory{content: map[string][]byte{}}
	log := filepath.Join(t.TempDir(), "step.out")
	if err := os.WriteFile(log, []byte("printed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	here, there := &Texts{Store: store, Dir: t.TempDir()}, &Texts{Store: store, Dir: filepath.Join(t.TempDir(), "new")}
	o := &dag.Output{File: log}
	for range 2 { // the second time it is kept already
		if err := here.Keep(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	kept := o.File
	if !strings.HasPrefix(kept, stored+"sha256:") || len(store.content) != 1 {
		t.Fatalf("it is kept as %q, in %d texts", kept, len(store.content))
	}
	for range 2 {
		o := &dag.Output{File: kept}
		if err := there.Fetch(ctx, o); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(o.File); string(text) != "printed\n" {
			t.Errorf("fetched %q, %v", text, err)
		}
	}
	if store.reads != 1 {
		t.Errorf("it was read %d times", store.reads)
	}
	own := &dag.Output{File: log}
	if err := there.Fetch(ctx, own); err != nil || own.File != log {
		t.Errorf("a log that is not in the store became %q, %v", own.File, err)
	}
	if err := there.Fetch(ctx, &dag.Output{File: stored + "sha256:00"}); err == nil || !strings.Contains(err.Error(), "the store memory") {
		t.Error(err)
	}
}

// TestSecretTexts: a text with a secret leaves the worker only if there is a key for it.
func TestSecretTexts(t *testing.T) {
	ctx := t.Context()
	store := &memory{content: map[string][]byte{}}
	plain := &Texts{Store: store}
	o := &dag.Output{Raw: "hunter2", Masked: true}
	if err := plain.KeepSecret(ctx, o); err != nil || len(store.content) > 0 || o.Digest != "" {
		t.Errorf("without a key it is kept: %q, %v", o.Digest, err)
	}
	if err := plain.FetchSecret(ctx, o); err == nil || !strings.Contains(err.Error(), "--encryption-keys") {
		t.Error(err)
	}
	withKey := &Texts{Store: store, Secrets: converter.GetDefaultDataConverter()}
	if err := withKey.KeepSecret(ctx, o); err != nil || len(store.content) != 1 {
		t.Fatalf("%d texts, %v", len(store.content), err)
	}
	back := &dag.Output{Digest: o.Digest, Masked: true}
	if err := withKey.FetchSecret(ctx, back); err != nil || back.Raw != "hunter2" {
		t.Errorf("%q, %v", back.Raw, err)
	}
	if err := plain.FetchSecret(ctx, &dag.Output{Digest: o.Digest, Masked: true}); err == nil {
		t.Error("a worker without a key has read it")
	}
}

// TestWith: what a worker keeps has a bound.
func TestWith(t *testing.T) {
	var m map[int]int
	for i := range 3*maxKept + 1 {
		if m = with(m, i, i); len(m) > maxKept || m[i] != i {
			t.Fatalf("%d values, and %d is %d", len(m), i, m[i])
		}
	}
}
