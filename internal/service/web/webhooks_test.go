package web_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/web"
)

// The example of GitHub's documentation, "Validating webhook deliveries".
const (
	githubSecret    = "It's a Secret to Everybody"
	githubBody      = "Hello, World!"
	githubSignature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
)

func signed(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func hooks() []config.Webhook {
	return []config.Webhook{
		{Name: "text", Tool: "hello", Scheme: config.HMAC, Header: "X-Hub-Signature-256", Secret: []byte(githubSecret), BodyParam: "WHO", DeliveryHeader: "X-GitHub-Delivery"},
		{Name: "push", Tool: "hello", Scheme: config.HMAC, Header: "X-Hub-Signature-256", Secret: []byte(githubSecret), Params: map[string]string{"WHO": "/repository/full_name", "N": "/commits/0/n~1a~0b"}},
		{Name: "bare", Tool: "bare", Scheme: config.Token, Header: "X-Flowrun-Token", Secret: []byte("a secret word"), Params: map[string]string{"WHO": "/who"}},
		{Name: "numbered", Tool: "bare", Scheme: config.Token, Header: "X-Flowrun-Token", Secret: []byte("a secret word"), Params: map[string]string{"WHO": "/a~1b/0"}, DeliveryHeader: "X-Delivery"},
		{Name: "none", Tool: "nowhere", Scheme: config.Token, Header: "X-Flowrun-Token", Secret: []byte("a secret word")},
	}
}

// TestWebhooks checks that only an authenticated caller starts the tool, with the values it
// sends.
func TestWebhooks(t *testing.T) {
	b := newBench(t, web.Options{Webhooks: hooks()})
	const push = `{"repository": {"full_name": "a/b"}, "commits": [{"n/a~b": 12345678901234567890}]}`
	form := "payload=" + url.QueryEscape(push)
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		want                     string // the run's output, or the code
	}{
		{"GitHub's example", "POST", "/hooks/text", githubBody, []string{"X-Hub-Signature-256", githubSignature}, 202, "hello Hello, World!, 1\n"},
		{"another body", "POST", "/hooks/text", githubBody + "!", []string{"X-Hub-Signature-256", githubSignature}, 401, "unauthorized"},
		{"another secret", "POST", "/hooks/text", githubBody, []string{"X-Hub-Signature-256", signed("x", githubBody)}, 401, "unauthorized"},
		{"half a signature", "POST", "/hooks/text", githubBody, []string{"X-Hub-Signature-256", githubSignature[:20]}, 401, "unauthorized"},
		{"no hex", "POST", "/hooks/text", githubBody, []string{"X-Hub-Signature-256", "sha256=zz"}, 401, "unauthorized"},
		{"no signature", "POST", "/hooks/text", githubBody, nil, 401, "unauthorized"},
		{"the token instead", "POST", "/hooks/text", githubBody, []string{"Authorization", "Bearer " + token}, 401, "unauthorized"},
		{"GET", "GET", "/hooks/text", "", nil, 405, "wrong-method"},
		{"no such webhook", "POST", "/hooks/nothing", "", nil, 401, "unauthorized"},
		{"a test by GitHub", "POST", "/hooks/push", `{"zen": "x"}`, []string{"X-Hub-Signature-256", signed(githubSecret, `{"zen": "x"}`), "X-GitHub-Event", "ping"}, 200, ""},
		{"a test without a signature", "POST", "/hooks/push", `{"zen": "x"}`, []string{"X-GitHub-Event", "ping"}, 401, "unauthorized"},
		{"a push", "POST", "/hooks/push", push, []string{"X-Hub-Signature-256", signed(githubSecret, push)}, 202, "hello a/b, 12345678901234567890\n"},
		{"a push with a byte order mark", "POST", "/hooks/push", "\ufeff" + push, []string{"X-Hub-Signature-256", signed(githubSecret, "\ufeff"+push)}, 202, "hello a/b, 12345678901234567890\n"},
		{"a push as a form", "POST", "/hooks/push", form, []string{"X-Hub-Signature-256", signed(githubSecret, form), "Content-Type", "application/x-www-form-urlencoded"}, 202, "hello a/b, 12345678901234567890\n"},
		{"nothing that is looked for", "POST", "/hooks/push", `{"commits": null, "repository": []}`, []string{"X-Hub-Signature-256", signed(githubSecret, `{"commits": null, "repository": []}`)}, 202, "hello you, 1\n"},
		{"no JSON", "POST", "/hooks/push", "x", []string{"X-Hub-Signature-256", signed(githubSecret, "x")}, 400, "broken-json"},
		{"no text", "POST", "/hooks/text", "\xff", []string{"X-Hub-Signature-256", signed(githubSecret, "\xff")}, 400, "broken-body"},
		{"JSON that is said to be a form", "POST", "/hooks/bare", `{"who": "x&payloa=d"}`, []string{"X-Flowrun-Token", "a secret word", "Content-Type", "application/x-www-form-urlencoded"}, 202, "x&payloa=d\n"},
		{"a form without a payload", "POST", "/hooks/push", "x=1", []string{"X-Hub-Signature-256", signed(githubSecret, "x=1"), "Content-Type", "application/x-www-form-urlencoded"}, 400, "broken-json"},
		{"a token", "POST", "/hooks/bare", `{"who": "$(id); x"}`, []string{"X-Flowrun-Token", "a secret word"}, 202, "$(id); x\n"},
		{"a wrong token", "POST", "/hooks/bare", `{"who": "x"}`, []string{"X-Flowrun-Token", "a secret word "[:12]}, 401, "unauthorized"},
		{"a token in the query", "POST", "/hooks/bare?token=x", `{"who": "x"}`, nil, 400, "token-in-query"},
		{"an option for a value", "POST", "/hooks/bare", `{"who": "-rf"}`, []string{"X-Flowrun-Token", "a secret word"}, 422, "invalid-parameters"},
		{"a tool that is gone", "POST", "/hooks/none", ``, []string{"X-Flowrun-Token", "a secret word"}, 404, "unknown-tool"},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := append([]string{"Authorization", "", "Content-Type", "application/json"}, c.header...)
			res, doc := b.ask(c.method, c.path, c.body, header...)
			switch {
			case res.StatusCode != c.status:
				t.Fatalf("%d %s", res.StatusCode, doc)
			case c.status == 202:
				id := strings.TrimPrefix(res.Header.Get("Location"), "/api/v1/runs/")
				b.becomes(id, dag.Succeeded)
				var run struct{ Output string }
				_, doc := b.get("/api/v1/runs/" + id)
				if err := json.Unmarshal(doc, &run); err != nil || run.Output != c.want {
					t.Errorf("%v %s", err, doc)
				}
				if r, err := b.store.Record(t.Context(), id); err != nil || r.Origin != "webhook:"+strings.TrimPrefix(c.path, "/hooks/") {
					t.Errorf("%v %+v", err, r)
				}
			case c.status > 202:
				if p := problemIn(t, doc); p.Code != c.want {
					t.Errorf("%s", doc)
				}
			}
		})
	}
	if log := b.logged(); strings.Contains(log, githubSecret) || strings.Contains(log, "a secret word") {
		t.Errorf("a secret is in the log: %s", log)
	}
}

// TestDeliveries checks that a repeated delivery starts nothing.
func TestDeliveries(t *testing.T) {
	b := newBench(t, web.Options{Webhooks: hooks()})
	send := func(delivery string) string {
		res, doc := b.ask("POST", "/hooks/text", githubBody, "Authorization", "", "X-Hub-Signature-256", githubSignature, "X-GitHub-Delivery", delivery)
		if res.StatusCode != http.StatusAccepted {
			t.Fatalf("%d %s", res.StatusCode, doc)
		}
		return string(doc)
	}
	first := send("d1")
	if send("d1") != first || send("d2") == first {
		t.Error("a delivery is not one run")
	}
	other := githubBody + " "
	if res, doc := b.ask("POST", "/hooks/text", other, "Authorization", "", "X-Hub-Signature-256", signed(githubSecret, other), "X-GitHub-Delivery", "d1"); res.StatusCode != http.StatusConflict || problemIn(t, doc).Code != "key-reused" {
		t.Errorf("another body with the same delivery: %d %s", res.StatusCode, doc)
	}
	for i, word := range []string{"v1", "v1", "v2"} { // the parameter is a part of the body
		res, doc := b.ask("POST", "/hooks/numbered", `{"a/b": ["`+word+`"]}`, "Authorization", "", "X-Flowrun-Token", "a secret word", "X-Delivery", "d1")
		if want := []int{202, 202, 409}[i]; res.StatusCode != want {
			t.Errorf("delivery %d: %d %s", i, res.StatusCode, doc)
		}
	}
	if list, err := b.store.Runs(t.Context(), history.Query{}); err != nil || len(list) != 3 {
		t.Errorf("%d runs, %v", len(list), err)
	}
}

// TestNoSecret checks that a webhook without a secret is rejected.
func TestNoSecret(t *testing.T) {
	if _, err := web.New(&web.Service{Starter: faulty{}}, web.Options{Webhooks: []config.Webhook{{Name: "x", Tool: "t"}}}); err == nil || !strings.Contains(err.Error(), "webhook x") {
		t.Error(err)
	}
}
