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

	"github.com/flowrun/flowrun/internal/waittest"
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
