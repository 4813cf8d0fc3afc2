package cache

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
)

// ErrTooMany reports that a pattern matches more files than allowed, or that too many were visited to find them.
var ErrTooMany = errors.New("too many files")

// maxVisited limits how many names are read to find what a pattern matches.
const maxVisited = 1_000_000

// Collect returns what a pattern of artifacts matches below dir, which is open as root, sorted by path, so that a folder comes
// before its contents. A folder includes everything below it. Links are not followed, and none may lead out of dir.
// clean is the pattern relative to dir. Errors: a *PatternError, a *MissingError, ErrTooMany for more than most matches, that of ctx, a read error.
func Collect(ctx context.Context, root *os.Root, dir, pattern string, most int) (clean string, items []Item, err error) {
	patterns, err := OutputPatterns(dir, []string{pattern})
	if bad := new(PatternError); errors.As(err, &bad) {
		bad.Key = "artifacts"
	}
	if err != nil {
		return "", nil, err
	}
	items, err = newCollector(ctx, root, bounds{most, maxVisited}).collect(patterns, nil)
	return patterns[0], items, err
}

// bounds limits a search.
type bounds struct {
	items   int // to find
	entries int // of folders to read
}

func unbounded() bounds { return bounds{math.MaxInt, math.MaxInt} }

// boundedFS is a tree of files in which a search fails after it has read a number of names.
type boundedFS struct {
	fs.FS
	ctx  context.Context
	left int
}

// ReadDir implements fs.ReadDirFS.
func (b *boundedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	list, err := fs.ReadDir(b.FS, name)
	if b.left -= len(list); b.left < 0 {
		return nil, ErrTooMany
	}
	return list, err
}

// Stat implements fs.StatFS.
func (b *boundedFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(b.FS, name) }
