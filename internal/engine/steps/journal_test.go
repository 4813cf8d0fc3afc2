package steps

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/output"
)

// References read the same output before and after it went through a journal.
func TestRestore(t *testing.T) {
	for _, masked := range []bool{false, true} {
		b := open(t, Options{LogDir: t.TempDir()}, nil)
		if masked {
			if err := b.session.Mask().Add("never-printed"); err != nil {
				t.Fatal(err)
			}
		}
		for name, c := range map[string]struct {
			script string
			limit  int64
			keep   Streams
		}{
			"nothing":                  {"true", 0, Stdout},
			"little":                   {"echo hello", 0, Stdout},
			"little, not mentioned":    {"echo hello", 0, 0},
			"replacement character":    {`printf 'a\357\277\275b'`, 0, Stdout},
			"binary":                   {`printf 'a\377\000b'`, 0, Stdout},
			"cut":                      {"echo hello", 3, Stdout},
			"cut in a character":       {`printf '12\342\202\254'`, 4, Stdout},
			"cut in what is no text":   {`printf '1\342\342\342'`, 3, Stdout},
			"just inline":              {"head -c 4096 /dev/zero", 0, Stdout},
			"large":                    {"head -c 100000 /dev/zero | tr '\\0' '\\377'", 0, Stdout},
			"large and cut":            {"head -c 100000 /dev/zero", 50000, Stdout},
			"large and cut in between": {`i=0; while [ $i -lt 3000 ]; do printf '\342\202\254'; i=$((i+1)); done`, 5000, Stdout},
			"large, not mentioned":     {"head -c 100000 /dev/zero", 0, 0},
		} {
			cmd := b.sh(t, c.script)
			cmd.Limit, cmd.Keep = c.limit, c.keep
			r := b.run(t, cmd)
			if wants := c.keep != 0 && r.Stdout != nil && r.Stdout.Size > dag.InlineLimit; wants != (r.Stdout != nil && r.Stdout.Digest != "") {
				t.Errorf("%s: digest %q", name, r.Stdout.Digest)
			}
			limit := cmp.Or(cmd.Limit, DefaultLimit)
			if c.keep == 0 {
				limit = dag.InlineLimit
			}
			expectRestored(t, name, r.Stdout, limit)
		}
		large := strings.Repeat("large ", 2000)
		for _, text := range []string{"", "little", large} {
			out, err := b.session.Text("text", 1, text)
			if err != nil {
				t.Fatal(err)
			}
			if text == large && out.Digest == "" {
				t.Error("a large text has no digest")
			}
			expectRestored(t, "text", out, math.MaxInt64)
		}
		b.close(t)
	}
}

// journaled returns an Output as it is read back from a journal.
func journaled(t *testing.T, o *dag.Output) *dag.Output {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var back *dag.Output
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func expectRestored(t *testing.T, name string, o *dag.Output, limit int64) {
	t.Helper()
	back := journaled(t, o)
	if err := output.Restore(back, limit); err != nil {
		t.Errorf("%s: %v", name, err)
	} else if o != nil && back.Raw != o.Raw {
		t.Errorf("%s: %d bytes %.20q, want %d bytes %.20q", name, len(back.Raw), back.Raw, len(o.Raw), o.Raw)
	}
}

// A digest of a text with a secret would allow the secret to be guessed.
func TestNoDigestOfSecrets(t *testing.T) {
	b := open(t, Options{LogDir: t.TempDir()}, nil)
	defer b.close(t)
	if err := b.session.Mask().Add("hunter2"); err != nil {
		t.Fatal(err)
	}
	cmd := b.sh(t, "echo hunter2; head -c 10000 /dev/zero")
	cmd.Keep = Stdout
	text, err := b.session.Text("text", 1, "hunter2"+strings.Repeat("x", 10_000))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []*dag.Output{b.run(t, cmd).Stdout, text} {
		if o.Digest != "" || !o.Masked {
			t.Errorf("masked %t, digest %q", o.Masked, o.Digest)
		}
		if err := output.Restore(journaled(t, o), DefaultLimit); !errors.Is(err, dag.ErrWithheld) {
			t.Error(err)
		}
	}
}
