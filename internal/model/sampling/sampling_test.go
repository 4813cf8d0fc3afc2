//go:build unix

package sampling_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/model/sampling"
)

// TestCommand is what a command gets, and which of its results are answers.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"echo": `printf '%s|' "$@" "$PWD"; cat`, "silent": "cat >/dev/null", "fails": "echo secret-key >&2; exit 3",
		"large": "head -c 2000000 /dev/zero | tr '\\0' a", "binary": `printf '\377\376'`, "deaf": "echo fine",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	request := map[string]string{"text": "$(id) `id` '; exit 1; {x}\n"}
	big := map[string]string{"text": strings.Repeat("a", 3<<20)}
	for _, c := range []struct {
		line         string
		request      any
		answer, fail string
	}{
		{`./echo 'a b' "$HOME"`, request, `a b|$HOME|` + dir + `|{"text":"$(id) ` + "`id`" + ` '; exit 1; {x}\n"}`, ""},
		{"./deaf", big, "fine", ""},
		{"./silent", big, "", "it printed no answer"},
		{"./fails", request, "", `exit code 3; it printed "secret-key"`},
		{"./large", request, "", "more than 1 MB"},
		{"./binary", request, "", "not UTF-8"},
		{"./none", request, "", "none"},
		{"no-such-program", request, "", "not found in PATH"},
		{"a 'b", request, "", "tools.samplingCommand: "},
		{"./echo", map[string]string{"text": strings.Repeat("a", 5<<20)}, "", "larger than 4 MiB"},
		{"./echo", make(chan int), "", "cannot be written as JSON"},
	} {
		a, err := sampling.Command{Line: c.line, Dir: dir}.Sample(t.Context(), c.request)
		if c.fail == "" && err != nil || c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)) {
			t.Errorf("%s: %v, want %q", c.line, err, c.fail)
		}
		if a.Text != c.answer || c.fail == "" && a.Model != strings.TrimPrefix(strings.Fields(c.line)[0], "./") {
			t.Errorf("%s: %+v, want %q", c.line, a, c.answer)
		}
	}
}

// TestCommandStops: a command that is cancelled ends with all that it started.
func TestCommandStops(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "slow"), []byte("#!/bin/sh\nsleep 1000 & wait\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := (sampling.Command{Line: "./slow", Dir: dir}).Sample(ctx, nil); err == nil || time.Since(start) > 10*time.Second {
		t.Error(err, time.Since(start))
	}
}
