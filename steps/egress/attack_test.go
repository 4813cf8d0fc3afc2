package egress

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/limitednet"
	"github.com/flowrun/flowrun/internal/engine/permission"
)

// victim is a service of this machine that nothing may reach. It returns its port and how often it was reached.
func victim(t testing.TB) (port string, reached *atomic.Int64) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	reached = &atomic.Int64{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			c.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, reached
}

// attacks are requests for the victim, whose port is P. Names of example.com resolve to 127.0.0.1 and metadata.example.com to the
// metadata service of clouds.
var attacks = map[string]string{
	"address":                         "CONNECT 127.0.0.1:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"name of this machine":            "CONNECT localhost:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"name with a dot":                 "CONNECT localhost.:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"name in capitals":                "CONNECT LocalHost:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"name below localhost":            "CONNECT api.localhost:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"name of the file hosts":          "CONNECT ip6-localhost:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"IPv6":                            "CONNECT [::1]:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"IPv6 with a zone":                "CONNECT [::1%25lo]:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"link-local with a zone":          "CONNECT [fe80::1%25lo]:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"IPv4 in IPv6":                    "CONNECT [::ffff:127.0.0.1]:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"IPv4 in IPv6, hexadecimal":       "CONNECT [::ffff:7f00:1]:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"IPv4-compatible":                 "CONNECT [::127.0.0.1]:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"translated":                      "CONNECT [64:ff9b::7f00:1]:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"tunnelled":                       "CONNECT [2002:7f00:1::]:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"any address":                     "CONNECT 0.0.0.0:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"any address, IPv6":               "CONNECT [::]:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"zero":                            "CONNECT 0:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"decimal":                         "CONNECT 2130706433:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"hexadecimal":                     "CONNECT 0x7f000001:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"octal":                           "CONNECT 0177.0.0.1:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"short":                           "CONNECT 127.1:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"another loopback address":        "CONNECT 127.8.8.8:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"full-width digits":               "CONNECT １２７.0.0.1:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"other dots":                      "CONNECT 127。0。0。1:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"circled letters":                 "CONNECT ⓛocalhost:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"metadata service":                "CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: x\r\n\r\n",
	"metadata service by a name":      "GET http://metadata.example.com/latest HTTP/1.1\r\nHost: x\r\n\r\n",
	"granted name, private address":   "CONNECT api.example.com:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"granted name, plain":             "GET http://api.example.com:P/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"user of CONNECT":                 "CONNECT api.example.com@localhost:P HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
	"port as a password":              "CONNECT api.example.com:443@localhost:P HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
	"user of a URL":                   "GET http://api.example.com@localhost:P/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
	"user and password":               "GET http://api.example.com:80@127.0.0.1:P/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
	"another Host":                    "GET http://localhost:P/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
	"another Host of CONNECT":         "CONNECT localhost:P HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n",
	"only a Host":                     "GET / HTTP/1.1\r\nHost: localhost:P\r\n\r\n",
	"two Hosts":                       "GET http://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\nHost: localhost:P\r\n\r\n",
	"address without a scheme":        "GET //localhost:P/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
	"scheme in capitals":              "GET HTTP://LOCALHOST:P/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"https":                           "GET https://localhost:P/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"ftp":                             "GET ftp://localhost:P/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"file":                            "GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
	"backslash":                       "GET http://api.example.com\\@localhost:P/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"fragment":                        "GET http://localhost:P#@api.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"query":                           "GET http://localhost:P?.api.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"escaped":                         "GET http://%6c%6f%63alhost:P/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"NUL":                             "GET http://localhost:P\x00.api.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"line break in the name":          "CONNECT api.example.com%0d%0alocalhost:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"two ports":                       "CONNECT localhost:443:P HTTP/1.1\r\nHost: x\r\n\r\n",
	"no port":                         "CONNECT localhost HTTP/1.1\r\nHost: localhost:P\r\n\r\n",
	"path of CONNECT":                 "CONNECT /localhost:P HTTP/1.1\r\nHost: localhost:P\r\n\r\n",
	"after a refused tunnel":          "CONNECT other.example.org:443 HTTP/1.1\r\nHost: x\r\n\r\nGET http://localhost:P/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"second request":                  "GET http://other.example.org/ HTTP/1.1\r\nHost: x\r\n\r\nGET http://localhost:P/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"smuggled, length and chunks":     "POST http://other.example.org/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://localhost:P/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"smuggled, two lengths":           "POST http://other.example.org/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 60\r\n\r\nGET http://localhost:P/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"smuggled in a header":            "GET http://other.example.org/ HTTP/1.1\r\nHost: x\r\nX: a\nGET http://localhost:P/ HTTP/1.1\r\n\r\n",
	"HTTP/2":                          "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"upgrade to HTTP/2":               "GET http://localhost:P/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n",
	"HTTP/0.9":                        "GET http://localhost:P/\r\n\r\n",
	"SOCKS 4":                         "\x04\x01\x00\x50\x7f\x00\x00\x01user\x00",
	"SOCKS 5":                         "\x05\x01\x00",
	"huge header":                     "GET http://localhost:P/ HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 2*maxHeader) + "\r\n\r\n",
	"OPTIONS *":                       "OPTIONS * HTTP/1.1\r\nHost: localhost:P\r\n\r\n",
	"proxy of a proxy":                "CONNECT localhost:P HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic YWxhZGRpbg==\r\nX-Forwarded-For: 127.0.0.1\r\n\r\n",
	"name that does not exist at all": "CONNECT nothing.invalid:P HTTP/1.1\r\nHost: x\r\n\r\n",
}

// TestAttacks checks that no request reaches a service of this machine, with one granted host and with all external ones.
func TestAttacks(t *testing.T) {
	for _, granted := range []string{"network:external:api.example.com", "network:external", "network:external:api.example.com:443", "network:local:127.0.0.1:1"} {
		port, reached := victim(t)
		s := serveGrants(t, map[string][]string{"api.example.com": {"127.0.0.1"}, "metadata.example.com": {"169.254.169.254"}}, nil, granted)
		for name, request := range attacks {
			answer := s.send(strings.ReplaceAll(request, ":P", ":"+port))
			if n := reached.Swap(0); n > 0 {
				t.Errorf("%s: %s reached the service %d times: %q", granted, name, n, answer)
			}
			if strings.HasPrefix(answer, "HTTP/1.1 2") || strings.HasPrefix(answer, "HTTP/1.0 2") {
				t.Errorf("%s: %s: %q", granted, name, answer)
			}
		}
	}
}

// TestChangingName checks that a name which resolves to a granted address first and to a private one afterwards gains nothing: the
// address of each connection is checked.
func TestChangingName(t *testing.T) {
	port, reached := victim(t)
	granted := permission.Grants{"network:external:api.example.com"}
	s := serveGrants(t, map[string][]string{"api.example.com": {"10.0.0.1", "127.0.0.1", "10.0.0.1", "127.0.0.1"}}, nil, granted...)
	for range 4 {
		if answer := s.send("CONNECT api.example.com:" + port + " HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 403") {
			t.Errorf("answered %q", answer)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("the service was reached %d times", n)
	}
	if got := s.refusals(); len(got) != 4 {
		t.Errorf("refused %v", got)
	}
}

// FuzzProxy sends bytes to a proxy that grants nothing.
func FuzzProxy(f *testing.F) {
	for _, request := range attacks {
		f.Add(request)
	}
	f.Fuzz(func(t *testing.T, request string) {
		port, reached := victim(t)
		s := serveGrants(t, map[string][]string{}, nil)
		if answer := s.send(strings.ReplaceAll(request, ":P", ":"+port)); strings.HasPrefix(answer, "HTTP/1.1 2") || reached.Load() > 0 {
			t.Errorf("answered %q", answer)
		}
	})
}

// TestPassword checks that a proxy with a password serves only requests that have it, whatever the name, and does not pass it
// on.
func TestPassword(t *testing.T) {
	passed := make(chan string, 9)
	back := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { passed <- r.Header.Get("Proxy-Authorization") }))
	defer back.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := permission.Grants{"network:local"}
	t.Cleanup(Serve(limitednet.Egress{Proxy: l, Password: "the password", Host: g.Host, Address: g.Address, Refused: func(netip.Addr, string, string, error) {}}))
	s := &site{T: t, address: l.Addr().String()}
	host := strings.TrimPrefix(back.URL, "http://")
	for _, c := range []struct {
		user   *url.Userinfo
		status int
	}{{nil, 407}, {url.UserPassword("x", "the password"), 200}, {url.UserPassword("x", "the passwor"), 407}, {url.UserPassword("the password", ""), 407}, {url.User("x"), 407}, {url.UserPassword("", "the password"), 200}} {
		transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", User: c.user, Host: s.address}), DisableKeepAlives: true}
		answer, err := (&http.Client{Transport: transport}).Get(back.URL)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		header := ""
		if c.user != nil {
			password, _ := c.user.Password()
			header = "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(c.user.Username()+":"+password)) + "\r\n"
		}
		tunnel := s.send("CONNECT " + host + " HTTP/1.1\r\nHost: x\r\n" + header + "\r\n")
		if answer.StatusCode != c.status || !strings.HasPrefix(tunnel, fmt.Sprint("HTTP/1.1 ", c.status)) {
			t.Errorf("%v: %s, and of a tunnel %q", c.user, answer.Status, tunnel)
		}
		if c.status == 200 {
			if got := <-passed; got != "" {
				t.Errorf("passed on %q", got)
			}
		}
	}
	if len(passed) > 0 {
		t.Errorf("%d more requests arrived", len(passed))
	}
}

// TestSlowRequests checks that programs which send their requests byte by byte hold no more than the connections of their own
// proxy: another proxy answers, and the slow ones end with their time.
func TestSlowRequests(t *testing.T) {
	port := echo(t)
	slow, other := serveGrants(t, nil, nil, "network:local"), serveGrants(t, nil, nil, "network:local")
	before := runtime.NumGoroutine()
	for range 3 * maxConnections {
		c, err := net.Dial("tcp", slow.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, "GET http://localhost:"+port+"/ HTTP/1.1\r\nHost: x\r\nX: ")
	}
	if got := other.send("CONNECT localhost:" + port + " HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.0\r\n\r\n"); !strings.Contains(got, "echo") {
		t.Errorf("another proxy answered %q", got)
	}
	if more := runtime.NumGoroutine() - before; more > 3*maxConnections { // a few for each connection that was accepted
		t.Errorf("%d goroutines for slow requests", more)
	}
}
