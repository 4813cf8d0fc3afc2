package porttest

import (
	"net"
	"strconv"
	"testing"
)

// TestAddresses: addresses are handed out once, follow each other, leave out ports that are taken, and start again
// below the range that the system gives to others.
func TestAddresses(t *testing.T) {
	next.port = end - 3
	taken, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(first+1))
	if err == nil { // else somebody else listens there, which serves as well
		defer taken.Close()
	}
	seen := map[string]bool{}
	for range 3 {
		ports := Addresses(t, 2)
		if len(ports) != 2 || port(t, ports[1]) != port(t, ports[0])+1 {
			t.Errorf("two addresses are %v", ports)
		}
		for _, address := range ports {
			if p := port(t, address); seen[address] || p < first || p >= end || p == first+1 {
				t.Errorf("%s was handed out, after %v", address, seen)
			}
			seen[address] = true
		}
	}
}

func port(t *testing.T, address string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
