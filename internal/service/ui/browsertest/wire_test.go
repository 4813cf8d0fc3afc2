package browsertest

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// wire is a connection between the browser and a service that a test can cut.
type wire struct {
	of     *service
	listen net.Listener
	mu     sync.Mutex
	broken bool
	open   []net.Conn
}

func newWire(t testing.TB, s *service) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{of: s, listen: l}
	t.Cleanup(func() { l.Close(); w.cut() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.connect(c)
		}
	}()
	return w
}

// service returns the service as it is reached over the wire.
func (w *wire) service() *service {
	return &service{dir: w.of.dir, url: "http://" + w.listen.Addr().String(), client: w.of.client}
}

// connect forwards a connection.
func (w *wire) connect(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	to, err := net.Dial("tcp", strings.TrimPrefix(w.of.url, "http://"))
	if w.broken || err != nil {
		c.Close()
		return
	}
	w.open = append(w.open, c, to)
	for _, pair := range [][2]net.Conn{{c, to}, {to, c}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			pair[0].Close()
			pair[1].Close()
		}()
	}
}

// cut breaks all connections, and refuses new ones.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = true
	for _, c := range w.open {
		c.Close()
	}
	w.open = nil
}

// join accepts connections again.
func (w *wire) join() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = false
}
