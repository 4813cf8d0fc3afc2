package permission

import (
	"net"
	"net/netip"
	"strings"

	"github.com/flowrun/flowrun/internal/privatenet"
)

// Host returns an error if a program may not connect to a port of a host.
func (g Grants) Host(host, port string) error {
	host = privatenet.NormalizeHost(host)
	verb := verbOf(host)
	if g.allowsHost(verb, host, port) {
		return nil
	}
	return &DeniedError{Permission: "network:" + verb + ":" + net.JoinHostPort(host, port)}
}

// verbOf returns the verb of permissions for a normalized host.
func verbOf(host string) string {
	if privatenet.IsPrivateHost(host) {
		return "local"
	}
	return "external"
}

// LoopbackPorts returns the ports of this machine that the permissions name, each with its host. all is true if they
// allow all of its ports.
func (g Grants) LoopbackPorts() (ports [][2]string, all bool) {
	for _, p := range g {
		target, local := strings.CutPrefix(p, "network:local")
		host, port := splitTarget(strings.TrimPrefix(target, ":"))
		switch {
		case !local:
		case strings.TrimPrefix(target, ":") == "", isLoopback(host) && port == "":
			all = true
		case isLoopback(host):
			ports = append(ports, [2]string{host, port})
		}
	}
	return ports, all
}

// isLoopback reports whether a normalized host is this machine.
func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}
