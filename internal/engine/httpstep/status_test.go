package httpstep_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/httpstep"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/library"
)

// fetch answers a request without sending it.
type fetch func(context.Context, call.FetchRequest) (*call.FetchAnswer, error)

// ask runs a tool with one step, and returns the step's last result.
func ask(t *testing.T, text string, answer fetch) (res *dag.Result) {
	t.Helper()
	def, found := decode.File("t.yaml", []byte("name: t\ndescription: d\n"+text))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	p, err := compile.Definition(library.New(library.Config{}), "", def)
	if err != nil {
		t.Fatal(err)
	}
	w := &call.RunEnv{Workspace: "/w", Home: "/h", Temp: "/tmp", Env: []string{"TOKEN=hunter22"}}
	w.Filled().Fetch = answer
	bound, err := call.Bind(t.Context(), p, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := steps.Open(steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(context.Background())
	a := bound.Frame()
	if err := a.Begin(t.Context(), session, "run", ""); err != nil {
		t.Fatal(err)
	}
	state, err := dag.Run(t.Context(), p.Graph, a, dag.Options{ID: "run"})
	if err != nil {
		t.Fatal(err)
	}
	state.All(func(_ dag.ID, _ *dag.Node, _ dag.Status, r *dag.Result) { res = r })
	return res
}

// statusTable returns the cells of the table of statuses in docs/reference/http.md.
func statusTable(t *testing.T) (rows [][]string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/reference/http.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "\n| status | expected |")
	if !found {
		t.Fatal("the page has no table of statuses")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

// statusRow returns the row of the table in docs/reference/http.md for a response, as result and retried.
func statusRow(t *testing.T, status int, byDefault, listed bool) (result, retried string) {
	t.Helper()
	for _, row := range statusTable(t) {
		var from, to, one, two, three int
		applies := false
		if n, _ := fmt.Sscanf(row[0], "%d to %d", &from, &to); n == 2 {
			applies = byDefault && from <= status && status <= to
		} else if n, _ := fmt.Sscanf(row[0], "%d, %d, %d", &one, &two, &three); n == 3 {
			applies = status == one || status == two || status == three
		} else if n, _ := fmt.Sscanf(row[0], "%d and above, without %d and %d", &one, &two, &three); n == 3 {
			applies = status >= one && status != two && status != three
		} else {
			applies = strings.HasPrefix(row[0], "in `expect.status`") && listed || row[0] == "others"
		}
		if applies {
			return row[2], row[3]
		}
	}
	t.Fatalf("no row is about status %d", status)
	return "", ""
}

// TestStatus checks the rows about statuses of the table in docs/reference/http.md: what each status means with each
// expectation, and whether a retry has an effect.
func TestStatus(t *testing.T) {
	for _, status := range []int{200, 201, 204, 206, 226, 299, 300, 301, 304, 307, 400, 401, 403, 404, 405, 408, 409, 410, 425, 429, 451, 499, 500, 501, 502, 503, 504, 505, 507, 599} {
		for expect, listed := range map[string]bool{"": false, fmt.Sprint(status): true, "299, 418": status == 299, fmt.Sprint("418, ", status): true} {
			result, retried := statusRow(t, status, expect == "", listed)
			for _, retries := range []int{0, 2} {
				text := "steps:\n  - name: ask\n    http: {url: 'https://h/', redirects: 0" + map[bool]string{true: "", false: ", expect: {status: [" + expect + "]}"}[expect == ""] + "}\n"
				if retries > 0 {
					text += fmt.Sprintf("    error-handling: {retry: {attempts: %d, delay: 1ms}}\n", retries)
				}
				requests := 0
				step := ask(t, text, func(context.Context, call.FetchRequest) (*call.FetchAnswer, error) {
					requests++
					return &call.FetchAnswer{URL: "https://h/", Status: status}, nil
				})
				want, attempts, reason := dag.Succeeded, 1, ""
				if result == "failed" {
					want, reason = dag.Failed, httpstep.ReasonResponse
				}
				if retried == "yes" {
					attempts += retries
				}
				if step.Status != want || requests != attempts || step.Reason != reason || !strings.Contains(string(step.Outputs.Values), fmt.Sprintf(`"status":%d`, status)) {
					t.Errorf("status %d, expect [%s], %d retries: %s after %d requests, %s, %s; want %s after %d", status, expect, retries,
						step.Status, requests, step.Reason, step.Outputs.Values, want, attempts)
				}
			}
		}
	}
}

// TestRequest holds the requests that steps send, or why they send none.
func TestRequest(t *testing.T) {
	const secret = "environment: {secrets: [TOKEN]}\n"
	for _, c := range []struct{ name, head, http, want string }{
		{"get", "", "url: 'https://h/a?x=1', query: {y: 'a b'}", "GET https://h/a?x=1&y=a+b follow 10 "},
		{"json", "", "url: 'https://h', json: {n: 1.50, t: x}", `POST https://h follow 10 Content-Type: application/json|Idempotency-Key: K|{"n":1.50,"t":"x"}`},
		{"form", "", "url: 'https://h', form: {a: b c}", "POST https://h follow 10 Content-Type: application/x-www-form-urlencoded|Idempotency-Key: K|a=b+c"},
		{"text", "", "url: 'https://h', method: PUT, body: text, headers: {X-A: b}", "PUT https://h follow 10 Content-Type: text/plain; charset=utf-8|X-A: b|text"},
		{"no redirects", "", "url: 'https://h', redirects: 0", "GET https://h manual 0 "},
		{"some redirects", "", "url: 'https://h', redirects: 3", "GET https://h follow 3 "},
		{"bearer", secret, "url: 'https://h', auth: {bearer: '{env.TOKEN}'}", "GET https://h follow 10 Authorization: Bearer hunter22|"},
		{"basic", secret, "url: 'https://h', auth: {basic: {user: ann, password: '{env.TOKEN}'}}", "GET https://h follow 10 Authorization: Basic YW5uOmh1bnRlcjIy|"},
		{"a bad header", "", "url: 'https://h', headers: {X-A: \"a\\r\\nb\"}", "input: "},
	} {
		got := ""
		res := ask(t, c.head+"steps:\n  - name: ask\n    http: {"+c.http+"}\n", func(_ context.Context, q call.FetchRequest) (*call.FetchAnswer, error) {
			got = fmt.Sprintf("%s %s %s %d ", q.Method, q.URL, q.Redirect, q.MaxRedirects)
			for _, h := range q.Header {
				if h[0] == "Idempotency-Key" && len(h[1]) == 32 {
					h[1] = "K"
				}
				got += h[0] + ": " + h[1] + "|"
			}
			got += string(q.Body)
			return &call.FetchAnswer{URL: q.URL, Status: 200, StatusText: "OK", Body: []byte("token hunter22")}, nil
		})
		if res.Reason != "" {
			got = res.Reason + ": " + res.Message
		}
		if got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if log := call.Raw(res.Stderr); strings.Contains(log, "hunter22") && c.head != "" {
			t.Errorf("%s: the log has the secret: %s", c.name, log)
		}
	}
}
