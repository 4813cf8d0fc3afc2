package netns

import (
	"errors"
	"os"
	"syscall"
)

// Namespace is a network namespace, and the user namespace that it belongs to if that is not the one
// of this process.
type Namespace struct {
	Files   []*os.File // to enter it: the user namespace if it has its own, then the network namespace
	Sockets []*os.File // sockets that listen in it, in the order of the addresses
}

// Address is an address of TCP in a namespace. IP has 4 or 16 bytes.
type Address struct {
	IP   []byte
	Port uint16
}

// sockaddr returns the address for a system call, and its family.
func (a Address) sockaddr() (syscall.Sockaddr, int, error) {
	switch len(a.IP) {
	case 4:
		return &syscall.SockaddrInet4{Addr: [4]byte(a.IP), Port: int(a.Port)}, syscall.AF_INET, nil
	case 16:
		return &syscall.SockaddrInet6{Addr: [16]byte(a.IP), Port: int(a.Port)}, syscall.AF_INET6, nil
	}
	return nil, 0, errors.New("an IP address has 4 or 16 bytes")
}

// Close releases the descriptors.
func (n *Namespace) Close() error {
	var all []error
	for _, list := range [][]*os.File{n.Files, n.Sockets} {
		for _, f := range list {
			all = append(all, f.Close())
		}
	}
	return errors.Join(all...)
}
