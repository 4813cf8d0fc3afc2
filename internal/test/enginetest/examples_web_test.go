package enginetest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/csv"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/needtest"
)

// testCertificate makes a certificate for 127.0.0.1 that is good for so many days, and its
// PEM text.
func testCertificate(t *testing.T, days int) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "shop"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Duration(days)*24*time.Hour + time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// testSite is a web server for a test; days is how long its certificate is good, -1 for
// plain HTTP.
func testSite(t *testing.T, days int, h http.HandlerFunc) (url, ca string) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that go away are meant
	t.Cleanup(s.Close)
	if days < 0 {
		s.Start()
		return s.URL, ""
	}
	c, ca := testCertificate(t, days)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{c}}
	s.StartTLS()
	return s.URL, ca
}

// TestSiteCheckExample checks a healthy site, one that recovers, and sites that are ill
// in four ways.
func TestSiteCheckExample(t *testing.T) {
	needtest.Programs(t, "curl", "openssl")
	t.Parallel()
	fine := func(http.ResponseWriter, *http.Request) {}
	var calls atomic.Int32
	good, ca1 := testSite(t, 100, fine)
	soon, ca2 := testSite(t, 5, fine)
	plain, _ := testSite(t, -1, fine)
	once, _ := testSite(t, -1, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	broken, _ := testSite(t, -1, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	slow, _ := testSite(t, -1, func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done() // until nobody waits any more
	})
	dir := folder(t, map[string]string{"ca file.pem": ca1 + ca2})
	params := func(seconds float64, urls ...any) map[string]any {
		return map[string]any{"URLS": urls, "CA": "ca file.pem", "MAX_SECONDS": seconds}
	}

	res := runExample(t, "site-check", dir, params(50, good, plain, once))
	exampleEnded(t, res, dag.Succeeded, `^ok    https://\S+: status 200, \S+ s, certificate good for 100 days\nok    http://\S+: status 200, \S+ s\nok    http://\S+: status 200, \S+ s\n$`)

	res = runExample(t, "site-check", dir, params(50, good, soon, broken, "http://127.0.0.1:1"))
	exampleEnded(t, res, dag.Failed, `^ok    https://\S+: .*\nCERT  https://\S+: 5 days left\nBAD   http://\S+: status 500\nDOWN  http://\S+: no answer\n$`)

	res = runExample(t, "site-check", dir, params(.7, slow))
	exampleEnded(t, res, dag.Failed, `^DOWN  http://\S+: no answer\n$`)

	res = runExample(t, "site-check", dir, map[string]any{"URLS": []any{good}})
	exampleEnded(t, res, dag.Failed, `^DOWN  https://\S+: no answer\n$`) // a certificate nobody vouches for
}

// TestIssueReportExample pulls two pages of issues from a server that fails now and
// then, with a token that must not show.
func TestIssueReportExample(t *testing.T) {
	needtest.Programs(t, "curl", "jq")
	t.Parallel()
	type label map[string]string
	type issue map[string]any
	var mu sync.Mutex
	seen := map[string]int{}
	token := "ghp_0123456789"
	url, _ := testSite(t, -1, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.URL.RequestURI()]++
		first := seen[r.URL.RequestURI()] == 1
		mu.Unlock()
		page := r.URL.Query().Get("page")
		switch {
		case r.Header.Get("Authorization") != "Bearer "+token, r.URL.Path != "/repos/me/shop.js/issues":
			http.NotFound(w, r)
		case first && page == "2":
			http.Error(w, "try again", http.StatusBadGateway)
		case page == "1":
			json.NewEncoder(w).Encode([]issue{
				{"number": 9, "title": `"quoted", and $(touch pwned)`, "created_at": "2025-02-01T10:00:00Z", "user": label{"login": "ada"}, "labels": []label{{"name": "bug"}, {"name": "ui"}}},
				{"number": 8, "title": "a pull request", "created_at": "2025-01-09T10:00:00Z", "user": label{"login": "ada"}, "labels": []label{}, "pull_request": label{}},
			})
		case page == "2":
			json.NewEncoder(w).Encode([]issue{{"number": 3, "title": "the oldest", "created_at": "2024-01-01T10:00:00Z", "user": label{"login": "bob"}, "labels": []label{{"name": "bug"}}}})
		default:
			io.WriteString(w, "[]")
		}
	})
	dir := t.TempDir()
	params := map[string]any{"REPO": "me/shop.js", "API": url, "OUT": "out"}
	res := runExample(t, "issue-report", dir, params, "GITHUB_TOKEN="+token)
	exampleEnded(t, res, dag.Succeeded, `^2 open issues in me/shop\.js\n\nLabels:\n2 bug\n1 ui\n\nOldest:\n2024-01-01 #3 the oldest\n2025-02-01 #9 "quoted", and \$\(touch pwned\)\n$`)
	if s := exampleStep(t, res, "pull[1]"); s.Attempts != 2 {
		t.Errorf("page 2 took %d tries, want 2", s.Attempts)
	}
	rows, err := csv.NewReader(strings.NewReader(textOf(t, filepath.Join(dir, "out/issues.csv")))).ReadAll()
	if err != nil || len(rows) != 3 || !slices.Equal(rows[2], []string{"9", "2025-02-01", "ada", "bug ui", `"quoted", and $(touch pwned)`}) {
		t.Errorf("the table: %q, %v", rows, err)
	}

	dir = t.TempDir()
	exampleEnded(t, runExample(t, "issue-report", dir, params, "GITHUB_TOKEN=wrong-one"), dag.Failed, ``)
	if left := filesIn(t, dir); len(left) != 0 {
		t.Errorf("a pull that failed left %v", left)
	}
}

// TestDeployExample deploys three times, the last release being ill: the old one must
// be in use again.
func TestDeployExample(t *testing.T) {
	needtest.Programs(t, "curl")
	t.Parallel()
	dir := folder(t, map[string]string{"one/version": "1", "two/version": "2", "bad/version": "ill"})
	health, _ := testSite(t, -1, func(w http.ResponseWriter, r *http.Request) {
		if b, err := os.ReadFile(filepath.Join(dir, "shop/current/version")); err != nil || string(b) == "ill" {
			http.Error(w, "not well", http.StatusServiceUnavailable)
		}
	})
	deploy := func(source, release string, keep int) map[string]any {
		return map[string]any{"SOURCE": source, "TARGET": "shop", "RELEASE": release, "KEEP": keep, "HEALTH": health, "RESTART": "echo restarted >>log"}
	}
	current := func(want string) {
		t.Helper()
		if link, err := os.Readlink(filepath.Join(dir, "shop/current")); err != nil || link != want {
			t.Errorf("current is %q, want %q, %v", link, want, err)
		}
	}

	res := runExample(t, "deploy", dir, deploy("bad", "v0", 2))
	exampleEnded(t, res, dag.Failed, ``)
	if _, err := os.Lstat(filepath.Join(dir, "shop/current")); err == nil {
		t.Error("a first release that is ill is in use")
	}
	exampleEnded(t, runExample(t, "deploy", dir, deploy("one", "v1", 5)), dag.Succeeded, `^v1 is in use\n$`)
	current("releases/v1")
	exampleEnded(t, runExample(t, "deploy", dir, deploy("two", "v2", 5)), dag.Succeeded, `^v2 is in use\n$`)
	current("releases/v2")

	res = runExample(t, "deploy", dir, deploy("bad", "v3", 5))
	exampleEnded(t, res, dag.Failed, ``)
	current("releases/v2")
	if s := exampleStep(t, res, "activate/health"); s.Attempts != 5 {
		t.Errorf("health was asked %d times, want 5", s.Attempts)
	}
	if s := exampleStep(t, res, "put-back"); !strings.Contains(s.Error, "release v3 is not healthy; back to releases/v2") {
		t.Errorf("%+v", s)
	}
	if left := filesIn(t, filepath.Join(dir, "shop/releases")); !slices.Equal(left, []string{"v1", "v2", "v3.failed"}) {
		t.Errorf("releases: %v", left)
	}
	if n := strings.Count(textOf(t, filepath.Join(dir, "log")), "restarted"); n != 6 {
		t.Errorf("restarted %d times, want 6: each of four releases, and back twice", n)
	}

	exampleEnded(t, runExample(t, "deploy", dir, deploy("two", "v2", 5)), dag.Failed, ``) // taken
	current("releases/v2")

	moved := deploy("one", "v3", 2) // somebody else puts another one in use
	moved["RESTART"] = "ln -sfn releases/v2 shop/current"
	res = runExample(t, "deploy", dir, moved)
	exampleEnded(t, res, dag.Failed, ``)
	if s := exampleStep(t, res, "confirm"); !strings.Contains(s.Error, "release v3 is not in use") {
		t.Errorf("%+v", s)
	}
	exampleEnded(t, runExample(t, "deploy", dir, deploy("one", "v4", 2)), dag.Succeeded, `^v4 is in use\n$`)
	if left := filesIn(t, filepath.Join(dir, "shop/releases")); len(left) != 2 || !slices.Contains(left, "v4") || !slices.Contains(left, "v2") {
		t.Errorf("two releases are kept, found %v", left)
	}
}

// TestCanaryExample rolls out to the end, and goes back when the new version fails or
// somebody stops it.
func TestCanaryExample(t *testing.T) {
	needtest.Programs(t, "curl")
	t.Parallel()
	var limit atomic.Int32 // from this share on the site fails
	dir := t.TempDir()
	conf := filepath.Join(dir, "split.conf")
	url, _ := testSite(t, -1, func(w http.ResponseWriter, r *http.Request) {
		var share int32 = 100
		if b, _ := os.ReadFile(conf); strings.Contains(string(b), "%") {
			fmt.Sscanf(strings.SplitN(string(b), "\n", 2)[1], "%d%%", &share)
		}
		if share >= limit.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	params := map[string]any{"CONF": conf, "URL": url, "SOAK": 0, "PROBES": 3, "RELOAD": "cat split.conf >>seen", "SHARES": []any{10, 50, 100}}
	limit.Store(101)
	res := runExample(t, "canary", dir, params)
	exampleEnded(t, res, dag.Succeeded, `^all requests go to the new version\n$`)
	if got := textOf(t, conf); got != "split_clients \"$request_id\" $backend {\n    *  canary;\n}\n" {
		t.Errorf("split.conf: %s", got)
	}
	if seen := textOf(t, filepath.Join(dir, "seen")); strings.Count(seen, "split_clients") != 3 || !strings.Contains(seen, "    10%  canary;\n    *  stable;\n") {
		t.Errorf("the balancer was given:\n%s", seen)
	}

	limit.Store(50)
	res = runExample(t, "canary", dir, params)
	exampleEnded(t, res, dag.Failed, `^$`)
	if back := res.Step("back"); back == nil || back.Output != "all requests go to the old version again\n" {
		t.Errorf("the step back: %+v", back)
	}
	if got := textOf(t, conf); strings.Contains(got, "canary") {
		t.Errorf("split.conf: %s", got)
	}
	stopped, stop := context.WithCancel(context.Background())
	defer stop()
	url, _ = testSite(t, -1, func(http.ResponseWriter, *http.Request) { stop() })
	again := maps.Clone(params)
	again["URL"], again["CONF"], again["SOAK"], again["PROBES"] = url, conf+"2", .05, 10000
	exampleEnded(t, runExampleIn(stopped, t, "canary", dir, again), dag.Cancelled, `^$`)
	if got := textOf(t, conf+"2"); strings.Contains(got, "canary") {
		t.Errorf("split.conf after a stop: %s", got)
	}
	if s := exampleStep(t, res, "rollout[50%]/watch"); !strings.HasPrefix(s.Output, "50 %: 3 of 3 requests failed") {
		t.Error(s.Output)
	}
}

// TestCertRenewExample renews a certificate that runs out, leaves a good one alone, and
// notifies when the renewal is invalid.
func TestCertRenewExample(t *testing.T) {
	needtest.Programs(t, "openssl", "curl")
	t.Parallel()
	_, old := testCertificate(t, 3)
	_, fresh := testCertificate(t, 90)
	dir := folder(t, map[string]string{"good.pem": fresh, "due.pem": old, "new.pem": fresh, "stays.pem": old})
	var told atomic.Value
	var posts atomic.Int32
	hook, _ := testSite(t, -1, func(w http.ResponseWriter, r *http.Request) {
		if posts.Add(1) == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		b, _ := io.ReadAll(r.Body)
		told.Store(string(b))
	})
	run := func(cert, renew string, status dag.Status, output string) {
		t.Helper()
		exampleEnded(t, runExample(t, "cert-renew", dir, map[string]any{"CERT": cert, "RENEW": renew, "RELOAD": "echo x >>reloads", "NOTIFY": hook}), status, output)
	}
	run("good.pem", "exit 3", dag.Succeeded, `^not due, notAfter=`)
	run("due.pem", "cp new.pem due.pem && echo did >>renewals", dag.Succeeded, `^renewed, notAfter=`)
	if textOf(t, filepath.Join(dir, "due.pem")) != fresh || textOf(t, filepath.Join(dir, "reloads")) != "x\n" {
		t.Error("not renewed, or not reloaded once")
	}
	if n := posts.Load(); n != 0 {
		t.Errorf("%d notifications of what went well", n)
	}
	for cert, step := range map[string]string{"stays.pem": "check", `no"such.pem`: "due"} {
		run(cert, "true", dag.Failed, ``)
		var m struct{ Text string }
		body, _ := told.Load().(string)
		if err := json.Unmarshal([]byte(body), &m); err != nil || m.Text != fmt.Sprintf("certificate %s: step %s failed", cert, step) {
			t.Errorf("told %q, %v", body, err)
		}
	}
	if textOf(t, filepath.Join(dir, "reloads")) != "x\n" {
		t.Error("the server reads a certificate that is invalid")
	}
}
