//go:build unix

package mcp_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestCancel checks that cancelling a request ends the run.
func TestCancel(t *testing.T) {
	s := serve(t, nil)
	marker := filepath.Join(t.TempDir(), "started")
	s.write(t, "slow", `{name: slow, description: Slow, tags: [free], bash: 'echo $$ > `+marker+`; sleep 60'}`)
	s.Refresh()
	c := s.connect(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "slow"})
		done <- err
	}()
	pid := waitForFile(t, marker)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	waitForExit(t, pid)
}

// TestClose checks that Close ends the calls of a session that is still open, and that a client
// that does not read cannot delay the end.
func TestClose(t *testing.T) {
	s := serve(t, nil)
	marker := filepath.Join(t.TempDir(), "started")
	s.write(t, "slow", `{name: slow, description: Slow, tags: [free], bash: 'echo $$ > `+marker+`; sleep 60'}`)
	s.Refresh()
	in, requests := io.Pipe()
	_, out := io.Pipe() // nobody reads
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, in, out) }()
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{},"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
	} {
		if _, err := io.WriteString(requests, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	pid := waitForFile(t, marker)
	now := make(chan struct{})
	close(now)
	s.Close(now)
	cancel()
	select {
	case err := <-served:
		if err != nil {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(waittest.Limit):
		t.Error("Serve does not end")
	}
	waitForExit(t, pid)
	s.Close(now) // once more is harmless
}

// TestClientsGone checks that the calls of HTTP clients that were killed, or are not allowed to go on, end, and those of
// others do not.
func TestClientsGone(t *testing.T) {
	const clients = 10
	for name, c := range map[string]struct {
		stateless bool
		gone      func(kill, endLife func(), one peer, session string)
	}{
		"killed":             {false, func(kill, _ func(), _ peer, _ string) { kill() }},
		"killed, no session": {true, func(kill, _ func(), _ peer, _ string) { kill() }},
		"removed":            {false, func(_, endLife func(), _ peer, _ string) { endLife() }},
		"session ended":      {false, func(_, _ func(), one peer, session string) { one.send(t.Context(), "DELETE", session, "").Body.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, nil)
			s.write(t, "hold", `{name: hold, description: Holds, tags: [free], parameters: {FILE: {type: string, required: true}}, bash: 'echo $$ > {FILE}; sleep 4246'}`)
			s.Refresh()
			life, end := context.WithCancel(t.Context())
			h := s.overHTTP(t, c.stateless, map[string]context.Context{"anna": life})
			begin := func(one peer) (kill func(), session string, pid int) {
				session, _ = one.post("", initialize)
				ctx, cancel := context.WithCancel(t.Context())
				file := filepath.Join(t.TempDir(), "started")
				go func() {
					r := one.send(ctx, "POST", session, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hold","arguments":{"FILE":"`+file+`"}}}`)
					io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}()
				return cancel, session, waitForFile(t, file)
			}
			anna, ben := peer{t, h.URL, "anna"}, peer{t, h.URL, "ben"}
			killBen, _, other := begin(ben)
			var pids []int
			for range clients {
				kill, session, pid := begin(anna)
				pids = append(pids, pid)
				c.gone(kill, end, anna, session)
				if name == "removed" {
					break // there is nobody any more who could begin another
				}
			}
			for _, pid := range pids {
				waitForExit(t, pid)
			}
			time.Sleep(time.Second)
			if syscall.Kill(other, 0) != nil {
				t.Error("the call of another client has ended")
			}
			killBen()
			waitForExit(t, other)
			end()
		})
	}
}

// TestClientReturns checks that a call continues while its client has another connection.
func TestClientReturns(t *testing.T) {
	s := serve(t, nil)
	file := filepath.Join(t.TempDir(), "started")
	s.write(t, "hold", `{name: hold, description: Holds, tags: [free], bash: 'echo $$ > `+file+`; sleep 4246'}`)
	s.Refresh()
	one := peer{t, s.overHTTP(t, false, nil).URL, "anna"}
	session, _ := one.post("", initialize)
	listening, hangUp := context.WithCancel(t.Context())
	ctx, kill := context.WithCancel(t.Context())
	stream := make(chan struct{})
	go func() {
		defer close(stream)
		defer one.send(listening, "GET", session, "").Body.Close()
		<-listening.Done()
	}()
	go func() {
		r := one.send(ctx, "POST", session, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hold","arguments":{}}}`)
		<-ctx.Done()
		r.Body.Close()
	}()
	pid := waitForFile(t, file)
	kill()
	time.Sleep(time.Second)
	if syscall.Kill(pid, 0) != nil {
		t.Error("the call has ended although its client listens")
	}
	hangUp()
	<-stream
	waitForExit(t, pid)
}

// waitForFile waits until a file contains a number.
func waitForFile(t *testing.T, path string) (pid int) {
	t.Helper()
	waittest.Until(t, "the step starts", func() bool {
		b, _ := os.ReadFile(path)
		var err error
		pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		return err == nil
	})
	return pid
}

// waitForExit waits until a process is gone.
func waitForExit(t *testing.T, pid int) {
	t.Helper()
	waittest.Until(t, "the process of a cancelled call ends", func() bool { return syscall.Kill(pid, 0) != nil })
}
