package mcp

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
)

const (
	// maxReplayBytes limits the memory for messages that clients may want again, over all sessions.
	maxReplayBytes = 16 << 20
	// maxReplayStreams limits the streams that they belong to.
	maxReplayStreams = 4 * maxSessions
)

// errForgotten reports that the messages of a stream are not kept any more.
var errForgotten = errors.New("the messages of this stream are no longer kept")

// replay keeps what was sent on the streams of calls, so that a client that lost the connection of a call gets its result
// on a new one (Last-Event-ID). It forgets whole streams, the oldest first: a part of a stream could not be told from the
// whole. The stream of a session that belongs to no call is not kept, because it never ends, and what it says can be
// asked again. It implements mcp.EventStore of the library.
type replay struct {
	mu      sync.Mutex
	streams map[streamKey][][]byte
	order   []streamKey // the oldest first
	bytes   int
}

type streamKey struct{ session, stream string }

// Open implements mcp.EventStore.
func (r *replay) Open(_ context.Context, session, stream string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := streamKey{session, stream}
	if stream == "" || r.streams[key] != nil {
		return nil
	}
	r.streams[key] = [][]byte{}
	r.order = append(r.order, key)
	r.limit()
	return nil
}

// Append implements mcp.EventStore.
func (r *replay) Append(_ context.Context, session, stream string, data []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := streamKey{session, stream}
	if r.streams[key] == nil {
		return nil
	}
	r.streams[key] = append(r.streams[key], data)
	r.bytes += len(data)
	r.limit()
	return nil
}

// After implements mcp.EventStore.
func (r *replay) After(_ context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.streams[streamKey{session, stream}]
	if list == nil && stream != "" {
		return func(yield func([]byte, error) bool) { yield(nil, errForgotten) }
	}
	after := list[min(max(index+1, 0), len(list)):]
	return func(yield func([]byte, error) bool) {
		for _, data := range after {
			if !yield(data, nil) {
				return
			}
		}
	}
}

// SessionClosed implements mcp.EventStore.
func (r *replay) SessionClosed(_ context.Context, session string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order = slices.DeleteFunc(r.order, func(key streamKey) bool {
		if key.session == session {
			r.forget(key)
		}
		return key.session == session
	})
	return nil
}

// limit forgets streams until the others are within the limits.
func (r *replay) limit() {
	for r.bytes > maxReplayBytes || len(r.order) > maxReplayStreams {
		r.forget(r.order[0])
		r.order = r.order[1:]
	}
}

// forget drops a stream that is no longer in the order.
func (r *replay) forget(key streamKey) {
	for _, data := range r.streams[key] {
		r.bytes -= len(data)
	}
	delete(r.streams, key)
}
