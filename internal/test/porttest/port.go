// Package porttest hands out addresses to programs that cannot listen at a port that the system chooses.
//
// A port that was free a moment ago may be taken before the program listens there: the system gives the ports of its
// range for outgoing connections, and to whoever listens at port 0, to anybody. So the ports come from below that
// range, and a process hands out each of them once: a server that is killed finds its own port free when it starts
// again.
package porttest

import (
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
)

// Systems take ports for connections from 32768 (Linux) or 49152 (others) on.
const first, end = 10000, 30000

var next struct {
	sync.Mutex
	port int
}

// Addresses returns addresses of this machine at which nothing listens, with ports that follow each other.
func Addresses(t testing.TB, count int) []string {
	t.Helper()
	next.Lock()
	defer next.Unlock()
	if next.port == 0 {
		next.port = first + os.Getpid()*64%(end-first) // tests of other packages, which run at the same time, begin elsewhere
	}
	var found []string
	for range end - first {
		if next.port >= end {
			next.port, found = first, nil
		}
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(next.port))
		next.port++
		l, err := net.Listen("tcp", address)
		if err != nil {
			found = nil
			continue
		}
		l.Close()
		if found = append(found, address); len(found) == count {
			return found
		}
	}
	t.Fatalf("%d ports in a row, from %d to %d, are not free", count, first, end)
	return nil
}
