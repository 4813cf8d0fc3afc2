// Package limitednet gives steps that may reach only some hosts a network of their own: a namespace of the kernel (package
// netns) whose only ways out are a proxy and the ports of this machine that were granted. [Networks] are those of one run:
// steps with the same permissions share one, and each attempt has a [Place] in it, a loopback address by which the proxy knows
// it. The proxy itself is served by who runs steps: see [Egress].
package limitednet

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/os/netns"
)

// Egress is the way out of the network namespace of steps: what has to be served there, and what may be reached from it.
type Egress struct {
	Proxy    net.Listener // programs in the namespace expect a proxy for HTTP here
	Password string       // that programs give to the proxy; "" if only they can reach it
	Forwards []EgressForward
	// Host returns an error if the host of a name or address may not be reached.
	Host func(host, port string) error
	// Address returns an error if a host may not be reached at the address to which its name resolves.
	Address func(host, port string, to netip.Addr) error
	// Refused is called for each refusal, with the loopback address at which the program reached the proxy; it is
	// invalid for a forward. It must be safe for concurrent use.
	Refused func(client netip.Addr, host, port string, err error)
}

// EgressForward is a listener whose connections go to one port of this machine.
type EgressForward struct {
	net.Listener
	Host, Port string
}

// network is the network of the steps of a run that have the same permissions. Its namespace is made when the first of them
// starts.
type network struct {
	of      *Networks
	grants  permission.Grants
	prepare sync.Once
	failed  error // why there is no namespace

	namespace *netns.Namespace
	stop      func() // ends the proxy
	port      uint16
	direct    bool // programs connect to this machine without the proxy

	mu       sync.Mutex
	attempts map[netip.Addr]*Place
	last     uint32          // of the loopback addresses of attempts
	reported map[string]bool // refusals that a notice was sent for
}

// Place is the place of an attempt in a network: the loopback address at which it reaches the proxy.
type Place struct {
	network *network
	address netip.Addr
	step    dag.ID
	count   int      // of connections that were refused
	refused []string // reasons, each once
}

// Limits of what is reported about refused connections.
const (
	maxRefusedStep = 5
	maxRefusedRun  = 20
)

// Networks are those of a run, by their permissions. Set its fields before the first step starts.
type Networks struct {
	Means      confinement.Means
	Unenforced bool   // steps may start although this machine cannot enforce their permissions
	Helper     string // the program that makes network namespaces; "" is this program
	// Egress serves a namespace until stop is called.
	Egress func(Egress) (stop func())
	// Refused is called for the first refusals of each step.
	Refused func(step dag.ID, target, reason string)

	mu   sync.Mutex
	list map[string]*network
}

// Join gives a process a place in the network of its permissions, nil if it needs none: everything or nothing is
// granted, or the network is not held.
func (s *Networks) Join(c confinement.Confinement, step dag.ID) (*Place, error) {
	if !c.LimitsHosts() || c.Image != "" && !c.Network {
		return nil, nil
	}
	err := c.CheckHosts(s.Means)
	if err != nil && s.Unenforced {
		return nil, nil
	}
	n := s.network(c.Grants)
	if err == nil {
		n.prepare.Do(func() { n.failed = n.open() })
		err = n.failed
	}
	if err != nil {
		return nil, place.CannotStart(126, "cannot start the step: %v", err)
	}
	return n.join(step), nil
}

// Leave gives the place back.
func (p *Place) Leave() {
	if p == nil {
		return
	}
	p.network.mu.Lock()
	defer p.network.mu.Unlock()
	delete(p.network.attempts, p.address)
}

// Namespaces returns what the process enters.
func (p *Place) Namespaces() []*os.File {
	if p == nil {
		return nil
	}
	return p.network.namespace.Files
}

// network returns the network for these permissions.
func (s *Networks) network(g permission.Grants) *network {
	g = g.Hosts()
	slices.Sort(g)
	key := strings.Join(g, "\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.list[key]
	if n == nil {
		n = &network{of: s, grants: g, attempts: map[netip.Addr]*Place{}, reported: map[string]bool{}}
		if s.list == nil {
			s.list = map[string]*network{}
		}
		s.list[key] = n
	}
	return n
}

// open makes the namespace and starts the proxy.
func (n *network) open() (err error) {
	ports, all := n.grants.LoopbackPorts()
	listen := []netip.AddrPort{netip.AddrPortFrom(netip.IPv4Unspecified(), 0)} // each attempt has another loopback address
	var forwards []EgressForward
	for _, p := range ports {
		if a := loopbackAddress(p[0], p[1]); !slices.Contains(listen, a) {
			listen, forwards = append(listen, a), append(forwards, EgressForward{Host: p[0], Port: p[1]})
		}
	}
	e := Egress{Forwards: forwards, Host: n.grants.Host, Address: n.grants.Address, Refused: n.refuse}
	if n.namespace, e.Proxy, err = openNamespace(n.of.Helper, listen, forwards); err != nil {
		return err
	}
	n.port = e.Proxy.Addr().(*net.TCPAddr).AddrPort().Port()
	n.direct = !all
	n.stop = n.of.Egress(e)
	return nil
}

// openNamespace makes a namespace with listeners: the first one, and those of the forwards.
func openNamespace(helper string, listen []netip.AddrPort, forwards []EgressForward) (n *netns.Namespace, first net.Listener, err error) {
	addresses := make([]netns.Address, len(listen))
	for i, a := range listen {
		addresses[i] = netns.Address{IP: a.Addr().AsSlice(), Port: a.Port()}
	}
	if n, err = netns.Open(helper, addresses); err != nil {
		return nil, nil, err
	}
	listeners := make([]net.Listener, len(n.Sockets))
	for i, f := range n.Sockets {
		l, wrong := net.FileListener(f) // has a descriptor of its own
		err = errors.Join(err, wrong, f.Close())
		listeners[i] = l
	}
	n.Sockets = nil
	if err != nil {
		for _, l := range listeners {
			if l != nil {
				l.Close()
			}
		}
		return nil, nil, errors.Join(err, n.Close())
	}
	for i := range forwards {
		forwards[i].Listener = listeners[i+1]
	}
	return n, listeners[0], nil
}

// loopbackAddress returns where a port of this machine is expected in the namespace.
func loopbackAddress(host, port string) netip.AddrPort {
	a, err := netip.ParseAddr(host)
	if err != nil { // localhost
		a = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	number, _ := strconv.ParseUint(port, 10, 16)
	return netip.AddrPortFrom(a, uint16(number))
}

// join gives an attempt a place.
func (n *network) join(step dag.ID) *Place {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = n.last%(1<<24-4) + 1
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], 127<<24+n.last+1) // from 127.0.0.2 to 127.255.255.254
	p := &Place{network: n, address: netip.AddrFrom4(a), step: step}
	n.attempts[p.address] = p
	return p
}

// Variables returns the environment in which programs find the proxy. Some know only the names in lower case.
func (p *Place) Variables() []string {
	if p == nil {
		return nil
	}
	return ProxyVariables(netip.AddrPortFrom(p.address, p.network.port).String(), p.network.direct)
}

// ProxyVariables returns the environment in which programs find a proxy: HOST:PORT, with a user and a password if it needs
// them. With direct they connect to this machine without it.
func ProxyVariables(address string, direct bool) []string {
	proxy := "http://" + address
	list := []string{"NODE_USE_ENV_PROXY=1"}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		list = append(list, name+"="+proxy, strings.ToLower(name)+"="+proxy)
	}
	none := ""
	if direct {
		none = "localhost,127.0.0.1,::1"
	}
	return append(list, "NO_PROXY="+none, "no_proxy="+none)
}

// refuse keeps a refusal for the message of the step, and reports it.
func (n *network) refuse(client netip.Addr, host, port string, err error) {
	target := net.JoinHostPort(host, port)
	reason := err.Error()
	if denied, ok := errors.AsType[*permission.DeniedError](err); ok {
		reason = denied.Missing() + " is not in security.required-permissions"
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var step dag.ID
	if p := n.attempts[client]; p != nil {
		step = p.step
		p.count++
		if len(p.refused) < maxRefusedStep && !slices.Contains(p.refused, reason) {
			p.refused = append(p.refused, reason)
		}
	}
	key := string(step) + " " + target
	if len(n.reported) >= maxRefusedRun || n.reported[key] {
		return
	}
	n.reported[key] = true
	n.of.Refused(step, target, reason)
}

// Refusals returns how many connections of the attempt were refused.
func (p *Place) Refusals() int {
	if p == nil {
		return 0
	}
	p.network.mu.Lock()
	defer p.network.mu.Unlock()
	return p.count
}

// Explain adds to the message of a failed attempt what its network refused.
func (p *Place) Explain(r *dag.Result) {
	if p == nil || r.Status == dag.Succeeded {
		return
	}
	p.network.mu.Lock()
	defer p.network.mu.Unlock()
	if len(p.refused) == 0 {
		return
	}
	if r.Message != "" {
		r.Message += "; "
	}
	r.Message += strings.Join(p.refused, "; ")
}

// Close ends the proxies. The processes of the run have ended, or are detached and lose their network.
func (s *Networks) Close() (err error) {
	for _, n := range s.list {
		if n.stop != nil {
			n.stop()
		}
		if n.namespace != nil {
			err = errors.Join(err, n.namespace.Close())
		}
	}
	return err
}
