package mcp_test

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/service/mcp"
)

// TestResultAfterLostConnection: a client that lost the connection of a call gets the result on a new one.
func TestResultAfterLostConnection(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2025-03-26", ""} { // of the requests after the first
		s := serve(t, nil)
		dir := t.TempDir()
		started, goOn := filepath.Join(dir, "started"), filepath.Join(dir, "go-on")
		s.write(t, "hold", `{name: hold, description: Holds, tags: [free], bash: 'echo $$ > `+started+`; until [ -e `+goOn+` ]; do sleep 0.05; done; echo held'}`)
		s.Refresh()
		one := peer{t, s.overHTTP(t, false, nil).URL, "anna"}
		session, _ := one.post("", strings.Replace(initialize, "2025-06-18", "2025-11-25", 1))
		ctx, hangUp := context.WithCancel(t.Context())
		first := one.request(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hold","arguments":{}}}`,
			map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": version})
		id, _ := firstEvent(first)
		if id == "" {
			t.Fatalf("version %q: the stream of a call does not begin with an event that has an id", version)
		}
		listening := one.request(t.Context(), http.MethodGet, "", map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": version})
		hangUp()
		first.Body.Close()
		if err := os.WriteFile(goOn, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var data string
		for data == "" { // until the server has noticed that the connection is gone
			again := one.request(t.Context(), http.MethodGet, "", map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": version, "Last-Event-ID": id})
			if again.StatusCode != http.StatusConflict {
				_, data = firstEvent(again)
			}
			again.Body.Close()
		}
		listening.Body.Close()
		if !strings.Contains(data, `"id":3`) || !strings.Contains(data, "held") {
			t.Errorf("version %q: %s", version, data)
		}
	}
}

// TestReplayLimits checks that only so much is kept, whole streams of it, and nothing of a session that has ended.
func TestReplayLimits(t *testing.T) { mcp.CheckReplay(t) }

// firstEvent reads the first event of a stream.
func firstEvent(r *http.Response) (id, data string) {
	for lines := bufio.NewScanner(r.Body); lines.Scan() && lines.Text() != ""; {
		if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = text
		} else if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			data = text
		}
	}
	return id, data
}
