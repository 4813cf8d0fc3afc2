package valuetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/mcp"
	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/registry"
)

const secret = "a-token-for-tests"

// request sends a request to the HTTP API, with the value in its body.
func (c cell) request(path, body string) (any, error) {
	if c.web == nil {
		c.startService()
	}
	r := httptest.NewRequestWithContext(c.Context(), "POST", "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("X-Token", secret)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	c.web.ServeHTTP(w, r)
	if w.Code >= 300 {
		return nil, errors.New(w.Body.String())
	}
	select {
	case v := <-c.taken:
		return v, nil
	case <-time.After(time.Minute):
		return nil, &failure{w.Body.String()}
	}
}

func (b *bench) startService() {
	s, err := service.New(b.Context(), service.Config{Store: b.store, Home: b.dir, Engine: b.engine, Library: b.library})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Drain(0, nil) })
	var hooks []config.Webhook
	for _, typ := range []string{"string", "number"} {
		hook := config.Webhook{Tool: "pass-" + typ, Scheme: config.Token, Header: "X-Token", Secret: []byte(secret)}
		field, body := hook, hook
		field.Name, field.Params = "field-"+typ, map[string]string{"V": "/v"}
		body.Name, body.BodyParam = "body-"+typ, "V"
		hooks = append(hooks, field, body)
	}
	b.web, err = web.New(web.ServiceOf(s), web.Options{Tokens: []service.Token{{Text: secret}}, StateDir: b.dir, Version: "test", Webhooks: hooks,
		Stopping: make(chan struct{}), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
}

// approver allows every call.
type approver struct{}

func (approver) Decide(context.Context, *registry.Invocation, bool) registry.Decision {
	return registry.Decision{Action: registry.Proceed}
}
func (approver) Card(*registry.Invocation, *gostep.Confirmation) (string, error) { return "", nil }
func (approver) Record(context.Context, *registry.Invocation, bool) error        { return nil }

// client is a client of an MCP server. It writes each message itself, so that a value is sent as it is written.
type client struct {
	to   io.Writer
	from *bufio.Scanner
}

func (b *bench) startMCP() {
	in, to := io.Pipe()
	from, out := io.Pipe()
	s := mcp.New(mcp.Config{Library: b.lib, Approver: approver{}, Version: "1", Registry: registry.Options{Engine: b.engine,
		RunEnv: func(*engine.Plan) engine.RunEnv { return engine.RunEnv{Workspace: b.dir} }}})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(ctx, in, out)
	}()
	b.Cleanup(func() {
		to.Close()
		from.Close()
		stop()
		<-done
	})
	b.mcp = &client{to, bufio.NewScanner(from)}
	b.mcp.from.Buffer(nil, 1<<24)
	b.mcp.send(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {` +
		`"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}`)
	b.mcp.receive()
	b.mcp.send(`{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
}

func (c *client) send(line string) { fmt.Fprintln(c.to, line) }

// answer is the response to a request.
type answer struct {
	ID     int
	Error  *struct{ Message string }
	Result struct {
		IsError bool
		Content []struct{ Text string }
	}
}

func (c *client) receive() (a answer) {
	for c.from.Scan() {
		if json.NewDecoder(bytes.NewReader(c.from.Bytes())).Decode(&a) == nil && a.ID != 0 {
			return a
		}
	}
	return a
}

// callTool calls a tool of an MCP server.
func (c cell) callTool(arguments string) (any, error) {
	if c.mcp == nil {
		c.startMCP()
	}
	c.mcp.send(`{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "pass-` + c.typ + `", "arguments": ` + arguments + "}}")
	a := c.mcp.receive()
	switch {
	case a.Error != nil:
		return nil, errors.New(a.Error.Message)
	case a.Result.IsError:
		return nil, errors.New(a.Result.Content[0].Text)
	}
	return <-c.taken, nil
}
