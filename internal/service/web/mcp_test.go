package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/service"
)

// TestMCP checks who reaches the handler of the Model Context Protocol.
func TestMCP(t *testing.T) {
	reached := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		io.WriteString(w, "reached "+string(body))
	})
	h, err := New(nil, Options{MCP: reached, Tokens: []service.Token{{Text: "all-tools-token-1"}, {Text: "some-tools-token-1", Tools: []string{"x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	defer s.Close()
	for name, test := range map[string]struct {
		method, path, token, origin, host string
		status                            int
	}{
		"allowed":         {"POST", "/mcp", "all-tools-token-1", "", "", 200},
		"stream":          {"GET", "/mcp", "all-tools-token-1", "", "", 200},
		"end":             {"DELETE", "/mcp", "all-tools-token-1", "", "", 200},
		"other method":    {"PUT", "/mcp", "all-tools-token-1", "", "", 405},
		"no token":        {"POST", "/mcp", "", "", "", 401},
		"wrong token":     {"POST", "/mcp", "all-tools-token-2", "", "", 401},
		"limited token":   {"POST", "/mcp", "some-tools-token-1", "", "", 403},
		"another site":    {"POST", "/mcp", "all-tools-token-1", "https://evil.example", "", 403},
		"another host":    {"POST", "/mcp", "all-tools-token-1", "", "evil.example", 403},
		"token in query":  {"POST", "/mcp?token=all-tools-token-1", "", "", "", 400},
		"no other routes": {"GET", "/api/v1/runs", "all-tools-token-1", "", "", 404},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := http.NewRequest(test.method, s.URL+test.path, strings.NewReader("body"))
			if test.token != "" {
				r.Header.Set("Authorization", "Bearer "+test.token)
			}
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
				r.Header.Set("Sec-Fetch-Site", "cross-site")
			}
			if test.host != "" {
				r.Host = test.host
			}
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close()
			body, _ := io.ReadAll(a.Body)
			if a.StatusCode != test.status || (test.status == 200) != (string(body) == "reached body") {
				t.Errorf("status %d: %s", a.StatusCode, body)
			}
		})
	}
}
