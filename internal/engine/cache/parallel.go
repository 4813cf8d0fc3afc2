package cache

import (
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// maxReaders limits how many files one step reads at the same time.
const maxReaders = 4

// each calls f for 0 to n-1, a few at the same time, and returns the error of the lowest index that has one. After an
// error it starts no further calls.
func each(ctx context.Context, n int, f func(i int) error) error {
	errs := make([]error, n)
	var next, failed atomic.Int64
	var workers sync.WaitGroup
	for range min(n, maxReaders, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && failed.Load() == 0; i = int(next.Add(1)) - 1 {
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = f(i)
				}
				if errs[i] != nil {
					failed.Add(1)
				}
			}
		})
	}
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}

// copyTo copies in chunks of a fixed size, whatever interfaces the two ends implement, and stops when ctx is done.
func copyTo(ctx context.Context, w io.Writer, r io.Reader) (int64, error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{w}, contextReader{ctx, r}, *buf)
}

// contextReader is a reader that fails once its context is done.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (s contextReader) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}
