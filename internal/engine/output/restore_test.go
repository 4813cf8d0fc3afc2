package output

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

func TestRestoreFails(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	large := strings.Repeat("x", 10_000)
	digest := digestOf([]byte(large))
	for name, c := range map[string]struct {
		out  dag.Output
		want error
	}{
		"no file":            {dag.Output{Inline: "xx", Size: 10}, ErrLost},
		"file is gone":       {dag.Output{Size: 10_000, File: filepath.Join(dir, "none")}, ErrLost},
		"file is shorter":    {dag.Output{Size: 10_000, File: file("short", large[1:]), Digest: digest}, ErrLost},
		"file is longer":     {dag.Output{Size: 10_000, File: file("long", large+"y")}, ErrLost},
		"grew, but the same": {dag.Output{Size: 10_000, File: file("long", large+"y"), Digest: digest}, nil},
		"file has changed":   {dag.Output{Size: 10_000, File: file("other", large[1:]+"y"), Digest: digest}, ErrLost},
		"no size":            {dag.Output{Size: -1, File: file("none", ""), Digest: digest}, ErrLost},
		"folder":             {dag.Output{Size: 10_000, File: dir, Digest: digest}, ErrLost},
		"masked":             {dag.Output{Inline: "***", Size: 3, Masked: true}, dag.ErrWithheld},
		"masked file":        {dag.Output{Size: 10_000, File: file("masked", large), Masked: true}, dag.ErrWithheld},
		"replaced byte":      {dag.Output{Inline: "a\ufffd", Size: 2}, ErrLost},
	} {
		err := Restore(&c.out, 20_000)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if err != nil && c.out.Raw != "" {
			t.Errorf("%s: it failed and set Raw", name)
		}
	}
}
