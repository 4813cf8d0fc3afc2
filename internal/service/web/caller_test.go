package web_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/service/users"
	"github.com/flowrun/flowrun/internal/service/web"
)

// quiet is a handler of the Model Context Protocol whose responses begin, and say no more.
var quiet = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
})

// Every response that lasts ends when its caller is removed or gets another role, whatever the caller sent
// to prove who it is. It does not end when another user changes.
func TestStreamsEndWithCaller(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"removed": func(dir string) error { return users.Remove(dir, "anna") },
		"another role": func(dir string) error {
			if err := users.Remove(dir, "anna"); err != nil {
				return err
			}
			_, err := users.Add(dir, "anna", users.Admin)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			secret, err := users.Add(dir, "anna", users.Operator)
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t, web.Options{Users: users.NewRegistry(dir, func(err error) { t.Error(err) }), UserHeader: "X-User", MCP: quiet})
			id, file := b.gated()
			ended, open := make(chan string), map[string]bool{}
			for _, stream := range web.Streams(b.handler) {
				method, path, _ := strings.Cut(stream, " ")
				for proof, send := range map[string]func(*http.Request) (*http.Response, error){
					"token": func(r *http.Request) (*http.Response, error) {
						r.Header.Set("Authorization", "Bearer "+secret)
						return http.DefaultClient.Do(r)
					},
					"header": func(r *http.Request) (*http.Response, error) {
						r.Header.Set("X-User", "anna")
						return http.DefaultClient.Do(r)
					},
					"cookie": func(r *http.Request) (*http.Response, error) { return b.signIn(secret).Do(r) },
				} {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					res, err := send(b.request(method, strings.ReplaceAll(path, "{id}", id), "", "Authorization", "").WithContext(ctx))
					if err != nil || res.StatusCode != 200 {
						t.Fatalf("%s, %s: %v, %v", stream, proof, res, err)
					}
					open[stream+", "+proof] = true
					go func() {
						defer res.Body.Close()
						io.Copy(io.Discard, res.Body)
						ended <- stream + ", " + proof
					}()
				}
			}
			if len(open) < 5*3 {
				t.Errorf("only %d streams", len(open))
			}
			if _, err := users.Add(dir, "ben", users.Viewer); err != nil {
				t.Fatal(err)
			}
			select {
			case early := <-ended:
				t.Errorf("%s ended when another user changed", early)
			case <-time.After(time.Second):
			}
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			limit := time.After(10 * time.Second)
			for len(open) > 0 {
				select {
				case one := <-ended:
					delete(open, one)
				case <-limit:
					t.Fatalf("still open: %v", open)
				}
			}
			b.open(file)
			b.becomes(id, dag.Succeeded)
		})
	}
}
