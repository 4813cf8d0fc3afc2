//go:build unix

package enginetest

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// TestOutputLineEnd checks that a reference to an output loses one newline and nothing else.
func TestOutputLineEnd(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	res := b.run(context.Background(), `
environment:
  secrets:
    - {name: TOKEN, command: "printf 'secret\\r\\n'"}
steps:
  - name: crlf
    bash: printf 'a\r\n'
  - name: cr
    bash: printf 'a\r'
  - name: two
    bash: printf 'a\n\n'
  - name: err
    bash: printf 'e\r\n' >&2
  - name: seen
    bash: printf '<%s>' {crlf.output} {cr.output} {two.output} {err.error}; printf '%s' "$TOKEN" | wc -c
`, nil)
	if s := res.Step("seen"); s.Status != dag.Succeeded || s.Output != "<a\r><a\r><a\n><e\r>7\n" {
		t.Errorf("%+v", s)
	}
}
