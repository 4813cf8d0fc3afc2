package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
)

// TestFormat checks that messages contain no system calls.
func TestFormat(t *testing.T) {
	open := &fs.PathError{Op: "open", Path: "a/b", Err: fs.ErrPermission}
	rename := &os.LinkError{Op: "rename", Old: "a", New: "b", Err: fs.ErrExist}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("open a/b: no"), "open a/b: no"},
		{open, "a/b: permission denied"},
		{fmt.Errorf("--token-file: %w; try again", open), "--token-file: a/b: permission denied; try again"},
		{fmt.Errorf("cannot read %q: %w", "a/b", open), `cannot read "a/b": permission denied`},
		{fmt.Errorf("one: %w", errors.Join(open, rename)), "one: a/b: permission denied\nb: file already exists"},
		{fmt.Errorf("%w and %w", open, rename), "a/b: permission denied and b: file already exists"},
		{Usage(fmt.Errorf("cannot: %w", open), nil), "cannot: a/b: permission denied"},
		{Missing(open), "a/b: permission denied"},
		{ServiceErrorf("cannot listen: %w", open), "cannot listen: a/b: permission denied"},
	} {
		if got := Format("%v", c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
	if got := Format("cannot create %s: %v", "a/b", open); got != "cannot create a/b: permission denied" {
		t.Error(got)
	}
}
