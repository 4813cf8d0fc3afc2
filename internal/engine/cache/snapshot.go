package cache

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/flowrun/flowrun/internal/lang/filestamp"
)

// Snapshot holds what patterns of outputs matched before a step ran, so that the files that it has written can be told
// from those that were there.
type Snapshot struct{ stamps map[string]stamp }

// stamp changes whenever a file is written, also with the same content and time. Of a folder, what is in it does not
// count.
type stamp struct {
	mode              fs.FileMode
	size              int64
	modified, changed int64
	device, inode     uint64
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{mode: info.Mode()}
	changed, device, inode := filestamp.Identity(info)
	s.device, s.inode = device, inode
	if !info.IsDir() {
		s.size, s.modified, s.changed = info.Size(), info.ModTime().UnixNano(), changed
	}
	return s
}

// TakeSnapshot returns what patterns of outputs match in dir now. Errors: a *PatternError, ErrTooMany, that of ctx, a read
// error.
func TakeSnapshot(ctx context.Context, dir string, patterns []string) (*Snapshot, error) {
	if len(patterns) == 0 {
		return &Snapshot{}, nil
	}
	clean, err := OutputPatterns(dir, patterns)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the outputs: %w", err)
	}
	defer root.Close()
	c := newCollector(ctx, root, bounds{math.MaxInt, maxVisited})
	c.anything = true
	if _, err := c.collect(nil, clean); err != nil {
		return nil, fmt.Errorf("cannot read the outputs: %w", err)
	}
	return &Snapshot{c.stamps}, awaitTick(ctx, c.stamps)
}

// Wrote reports whether a file in root was written since the snapshot. Without a snapshot, every file was.
func (b *Snapshot) Wrote(root *os.Root, path string) bool {
	info, err := root.Lstat(path)
	return err != nil || b.wrote(path, stampOf(info))
}

// wrote reports whether a file was written since the snapshot.
func (b *Snapshot) wrote(path string, now stamp) bool {
	if b == nil {
		return true
	}
	before, there := b.stamps[path]
	return !there || before != now
}

const (
	tick       = 12 * time.Millisecond // more than the time between two readings of the clock of file systems
	coarseTick = 2 * time.Second       // the same for file systems that keep whole seconds
)

// awaitTick waits until a file that is written from now on gets another time than all of the stamps: a step that has
// just ended may have written one of them.
func awaitTick(ctx context.Context, stamps map[string]stamp) error {
	var newest int64
	for _, s := range stamps {
		newest = max(newest, cmp.Or(s.changed, s.modified))
	}
	wait := tick
	if newest%int64(time.Second) == 0 {
		wait = coarseTick
	}
	age := time.Since(time.Unix(0, newest))
	if age < 0 || age >= wait { // a time in the future is one that a program has set
		return nil
	}
	timer := time.NewTimer(wait - age)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
