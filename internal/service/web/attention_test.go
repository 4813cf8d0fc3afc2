package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/attention"
	"github.com/flowrun/flowrun/internal/service/web"
)

func someAttention() []attention.Item {
	return []attention.Item{
		{Kind: attention.Interrupted, Tool: "hello", Run: "r", Step: "a", Reason: "it was cut off", Since: time.Unix(0, 0), Do: "flowrun resume r"},
		{Kind: "other", Tool: "fails", Reason: "it cannot run", Do: "flowrun validate fails"},
		{Kind: "disk", Reason: "the disk is nearly full", Do: "flowrun history prune"},
	}
}

// TestAttention checks that callers see the items of the tools that they may use, and those of the machine only if they may
// use all tools.
func TestAttention(t *testing.T) {
	t.Parallel()
	const limited = "abcdef0123456789abcdef0123456789"
	b := newBench(t, web.Options{Attention: someAttention, Tokens: []service.Token{{Text: token}, {Text: limited, Tools: []string{"hello"}}}})
	for key, want := range map[string][]bool{token: {true, true, true}, limited: {true, false, false}} {
		r, err := http.NewRequest("GET", b.server.URL+"/api/v1/attention", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		doc, _ := io.ReadAll(res.Body)
		res.Body.Close()
		for i, item := range someAttention() {
			if strings.Contains(string(doc), item.Reason) != want[i] {
				t.Errorf("item %d is shown, %v: %s", i, !want[i], doc)
			}
		}
	}
}
