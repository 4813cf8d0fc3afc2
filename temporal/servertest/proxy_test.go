package servertest

import (
	"net"
	"sync"
	"testing"
)

// proxy is a network line between workers and a server.
type proxy struct {
	address string
	to      string

	mu    sync.Mutex
	whole *sync.Cond
	state lineState
	conns map[net.Conn]bool
}

// lineState is what a line does.
type lineState int

const (
	carries lineState = iota
	silent            // nothing arrives, and connections stay open
	cut               // there are no connections
)

func startProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String(), to: to, conns: map[net.Conn]bool{}}
	p.whole = sync.NewCond(&p.mu)
	t.Cleanup(func() {
		l.Close()
		p.set(cut)
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.carry(c)
		}
	}()
	return p
}

// carry connects one connection with the server, until the line is cut.
func (p *proxy) carry(c net.Conn) {
	defer c.Close()
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer to.Close()
	if !p.add(c, to) {
		return
	}
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{c, to}, {to, c}} {
		go func() {
			p.copy(way[0], way[1])
			done <- struct{}{}
		}()
	}
	<-done
}

// copy carries one way of a connection.
func (p *proxy) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		for p.state == silent {
			p.whole.Wait()
		}
		p.mu.Unlock()
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// add records an open connection. It reports whether the line has connections.
func (p *proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = true
	}
	return p.state != cut
}

// set changes what the line does.
func (p *proxy) set(to lineState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = to
	p.whole.Broadcast()
	if to != cut {
		return
	}
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}
