package runlog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sort"
	"sync"
)

// blockSize is how many bytes of a log have one entry in a LineIndex.
const blockSize = 1 << 20

// LineIndex finds lines in a log that can grow. It holds one number for each block of the log, so a
// log of 1 GB takes 8 kB, and reads each block once. Safe for concurrent use.
type LineIndex struct {
	mu       sync.Mutex
	newlines []int64 // newlines[i]: how many there are before block i
}

// extend reads the complete blocks that are not in the index yet, and returns how many newlines are
// before each block.
func (x *LineIndex) extend(ctx context.Context, log io.ReaderAt, size int64) ([]int64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.newlines) == 0 || int64(len(x.newlines)-1) > size/blockSize { // it has become smaller
		x.newlines = []int64{0}
	}
	var buf []byte
	for i := len(x.newlines); int64(i) <= size/blockSize; i++ {
		if buf == nil {
			buf = make([]byte, blockSize)
		}
		if _, err := log.ReadAt(buf, int64(i-1)*blockSize); err != nil && err != io.EOF {
			return nil, fmt.Errorf("cannot read a log: %w", err)
		}
		x.newlines = append(x.newlines, x.newlines[i-1]+int64(bytes.Count(buf, []byte("\n"))))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return x.newlines, nil
}

// lines returns how many lines the log has. open reports that the last one does not end yet.
func (x *LineIndex) lines(ctx context.Context, log io.ReaderAt, size int64) (n int64, open bool, err error) {
	before, err := x.extend(ctx, log, size)
	if err != nil {
		return 0, false, err
	}
	rest := make([]byte, size%blockSize)
	if _, err := log.ReadAt(rest, size-int64(len(rest))); err != nil && err != io.EOF {
		return 0, false, fmt.Errorf("cannot read a log: %w", err)
	}
	n = before[len(before)-1] + int64(bytes.Count(rest, []byte("\n")))
	last := make([]byte, 1)
	if size > 0 {
		if _, err := log.ReadAt(last, size-1); err != nil && err != io.EOF {
			return 0, false, fmt.Errorf("cannot read a log: %w", err)
		}
		if open = last[0] != '\n'; open {
			n++
		}
	}
	return n, open, nil
}

// offset returns where a line begins. The log has at least that many lines; they count from 1.
func (x *LineIndex) offset(ctx context.Context, log io.ReaderAt, size, line int64) (int64, error) {
	before, err := x.extend(ctx, log, size)
	if err != nil || line <= 1 {
		return 0, err
	}
	// The newline that ends the line before is in the last block with fewer newlines before it.
	block := sort.Search(len(before), func(i int) bool { return before[i] >= line-1 }) - 1
	buf := make([]byte, min(blockSize, size-int64(block)*blockSize))
	if _, err := log.ReadAt(buf, int64(block)*blockSize); err != nil && err != io.EOF {
		return 0, fmt.Errorf("cannot read a log: %w", err)
	}
	at := 0
	for range line - 1 - before[block] {
		at += bytes.IndexByte(buf[at:], '\n') + 1
	}
	return int64(block)*blockSize + int64(at), nil
}
