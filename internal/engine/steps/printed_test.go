package steps

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
func TestPrinted(t *testing.T) {
	stopped := 0
	p := newPrinted(10)
	if n := p.take(6); n != 6 || p.isOver() {
		t.Errorf("took %d", n)
	}
	if n := p.take(6); n != 4 || !p.isOver() {
		t.Errorf("took %d", n)
	}
	p.whenOver(func() { stopped++ })
	if n := p.take(1); n != 0 || stopped != 1 {
		t.Errorf("took %d, stopped %d times", n, stopped)
	}
	exact := newPrinted(3)
	if exact.take(3) != 3 || exact.isOver() {
		t.Error("as much as the limit is over it")
	}
	if none := newPrinted(0); none.take(1<<30) != 1<<30 || none.isOver() {
		t.Error("no limit is a limit")
	}
}

// If the limit of the output ends within a secret, no part of the secret is kept.
func TestPrintedSecret(t *testing.T) {
	const secret = "correct-horse-battery"
	for limit := range int64(len("before ") + len(secret) + 1) {
		k := &keeper{mask: new(mask.Mask)}
		if err := k.mask.Add(secret); err != nil {
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
		p := k.copyFrom(r, &logFile{File: f}, &followed, 1000, newPrinted(max(limit, 1)))
		io.WriteString(w, "before "+secret+" after")
		w.Close()
		<-p.done
		out, err := p.output(outputLimits{limit: 1000})
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
