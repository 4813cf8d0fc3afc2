package value

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzCopyText compares CopyText with ValidText and UpTo, for readers that return a text in different ways.
func FuzzCopyText(f *testing.F) {
	f.Add("plain", int64(100))
	f.Add("é\xe2\x82", int64(4))
	f.Add("a\xff\xfe\xe2\x82b€", int64(7))
	f.Add(strings.Repeat("€", 40_000)+"\xff\xff", int64(1<<20))
	f.Fuzz(func(t *testing.T, text string, limit int64) {
		if limit < 1 {
			return
		}
		want, wantReplaced := ValidText(UpTo(limit, text))
		wantRead := min(int64(len(text)), limit)
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			var b strings.Builder
			n, replaced, err := CopyText(&b, r, limit)
			if b.String() != want || n != wantRead || replaced != wantReplaced || err != nil {
				t.Errorf("%q to %d: %q, %d, %t, %v, want %q, %d, %t", text, limit, b.String(), n, replaced, err, want, wantRead, wantReplaced)
			}
		}
	})
}
