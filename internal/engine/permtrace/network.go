package permtrace

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/os/privatenet"
	"github.com/flowrun/flowrun/internal/os/systrace"
)

// network is what a run uses of the network.
type network struct {
	named    map[string]bool // permissions for hosts that were reached by name
	loopback map[string]bool // addresses of this machine that were connected to
	own      map[string]bool // ports at which processes of the run accept connections
	direct   map[string]bool // addresses of other machines that were connected to without a proxy
	services bool            // Unix sockets
}

func newNetwork() *network {
	return &network{named: map[string]bool{}, loopback: map[string]bool{}, own: map[string]bool{}, direct: map[string]bool{}}
}

// observe records an access, and returns what a permission has to cover, "" if that is not known.
func (n *network) observe(a systrace.Access) (host string) {
	u := &url.URL{Host: a.Target}
	switch a.Kind {
	case systrace.UnixSocket:
		n.services = n.services || !optionalSocket(a.Target)
	case systrace.Accept:
		n.own[u.Port()] = true
	case systrace.Host:
		verb := "external:"
		if privatenet.IsPrivateHost(u.Hostname()) {
			verb = "local:"
		}
		n.named["network:"+verb+a.Target] = true
		return a.Target
	case systrace.PrivateHost:
		n.named["network:local:"+a.Target] = true
	case systrace.Connect:
		if ip, _ := netip.ParseAddr(u.Hostname()); ip.IsLoopback() {
			n.loopback[a.Target] = true
			return a.Target
		}
		n.direct[a.Target] = true
	}
	return ""
}

// optionalSocket reports whether a socket belongs to a service that programs ask if it is there, and do without: the
// cache of names, and the log of the system.
func optionalSocket(path string) bool {
	return strings.HasSuffix(path, "/run/nscd/socket") || path == "/dev/log"
}

// entries returns the permissions for the network. A program that connects without a proxy can reach other machines only
// if everything is allowed.
func (n *network) entries() (list []string) {
	if len(n.direct) > 0 {
		return []string{"network"}
	}
	list = slices.Collect(maps.Keys(n.named))
	for target := range n.loopback {
		if !n.own[(&url.URL{Host: target}).Port()] { // otherwise both ends are in the network of the run
			list = append(list, "network:local:"+target)
		}
	}
	if n.services || len(list) == 0 && len(n.own) > 0 {
		list = append(list, "network:local")
	}
	return list
}

// markHost notes which permissions allow a connection to HOST:PORT.
func (r *Recorder) markHost(target string) {
	for _, p := range r.options.Granted {
		if (permission.Grants{p.Resolved}).Network(&url.URL{Scheme: "http", Host: target}) == nil {
			r.used[p.Written] = true
		}
	}
}
