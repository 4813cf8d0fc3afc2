package enginetest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// rawServer accepts connections, reads a request from each, and lets serve respond as it likes. It counts requests.
func rawServer(t *testing.T, serve func(net.Conn)) (address string, requests *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	requests = new(atomic.Int32)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					requests.Add(1)
					serve(conn)
				}
			}()
		}
	}()
	return l.Addr().String(), requests
}

// reply is a server that writes a text and closes the connection.
func reply(text string) func(net.Conn) {
	return func(c net.Conn) { io.WriteString(c, text) }
}

// untilGone waits until the client closes the connection.
func untilGone(c net.Conn) { io.Copy(io.Discard, c) }

// zipped is much when it is unpacked.
func zipped(t *testing.T, size int) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(make([]byte, size)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", b.Len(), b.String())
}

const endless = "HTTP/1.1 200 OK\r\n\r\n"

// TestHTTPHostileServers: whatever a server does, the step ends with a clear message, retries what a retry may help,
// leaves no part of a file, and tells no secret.
func TestHTTPHostileServers(t *testing.T) {
	t.Parallel()
	const secret = "sesame-open-9"
	cases := []struct {
		name    string
		serve   func(net.Conn)
		step    string // more keys
		status  dag.Status
		retried bool
		message string
	}{
		{"no headers", untilGone, "timeout: 100ms", dag.TimedOut, true, `timed out|timeout`},
		{"no body", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"); untilGone(c) }, "timeout: 100ms", dag.TimedOut, true, `timed out|timeout`},
		{"endless body", func(c net.Conn) {
			io.WriteString(c, endless)
			for part := bytes.Repeat([]byte("x"), 4096); ; {
				if _, err := c.Write(part); err != nil {
					return
				}
			}
		}, "", dag.Failed, false, `larger than 10000 bytes|exceeds resources.max-file-size`},
		{"gzip bomb", reply(zipped(t, 20_000_000)), "", dag.Failed, false, `larger than 10000 bytes|exceeds resources.max-file-size`},
		{"broken gzip", reply("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 30\r\n\r\n" + strings.Repeat("x", 30)), "", dag.Failed, true, `gzip: invalid header`},
		{"gzip that ends early", func(c net.Conn) {
			whole := zipped(t, 100)
			at := strings.Index(whole, "\r\n\r\n") + 4
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"+whole[at:len(whole)-9])
		}, "", dag.Failed, true, `unexpected EOF`},
		{"large headers", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nX-A: "+strings.Repeat("x", 300<<10)+"\r\n\r\n")
		}, "", dag.Failed, true, `headers exceeded|connection reset|broken pipe`},
		{"broken chunk", reply("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n"), "", dag.Failed, true, `invalid byte in chunk length`},
		{"chunk that ends early", reply("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"), "", dag.Failed, true, `unexpected EOF`},
		{"reset in the body", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
			c.(*net.TCPConn).SetLinger(0)
		}, "", dag.Failed, true, `connection reset by peer|unexpected EOF`},
		{"body that ends early", reply("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"), "", dag.Failed, true, `unexpected EOF`},
		{"two lengths", reply("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"), "", dag.Failed, true, `Content-Length`},
		{"negative length", reply("HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabcd"), "", dag.Failed, true, `Content-Length`},
		{"no status line", reply("HELLO " + secret + "\r\n\r\n"), "", dag.Failed, true, `malformed HTTP (status code|response)`},
		{"no status", reply("HTTP/1.1 OK\r\n\r\n"), "", dag.Failed, true, `malformed HTTP (status code|response)`},
		{"broken header", reply("HTTP/1.1 200 OK\r\nno colon " + secret + "\r\n\r\n"), "", dag.Failed, true, `malformed`},
		{"nothing", func(net.Conn) {}, "", dag.Failed, true, `EOF`},
		{"endless informational responses", func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nX-A: "+strings.Repeat("b", 1000)+"\r\n\r\n"); err != nil {
					return
				}
			}
		}, "", dag.Failed, true, `1xx|informational|headers exceeded|connection reset`},
		{"redirects to itself", reply("HTTP/1.1 302 Found\r\nLocation: /" + secret + "\r\nContent-Length: 0\r\n\r\n"), "", dag.Failed, false, `the answers lead elsewhere more than 10 times`},
		{"redirects to a private network", reply("HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n"), "", dag.Failed, false, `^PermissionDenied: .*network:local:10\.0\.0\.1`},
		{"redirects to the metadata of a cloud", reply("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n"), "", dag.Failed, false, `^PermissionDenied: .*network:local:169\.254\.169\.254`},
		{"redirects to a file", reply("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"), "", dag.Failed, false, `an address with the scheme "file"`},
		{"redirects to nonsense", reply("HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n"), "", dag.Failed, true, `Location`},
		{"asks to wait for ever", reply("HTTP/1.1 503 Busy\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n"), "", dag.Failed, true, `the response status is 503 Busy`},
		{"asks to wait until long after", reply("HTTP/1.1 429 Slow\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\nContent-Length: 0\r\n\r\n"), "", dag.Failed, true, `the response status is 429 Slow`},
		{"asks to wait for a negative time", reply("HTTP/1.1 503 Busy\r\nRetry-After: -5\r\nContent-Length: 0\r\n\r\n"), "", dag.Failed, true, `the response status is 503 Busy`},
		{"returns the secret", reply("HTTP/1.1 500 " + secret + "\r\nX-Echo: Bearer " + secret + "\r\nContent-Length: 13\r\n\r\n" + secret), "", dag.Failed, true, `the response status is 500`},
	}
	for _, c := range cases {
		for _, save := range []string{"", ", save-as: out"} {
			t.Run(c.name+save, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				address, requests := rawServer(t, c.serve)
				step := c.step
				if step == "" {
					step = "x-none: 1"
				}
				res := runHTTP(t, dir, fmt.Sprintf(`
description: Asks a hostile server
environment: {secrets: [TOKEN]}
resources: {max-file-size: 10KB}
steps:
  - name: ask
    http: {url: "http://%s/?token=%s", auth: {bearer: "{env.TOKEN}"}%s}
    output: {buffer-limit: 10000}
    error-handling: {retry: {attempts: 1, delay: 1ms, max-delay: 2ms}}
    %s
`, address, "{env.TOKEN}", save, step), "TOKEN="+secret)
				s := res.Steps[0]
				want := 1
				if c.retried {
					want = 2
				}
				if s.Status != c.status || s.Attempts != want || !regexp.MustCompile(c.message).MatchString(s.Message) {
					t.Errorf("%s after %d attempts, %d requests: %s; want %s after %d", s.Status, s.Attempts, requests.Load(), s.Message, c.status, want)
				}
				if all := fmt.Sprint(s.Message, s.Error, s.Output, res.Message, s.Outputs); strings.Contains(all, secret) {
					t.Errorf("the secret is shown: %s", all)
				}
				if left, _ := os.ReadDir(dir); len(left) > 1 { // the definition
					t.Errorf("left over: %v", left)
				}
			})
		}
	}
}

// TestHTTPRefusedTLS: a retry does not help against a certificate that is not trusted, or against a server that speaks
// something else.
func TestHTTPRefusedTLS(t *testing.T) {
	t.Parallel()
	fine := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	secure := func(change func(*tls.Config)) *httptest.Server {
		s := httptest.NewUnstartedServer(fine)
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.TLS = &tls.Config{}
		change(s.TLS)
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	plain := httptest.NewServer(fine)
	t.Cleanup(plain.Close)
	nothing := func(*tls.Config) {}
	expired, expiredCA := testCertificate(t, -2)
	good, goodCA := testCertificate(t, 10)
	untrusted := secure(nothing)
	old := secure(func(c *tls.Config) {
		c.Certificates, c.MinVersion, c.MaxVersion = []tls.Certificate{good}, tls.VersionTLS10, tls.VersionTLS10
	})
	late := secure(func(c *tls.Config) { c.Certificates = []tls.Certificate{expired} })
	mutual := secure(func(c *tls.Config) {
		c.Certificates, c.ClientAuth, c.MaxVersion = []tls.Certificate{good}, tls.RequireAnyClientCert, tls.VersionTLS12
	})
	redirecting := httptest.NewUnstartedServer(http.RedirectHandler(plain.URL, http.StatusFound))
	redirecting.TLS = &tls.Config{Certificates: []tls.Certificate{good}}
	redirecting.StartTLS()
	t.Cleanup(redirecting.Close)
	dir := folder(t, map[string]string{"expired.pem": expiredCA, "good.pem": goodCA, "empty.pem": "nothing"})
	for _, c := range []struct{ name, url, more, message string }{
		{"unknown signer", untrusted.URL, "", `certificate signed by unknown authority|not trusted`},
		{"expired", late.URL, ", tls: {ca: expired.pem}", `certificate has expired`},
		{"other name", strings.Replace(redirecting.URL, "127.0.0.1", "localhost", 1), ", tls: {ca: good.pem}", `not valid for any names|certificate is (not )?valid for`},
		{"plain server", strings.Replace(plain.URL, "http:", "https:", 1), "", `server gave HTTP response to HTTPS client`},
		{"plain request", strings.Replace(untrusted.URL, "https:", "http:", 1), "", `the response status is 400`},
		{"old version", old.URL, ", tls: {ca: good.pem}", `protocol version`},
		{"no client certificate", mutual.URL, ", tls: {ca: good.pem}", `bad certificate|certificate required|handshake failure`},
		{"from https to http", redirecting.URL, ", tls: {ca: good.pem}", `leads from https to http`},
		{"no certificate in the file", untrusted.URL, ", tls: {ca: empty.pem}", `tls.ca has no certificate in PEM format`},
		{"no pair", untrusted.URL, ", tls: {cert: good.pem, key: empty.pem}", `not a certificate and its private key`},
		{"no file", untrusted.URL, ", tls: {ca: none.pem}", `cannot read a certificate: .*none.pem`},
		{"proxy without a scheme", plain.URL, `, proxy: "{env.NO_SCHEME}"`, `the address of the proxy is not valid`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := runHTTP(t, dir, fmt.Sprintf("description: Asks\nsteps:\n  - name: ask\n    http: {url: %q%s}\n    error-handling: {retry: {attempts: 2, delay: 1ms}}\n", c.url, c.more), "NO_SCHEME=localhost:1").Steps[0]
			if s.Status != dag.Failed || s.Attempts != 1 || !regexp.MustCompile(c.message).MatchString(s.Message) {
				t.Errorf("%s after %d attempts: %s", s.Status, s.Attempts, s.Message)
			}
		})
	}
}

// clientCertificate returns a certificate and its private key in PEM format.
func clientCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	pair, cert := testCertificate(t, 10)
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return cert, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// TestHTTPMutualTLS sends a request with a certificate of the client.
func TestHTTPMutualTLS(t *testing.T) {
	t.Parallel()
	server, ca := testCertificate(t, 10)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAnyClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	cert, key := clientCertificate(t)
	dir := folder(t, map[string]string{"ca.pem": ca, "tls/cert.pem": cert, "tls/key.pem": key})
	res := runHTTP(t, dir, fmt.Sprintf("description: Asks\nsteps:\n  - {name: ask, http: {url: %q, tls: {ca: ca.pem, cert: tls/cert.pem, key: tls/key.pem}}}\n", s.URL))
	if res.Status != dag.Succeeded || res.Output != "shop" {
		t.Errorf("%s: %s %q", res.Status, res.Message, res.Output)
	}
	if got, _ := filepath.Glob(filepath.Join(dir, "*.part*")); len(got) > 0 {
		t.Error(got)
	}
}

// TestHTTPRedirects: another host gets no headers of the definition and no body.
func TestHTTPRedirects(t *testing.T) {
	t.Parallel()
	var x received
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x.add(r)
		io.WriteString(w, "other")
	}))
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	first := httptest.NewServer(mux)
	t.Cleanup(first.Close)
	var same received
	mux.HandleFunc("/here", func(w http.ResponseWriter, r *http.Request) { same.add(r); io.WriteString(w, "here") })
	for _, code := range []int{301, 302, 303, 307, 308} {
		mux.Handle(fmt.Sprintf("/%d", code), http.RedirectHandler(other.URL, code))
		mux.Handle(fmt.Sprintf("/same/%d", code), http.RedirectHandler("/here", code))
	}
	for _, method := range []string{"GET", "POST"} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			ask := func(path string) (string, string) {
				body := map[string]string{"POST": ", body: text", "GET": ""}[method]
				s := runHTTP(t, t.TempDir(), fmt.Sprintf("description: Asks\nsecurity: {required-permissions: [network:local]}\nsteps:\n  - name: ask\n    http: {url: %q, headers: {X-Key: mine, Cookie: c}, auth: {bearer: long-token}%s}\n    error-handling: {retry: {attempts: 1, delay: 1ms}}\n",
					fmt.Sprint(first.URL, path, code), body)).Steps[0]
				if s.Attempts != 1 {
					t.Errorf("%s %s%d: %d attempts", method, path, code, s.Attempts)
				}
				return s.Output, s.Message
			}
			output, message := ask("/")
			if withBody := method == "POST" && code >= 307; withBody != strings.Contains(message, "leads to another host") || !withBody && output != "other" {
				t.Errorf("%s %d: %q, %s", method, code, output, message)
			}
			if output, message := ask("/same/"); output != "here" {
				t.Errorf("%s %d to the same host: %q, %s", method, code, output, message)
			}
		}
	}
	for i, r := range x.list {
		for _, name := range []string{"X-Key", "Cookie", "Authorization", "Idempotency-Key", "Content-Type", "Referer"} {
			if r.Header.Get(name) != "" || x.body[i] != "" {
				t.Errorf("another host got %s: %v, %q", name, r.Header, x.body[i])
			}
		}
	}
	for i, r := range same.list {
		if r.Header.Get("X-Key") != "mine" || r.Header.Get("Authorization") == "" || r.Method == "POST" && same.body[i] != "text" {
			t.Errorf("the same host got %s %v, %q", r.Method, r.Header, same.body[i])
		}
	}
	if len(x.list) != 8 || len(same.list) != 10 {
		t.Errorf("%d and %d requests", len(x.list), len(same.list))
	}
}
