package mcp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// asPlainServer makes the test binary behave like plainServer.
const asPlainServer = "FLOWRUN_PLAIN_SERVER"

// BenchmarkCall compares a call of flowrun mcp, with its history, with a call of the smallest
// server that the library allows. Both are processes, and both run bash. The servers take turns,
// so that a slow minute of the machine hits both. Build flowrun as it is released and name it:
//
//	CGO_ENABLED=0 go build -o /tmp/flowrun ./cmd/flowrun
//	FLOWRUN=/tmp/flowrun go test ./internal/service/mcp -run '^$' -bench Call -benchtime 1000x
func BenchmarkCall(b *testing.B) {
	program := os.Getenv("FLOWRUN")
	if program == "" {
		b.Skip("set FLOWRUN to the flowrun to measure")
	}
	dir := b.TempDir()
	folder := filepath.Join(dir, ".flowrun", "tools")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "hi.yaml"), []byte("{name: hi, description: Says hi, tags: [read], bash: echo hi}"), 0o644); err != nil {
		b.Fatal(err)
	}
	ours := exec.Command(program, "mcp", "--auto-approve", "*")
	ours.Dir, ours.Env = dir, append(os.Environ(), "FLOWRUN_STATE_DIR="+filepath.Join(dir, "state"))
	plain := exec.Command(os.Args[0], "-test.run", "^TestPlainServer$")
	plain.Env = append(os.Environ(), asPlainServer+"=1")
	sessions := []*sdk.ClientSession{connectTo(b, ours), connectTo(b, plain)}
	var times [2][]time.Duration
	for b.Loop() {
		for i, s := range sessions {
			start := time.Now()
			r, err := s.CallTool(b.Context(), &sdk.CallToolParams{Name: "hi"})
			if err != nil || r.IsError {
				b.Fatal(err, text(r))
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	x, y := times[0][len(times[0])/2], times[1][len(times[1])/2]
	b.ReportMetric(float64(x.Microseconds()), "flowrun-us")
	b.ReportMetric(float64(y.Microseconds()), "plain-us")
	b.ReportMetric(float64(x)/float64(y), "ratio")
}

// connectTo returns a session with a server that is a process.
func connectTo(b *testing.B, c *exec.Cmd) *sdk.ClientSession {
	b.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), &sdk.CommandTransport{Command: c}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// TestPlainServer is the smallest server with a tool that runs a program.
func TestPlainServer(t *testing.T) {
	if os.Getenv(asPlainServer) == "" {
		t.Skip("is a process of BenchmarkCall")
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "plain", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "hi"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		out, err := exec.CommandContext(ctx, "bash", "-c", "echo hi").Output()
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(out)}}}, nil, err
	})
	s.Run(t.Context(), &sdk.StdioTransport{})
	os.Exit(0)
}
