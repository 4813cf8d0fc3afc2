package mcp

import (
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// TestEndOfInput checks what happens to a request when the client closes its end: it may be answered for a while, and
// is then cancelled as if the client had said so; at once, if nobody reads the answers.
func TestEndOfInput(t *testing.T) {
	for _, c := range []struct {
		name      string
		answered  time.Duration // after the end of the input; 0: never
		gone      bool          // the reader of the answers
		cancelled bool
		ends      time.Duration // after the end of the input, at most
	}{
		{"answered in time", 3 * time.Second, false, false, 4 * time.Second},
		{"never answered", 0, false, true, endGrace + lastAnswers + time.Second},
		{"nobody reads", 0, true, true, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := os.CreateTemp(t.TempDir(), "")
			if err != nil {
				t.Fatal(err)
			}
			if c.gone {
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				r.Close()
				if out = w; !readerGone(w) {
					t.Skip("this platform does not say that nobody reads")
				}
			}
			defer out.Close()
			synctest.Test(t, func(t *testing.T) {
				in, client := io.Pipe()
				conn, err := (&stdio{in: in, out: out}).Connect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					io.WriteString(client, `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"slow"}}`+"\n")
					client.Close()
				}()
				m, err := conn.Read(t.Context())
				if err != nil || m.(*jsonrpc.Request).Method != "tools/call" {
					t.Fatalf("%v %v", m, err)
				}
				began := time.Now()
				if c.answered > 0 {
					go func() {
						time.Sleep(c.answered)
						conn.Write(t.Context(), &jsonrpc.Response{ID: m.(*jsonrpc.Request).ID, Result: []byte(`{}`)})
					}()
				}
				m, err = conn.Read(t.Context())
				if cancel, _ := m.(*jsonrpc.Request); (cancel != nil) != c.cancelled {
					t.Errorf("read %v, %v", m, err)
				} else if cancel != nil {
					if want := `{"reason":"the client closed its end","requestId":"a"}`; cancel.Method != "notifications/cancelled" || string(cancel.Params) != want {
						t.Errorf("%s %s, want %s", cancel.Method, cancel.Params, want)
					}
					_, err = conn.Read(t.Context())
				}
				if took := time.Since(began); err != io.EOF || took > c.ends {
					t.Errorf("ended after %v with %v", took, err)
				}
				conn.Close()
			})
		})
	}
}
