package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/test/needtest"
)

var (
	example = regexp.MustCompile("(?s)```sh\n(.*?)```")
	idIn    = regexp.MustCompile(`"id":"(\w+)"`)
)

// TestDocs runs the examples of docs/reference/api.md in order and checks the responses.
func TestDocs(t *testing.T) {
	needtest.Programs(t, "curl")
	text, err := os.ReadFile("../../../docs/reference/api.md")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, web.Options{Webhooks: []config.Webhook{
		{Name: "greet", Tool: "hello", Scheme: config.Token, Header: "X-Flowrun-Token", Secret: []byte("a secret word"), Params: map[string]string{"WHO": "/user/name"}}}})
	b.onSocket()
	run, n := "", 0
	for _, m := range example.FindAllStringSubmatch(string(text), -1) {
		script := strings.ReplaceAll(m[1], "http://127.0.0.1:7878", b.server.URL)
		script = strings.ReplaceAll(script, "curl ", "curl --fail-with-body --max-time 60 ")
		c := exec.CommandContext(t.Context(), "sh", "-eu")
		c.Stdin = strings.NewReader(script)
		c.Env = append(os.Environ(), "FLOWRUN_TOKEN="+token, "RUN="+run, "HOOK_SECRET=a secret word", "STATE="+filepath.Dir(b.socket))
		out, err := c.CombinedOutput()
		if err != nil || len(out) == 0 {
			t.Errorf("%s: %v\n%s", m[1], err, out)
		}
		if id := idIn.FindStringSubmatch(string(out)); id != nil && run == "" {
			run = id[1]
		}
		n++
	}
	if n < 6 {
		t.Errorf("%d examples were found", n)
	}
}
