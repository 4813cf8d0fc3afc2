package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/os/buildinfo"
)

// TestRecordedSurroundings: a record has the version of flowrun and the names of environment variables, unless they
// are very many, and no value of them.
func TestRecordedSurroundings(t *testing.T) {
	for _, c := range []struct{ env, want []string }{
		{[]string{"PATH=/bin", "EMPTY=", "A=the value", "=C:=C:\\work", "A=another"}, []string{"A", "EMPTY", "PATH"}},
		{[]string{"PATH=/bin", strings.Repeat("LONG", 2000) + "=1"}, []string{strings.Repeat("LONG", 2000), "PATH"}},
		{[]string{"PATH=/bin", strings.Repeat("LONG", 2100) + "=1"}, nil},
	} {
		b := newBed(t)
		b.config.Store, b.world.Env = history.NewMemory(), c.env
		res := b.run(t.Context(), "steps:\n  - {name: a, approve: 'Go on?'}\n", nil, engine.WithRunEnv(b.world))
		r, err := b.config.Store.Record(t.Context(), res.ID)
		if err != nil {
			t.Fatal(err)
		}
		if r.Flowrun != buildinfo.Release() || !cmp.Equal(r.Variables, c.want) {
			t.Errorf("%q %q, want %q", r.Flowrun, r.Variables, c.want)
		}
	}
}
