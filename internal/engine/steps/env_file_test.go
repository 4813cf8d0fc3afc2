package steps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
)

// Variables of files override inherited ones, and variables of the step override both. Later files
// override earlier ones. A missing file fails the step unless it is optional.
func TestEnvFiles(t *testing.T) {
	var notices []notice.Notice
	b := open(t, Options{Env: append(os.Environ(), "BASE=base", "A=base"), Notify: func(n notice.Notice) { notices = append(notices, n) }},
		map[string]any{"NAME": "two"})
	defer b.close(t)
	b.dir = t.TempDir()
	b.environ = []string{"TOOL=tool", "B=tool"}
	for name, text := range map[string]string{
		"one.env":     "A=one\nB=one\nC=one\nD=one",
		"sub/two.env": "B=two-$A\nC=two\nE=\"$BASE $TOOL\"\nF=$NONE\nPW=hidden-one",
		"bad.env":     "A\nB=\"canary",
	} {
		file := filepath.Join(b.dir, name)
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := func(names ...string) (list []EnvFile) {
		for _, n := range names {
			list = append(list, EnvFile{Path: b.text(t, n)})
		}
		return list
	}
	c := b.bash(t, `echo "$A|$B|$C|$D|$E|$F|$S|$PW"`)
	c.EnvFiles = files(filepath.Join(b.dir, "one.env"), "{NAME}.env")
	c.EnvFiles = append(c.EnvFiles, EnvFile{Path: b.text(t, "none"), Optional: true})
	c.Env = []EnvVar{{"C", b.text(t, "own")}}
	c.Secrets = []SecretVar{{"S", "key"}}
	c.Hidden = []string{"PW", "NONE"}
	c.Dir = b.text(t, "sub")
	r := b.run(t, c)
	if got := stdout(r); got != "one|two-one|own|one|base tool||secret of key|hidden-one\n" || !r.Stdout.Masked {
		t.Errorf("%q %+v", got, r)
	}
	if len(notices) != 1 || notices[0].Code != notice.EnvFile || notices[0].Step != "step" || !strings.Contains(notices[0].Message, "two.env:4:3: NONE is not set") {
		t.Errorf("%+v", notices)
	}
	c.EnvFiles = files("none.env", "bad.env", ".")
	c.Dir = nil
	r = b.run(t, c)
	if r.Status != dag.Failed || !r.Permanent || strings.Contains(r.Message, "canary") || strings.Count(r.Message, "\n") != 3 {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"none.env: it does not exist", "bad.env:1:1: a name without a value", "bad.env:2:3: quote", "it is not a regular file"} {
		if !strings.Contains(r.Message, want) {
			t.Errorf("%q is missing in %q", want, r.Message)
		}
	}
}
