package mcp

import (
	"net/http"
	"testing"
	"time"
)

func init() { lastAnswers = 200 * time.Millisecond }

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

// MaxSessions is the limit of sessions over HTTP.
const MaxSessions = maxSessions

// Sessions returns how many sessions a Server has.
func Sessions(s *Server) (n int) {
	for range s.sdk.Sessions() {
		n++
	}
	return n
}
