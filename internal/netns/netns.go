package netns

import (
	"errors"
	"net"
	"os"
)

// Namespace is a network namespace, and the user namespace that it belongs to if that is not the one
// of this process.
type Namespace struct {
	Files     []*os.File     // to enter it: the user namespace if it has its own, then the network namespace
	Listeners []net.Listener // in the order of the addresses
}

// Close releases the descriptors and closes the listeners.
func (n *Namespace) Close() error {
	var all []error
	for _, f := range n.Files {
		all = append(all, f.Close())
	}
	for _, l := range n.Listeners {
		all = append(all, l.Close())
	}
	return errors.Join(all...)
}
