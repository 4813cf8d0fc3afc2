package egress

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/internal/engine/limitednet"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/test/dnstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a proxy with permissions, and what it refused.
type site struct {
	*testing.T
	address string
	mu      sync.Mutex
	refused []string
}

// serveGrants starts a proxy. Names that are not addresses resolve by names, each time to the next address of the list, and the last
// one stays.
func serveGrants(t *testing.T, names map[string][]string, forwards []limitednet.EgressForward, grants ...string) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, address: l.Addr().String()}
	g := permission.Grants(grants)
	stop := serve(limitednet.Egress{Proxy: l, Forwards: forwards, Host: g.Host, Address: g.Address, Refused: func(_ netip.Addr, host, port string, _ error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.refused = append(s.refused, net.JoinHostPort(host, port))
	}}, nameServer(names))
	t.Cleanup(stop)
	return s
}

func (s *site) refusals() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// send sends bytes to the proxy and returns everything that it answers until it closes or is silent.
func (s *site) send(request string) string {
	s.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		s.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(c, request)
	c.(*net.TCPConn).CloseWrite()
	answer, _ := io.ReadAll(c)
	return string(answer)
}

// echo is a server that answers with the Host that it was asked for and the path. It returns its port.
func echo(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "echo %s %s %s", r.Host, r.URL.Path, body)
	}))
	t.Cleanup(s.Close)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return port
}

// TestProxy checks a plain request, several on one connection, a tunnel and a forward to a granted port, and that a tunnel passes the
// end of input on.
func TestProxy(t *testing.T) {
	port := echo(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serveGrants(t, nil, []limitednet.EgressForward{{Listener: l, Host: "localhost", Port: port}}, "network:local:localhost:"+port)
	proxy, _ := url.Parse("http://" + s.address)
	transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for _, path := range []string{"/a", "/b"} {
		a, err := client.Post("http://localhost:"+port+path, "text/plain", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if want := "echo localhost:" + port + " " + path + " body"; string(text) != want {
			t.Errorf("got %q, want %q", text, want)
		}
	}
	const get = "GET /x HTTP/1.0\r\nHost: h\r\n\r\n"
	if got := s.send("CONNECT localhost:" + port + " HTTP/1.1\r\nHost: x\r\n\r\n" + get); !strings.HasPrefix(got, "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.0 200 OK") || !strings.HasSuffix(got, "echo h /x ") {
		t.Errorf("tunnel: %q", got)
	}
	direct := &site{T: t, address: l.Addr().String()}
	if got := direct.send(get); !strings.HasSuffix(got, "echo h /x ") {
		t.Errorf("forward: %q", got)
	}
	if got := s.refusals(); len(got) > 0 {
		t.Errorf("refused %v", got)
	}
}

// TestSecondAnswer checks that nothing is printed of what a server sends that nobody asked for.
func TestSecondAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answered := make(chan struct{})
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		http.ReadRequest(bufio.NewReader(c))
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		time.Sleep(200 * time.Millisecond) // the proxy has the first one
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\x1b[31msecond")
		time.Sleep(200 * time.Millisecond)
		close(answered)
	}()
	var printed strings.Builder
	log.SetOutput(&printed)
	defer log.SetOutput(os.Stderr)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	s := serveGrants(t, nil, nil, "network:local:localhost:"+port)
	proxy, _ := url.Parse("http://" + s.address)
	transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
	defer transport.CloseIdleConnections()
	a, err := (&http.Client{Transport: transport}).Get("http://localhost:" + port + "/")
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := io.ReadAll(a.Body); a.Body.Close() != nil || string(text) != "ok" {
		t.Errorf("%q", text)
	}
	<-answered
	if printed.Len() > 0 {
		t.Errorf("printed: %s", printed.String())
	}
}

// TestUpgrade checks that a connection can change its protocol.
func TestUpgrade(t *testing.T) {
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		line, _ := rw.ReadString('\n')
		fmt.Fprint(c, "got "+line)
	}))
	defer back.Close()
	s := serveGrants(t, nil, nil, "network:local:127.0.0.1")
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET %s/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n", back.URL)
	r := bufio.NewReader(c)
	answer, err := http.ReadResponse(r, nil)
	if err != nil || answer.StatusCode != 101 {
		t.Fatal(answer, err)
	}
	fmt.Fprintln(c, "a line")
	if line, _ := r.ReadString('\n'); line != "got a line\n" {
		t.Errorf("got %q", line)
	}
}

// TestStop checks that stop ends tunnels and idle connections.
func TestStop(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := permission.Grants{"network:local"}
	stop := Serve(limitednet.Egress{Proxy: proxy, Host: g.Host, Address: g.Address, Refused: func(netip.Addr, string, string, error) {}})
	var conns []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", proxy.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns = append(conns, c)
	}
	fmt.Fprintf(conns[0], "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", l.Addr())
	if line, err := bufio.NewReader(conns[0]).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatal(line, err)
	}
	stop()
	for _, c := range conns {
		c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
	}
}

// TestManyConnections checks that connections beyond the limit wait, and that none is lost.
func TestManyConnections(t *testing.T) {
	port := echo(t)
	s := serveGrants(t, nil, nil, "network:local")
	var idle []net.Conn
	for range maxConnections - 1 {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := s.send("CONNECT localhost:" + port + " HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.0\r\n\r\n"); !strings.Contains(got, "echo") {
				t.Errorf("got %q", got)
			}
		})
	}
	all.Wait()
	for _, c := range idle {
		c.Close()
	}
}

// nameServer returns a resolver that asks a DNS server of the test.
func nameServer(names map[string][]string) *net.Resolver {
	if names == nil {
		return nil
	}
	return dnstest.Resolver(func(name string) string {
		list := names[name]
		if len(list) == 0 {
			return ""
		}
		if len(list) > 1 {
			names[name] = list[1:]
		}
		return list[0]
	})
}
