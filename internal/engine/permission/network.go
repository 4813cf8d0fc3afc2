package permission

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/os/privatenet"
)

// Host returns an error if a program may not connect to a port of a host.
func (g Grants) Host(host, port string) error {
	host = privatenet.NormalizeHost(host)
	if err := privatenet.CheckHost(host); err != nil {
		return err
	}
	verb := verbOf(host)
	if g.allowsHost(verb, host, port) {
		return nil
	}
	return &DeniedError{Permission: "network:" + verb + ":" + net.JoinHostPort(host, port)}
}

// Names reports whether a permission names the host, rather than all hosts of a kind.
func (g Grants) Names(host, port string) bool {
	host = privatenet.NormalizeHost(host)
	return slices.ContainsFunc(g, func(p string) bool {
		target, ok := strings.CutPrefix(p, "network:"+verbOf(host)+":")
		return ok && target != "" && Grants{p}.allowsHost(verbOf(host), host, port)
	})
}

// Resolve returns the addresses at which a program may connect to a port of a host, as Address allows them. It fails if
// there are none, with the reason. Who connects uses these addresses and does not resolve the name again, because the
// answer may be another one then.
func (g Grants) Resolve(ctx context.Context, host, port string) ([]netip.Addr, error) {
	if err := g.Host(host, port); err != nil {
		return nil, err
	}
	all := []netip.Addr{}
	if a, err := netip.ParseAddr(privatenet.NormalizeHost(host)); err == nil {
		all = append(all, a)
	} else if all, err = net.DefaultResolver.LookupNetIP(ctx, "ip", privatenet.NormalizeHost(host)); err != nil {
		return nil, fmt.Errorf("cannot find the address of %s: %w", host, err)
	}
	var allowed []netip.Addr
	var denied error
	for _, a := range all {
		if err := g.Address(host, port, a.Unmap()); err != nil {
			denied = err
			continue
		}
		allowed = append(allowed, a.Unmap())
	}
	if len(allowed) == 0 {
		return nil, cmp.Or(denied, fmt.Errorf("the name %s has no address", host))
	}
	return allowed, nil
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
