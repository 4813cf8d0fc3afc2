package mcp

import (
	"context"
	"crypto/rand"
	"net/http"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func init() { lastAnswers = 200 * time.Millisecond }

// SetListPage sets how many tools a client of new Servers gets at once.
func SetListPage(t *testing.T, n int) {
	was := listPage
	t.Cleanup(func() { listPage = was })
	listPage = n
}

// CheckExpiry checks that questions expire, and that there is a limit to them.
func CheckExpiry(t *testing.T) {
	var a approvals
	o := openApproval{tool: "t"}
	state, _ := a.add(o)
	time.Sleep(approvalTime + time.Second)
	if a.take(state, o) {
		t.Error("an expired question can be answered")
	}
	for range maxOpenApprovals {
		a.add(o)
	}
	if _, ok := a.add(o); ok {
		t.Error("there is no limit of open questions")
	}
	time.Sleep(approvalTime + time.Second)
	if _, ok := a.add(o); !ok {
		t.Error("expired questions are not dropped")
	}
}

// Hasten shortens the time for which calls go on without a connection to their client.
func Hasten(h http.Handler, grace time.Duration) { h.(*sessions).grace = grace }

// HangUp has a Server close the connection of each call of a tool as it begins, and ask the client to come back.
func HangUp(s *Server, tool string) {
	s.sdk.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if call, ok := r.(*mcp.CallToolRequest); ok && call.Params.Name == tool {
				call.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 100 * time.Millisecond})
			}
			return next(ctx, method, r)
		}
	})
}

// MaxSessions is the limit of sessions over HTTP.
const MaxSessions = maxSessions

// Sessions returns how many sessions a Server has.
func Sessions(s *Server) (n int) {
	for range s.sdk.Sessions() {
		n++
	}
	return n
}

// CheckReplay checks what is kept of the streams of calls.
func CheckReplay(t *testing.T) {
	r := &replay{streams: map[streamKey][][]byte{}}
	ctx := t.Context()
	kept := func(session, stream string, after int) (n int, err error) {
		for _, e := range r.After(ctx, session, stream, after) {
			if n++; e != nil {
				return 0, e
			}
		}
		return n, nil
	}
	part := make([]byte, maxReplayBytes/4)
	for _, stream := range []string{"a", "b"} {
		r.Open(ctx, "s", stream)
		for range 2 {
			r.Append(ctx, "s", stream, part)
		}
	}
	if n, err := kept("s", "a", 0); n != 1 || err != nil {
		t.Errorf("after the first of two: %d, %v", n, err)
	}
	r.Append(ctx, "s", "b", part)
	if _, err := kept("s", "a", 1); err == nil {
		t.Error("the oldest stream is kept beyond the limit")
	}
	if n, err := kept("s", "b", -1); n != 3 || err != nil {
		t.Errorf("of the newest stream: %d, %v", n, err)
	}
	if n, err := kept("s", "", -1); n != 0 || err != nil {
		t.Errorf("of the stream of no call: %d, %v", n, err)
	}
	for range 2 * maxReplayStreams {
		r.Open(ctx, "many", rand.Text())
	}
	if len(r.streams) != maxReplayStreams || len(r.order) != maxReplayStreams {
		t.Errorf("%d streams are kept", len(r.streams))
	}
	r.SessionClosed(ctx, "many")
	if len(r.streams) != 0 || r.bytes != 0 {
		t.Errorf("of sessions that have ended, %d streams with %d bytes are kept", len(r.streams), r.bytes)
	}
}
