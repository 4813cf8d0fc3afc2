package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// OfferOverHTTP makes clients offer one version of the protocol over HTTP, until the test ends or calls
// the returned function. A test that continues in parallel with others calls it before.
func OfferOverHTTP(t *testing.T, version string) (restore func()) {
	before := versions.http
	versions.http = []string{version}
	restore = sync.OnceFunc(func() { versions.http = before })
	t.Cleanup(restore)
	return restore
}

// ElsewhereOf returns the client for the authorization server of a server.
func ElsewhereOf(server string, public bool) *http.Client {
	s, err := onlyHost(server, nil)
	if err != nil {
		panic(err)
	}
	s.public.Store(public)
	return s.elsewhere()
}

// DialPublic connects as to a public address.
func DialPublic(address string) error {
	c, err := publicOnly().DialContext(context.Background(), "tcp", address)
	if err == nil {
		c.Close()
	}
	return err
}

// Environment is the environment of a server.
var Environment = environment

// Expand returns a server with its variables replaced.
func Expand(c ServerConfig, base string) (ServerConfig, error) {
	out, _, err := c.expand(base)
	return out, err
}

// Readable is what is read of a message.
var Readable = readable

// Get sends a request to a server over HTTP.
func Get(address string) (*http.Response, error) {
	host, err := onlyHost(address, nil)
	if err != nil {
		return nil, err
	}
	return (&http.Client{Transport: host}).Get(address)
}

// resultIn decodes the result of a message of a server, as the library does.
func resultIn(result string, into any) error {
	m, err := jsonrpc.DecodeMessage(readable([]byte(`{"jsonrpc": "2.0", "id": 1, "result": ` + result + `}`)))
	if err != nil {
		return err
	}
	return json.Unmarshal(m.(*jsonrpc.Response).Result, into)
}

// Answer returns what is read of an answer to a call. The error is why the step fails.
func Answer(result string) (*gostep.Content, error) {
	var res mcp.CallToolResult
	if err := resultIn(result, &res); err != nil {
		return nil, fmt.Errorf("cannot read it: %w", err)
	}
	return outputOf(&res)
}

// Listed returns what is read of a list of tools.
func Listed(result string) ([]Offer, []*tool.Definition, error) {
	var page mcp.ListToolsResult
	if err := resultIn(result, &page); err != nil {
		return nil, nil, err
	}
	r := newRemote(New(Config{}), ServerConfig{Name: "s"})
	r.use(page.Tools)
	return r.offers, r.tools, nil
}
