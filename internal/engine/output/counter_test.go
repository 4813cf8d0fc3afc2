package output

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/mask"
)

// Both streams share the limit of the output, and the attempt is stopped once.
func TestCounter(t *testing.T) {
	stopped := 0
	p := NewCounter(10)
	if n := p.take(6); n != 6 || p.IsOver() {
		t.Errorf("took %d", n)
	}
	if n := p.take(6); n != 4 || !p.IsOver() {
		t.Errorf("took %d", n)
	}
	p.WhenOver(func() { stopped++ })
	if n := p.take(1); n != 0 || stopped != 1 {
		t.Errorf("took %d, stopped %d times", n, stopped)
	}
	exact := NewCounter(3)
	if exact.take(3) != 3 || exact.IsOver() {
		t.Error("as much as the limit is over it")
	}
	if none := NewCounter(0); none.take(1<<30) != 1<<30 || none.IsOver() {
		t.Error("no limit is a limit")
	}
}

// If the limit of the output ends within a secret, no part of the secret is kept.
func TestCounterSecret(t *testing.T) {
	const secret = "correct-horse-battery"
	for limit := range int64(len("before ") + len(secret) + 1) {
		k := &Keeper{Mask: new(mask.Mask)}
		if err := k.Mask.Add(secret); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var followed bytes.Buffer
		p := k.copyFrom(r, &logFile{File: f}, &followed, 1000, NewCounter(max(limit, 1)))
		io.WriteString(w, "before "+secret+" after")
		w.Close()
		<-p.done
		out, err := p.output(Limits{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(kept), followed.String(), out.Inline} {
			rest := strings.TrimPrefix("before "+mask.Replacement+" after", text)
			if rest == text && text != "" {
				t.Errorf("with the limit %d, %q was kept", limit, text)
			}
		}
	}
}
