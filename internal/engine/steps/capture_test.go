package steps

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// Capture returns the output of a program; errors do not contain it.
func TestCapture(t *testing.T) {
	t.Parallel()
	b := open(t, Options{}, nil)
	defer b.close(t)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		script, want, bad string
	}{
		"answers":         {"echo a; echo b; echo canary >&2", "a\nb\n", ""},
		"reads nothing":   {"cat; echo x", "x\n", ""},
		"environment":     {`echo "$A $PWD"`, "1 " + dir + "\n", ""},
		"fails":           {"echo canary; echo canary >&2; exit 3", "", "exit code 3"},
		"is killed":       {"echo canary; kill -9 $$", "", "exit code 137"},
		"prints too much": {"yes canary", "", "more than 1000 bytes"},
		"leaves a child":  {"echo x; sleep 300 & ", "x\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := b.session.Capture(context.Background(), Capture{Name: "@secrets", Argv: []string{"sh", "-c", c.script}, Dir: dir, Env: []string{"A=1"}, MaxBytes: 1000})
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got != c.want || (err != nil) != (c.bad != "") || !strings.Contains(text, c.bad) || strings.Contains(text, "canary") {
				t.Errorf("%q %v", got, err)
			}
		})
	}
	if _, err := b.session.Capture(context.Background(), Capture{Argv: []string{"flowrun-no-such-program"}, Dir: dir}); err == nil || !strings.Contains(err.Error(), "not found in PATH") {
		t.Error(err)
	}
	if _, err := b.session.Capture(context.Background(), Capture{Argv: []string{dir}, Dir: dir}); err == nil {
		t.Error("a folder was started")
	}
}

// A program that takes too long is ended soon, with everything that it started.
func TestCaptureEnds(t *testing.T) {
	t.Parallel()
	b := open(t, Options{}, nil)
	defer b.close(t)
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, late)
	defer cancel()
	began := time.Now()
	_, err := b.session.Capture(ctx, Capture{Argv: []string{"sh", "-c", "sleep 300 & sleep 300"}, Dir: os.TempDir(), MaxBytes: 10})
	if !errors.Is(err, late) || time.Since(began) > waittest.Limit { // it sleeps for 300 s
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
