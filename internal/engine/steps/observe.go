package steps

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"github.com/flowrun/flowrun/internal/engine/limitednet"
	"github.com/flowrun/flowrun/internal/os/privatenet"
	"github.com/flowrun/flowrun/internal/os/systrace"
)

// observer reports to Options.Observe what the processes of a Session use.
type observer struct {
	report func(systrace.Access)
	tracer *systrace.Tracer
	folder string // of the tracer
	// proxy is the address of a proxy that allows everything. System calls show addresses; it shows the names of hosts.
	// Other users of this machine reach it, too, so it has a password.
	proxy, password string
	stopProxy       func()
}

// startObserver makes the observer, if Options.Observe demands it.
func (s *Session) startObserver() error {
	if s.options.Observe == nil {
		return nil
	}
	dir, err := s.folder()
	if err != nil {
		return err
	}
	o := &observer{report: s.options.Observe, folder: dir, stopProxy: func() {}}
	if err := o.startProxy(s.options.Egress); err != nil {
		return err
	}
	if o.tracer, err = systrace.Listen(dir, o.observe); err != nil {
		o.stopProxy()
		return fmt.Errorf("cannot observe the steps of the run: %w", err)
	}
	s.observer = o
	return nil
}

func (o *observer) startProxy(serve func(limitednet.Egress) (stop func())) error {
	if serve == nil {
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot start a proxy for the steps of the run: %w", err)
	}
	o.proxy, o.password = l.Addr().String(), rand.Text()
	o.stopProxy = serve(limitednet.Egress{Proxy: l, Password: o.password, Host: o.observeHost, Address: o.observeAddress, Refused: func(netip.Addr, string, string, error) {}})
	return nil
}

func (o *observer) observe(a systrace.Access) {
	if a.Kind != systrace.Connect || a.Target != o.proxy {
		o.report(a)
	}
}

func (o *observer) observeHost(host, port string) error {
	o.report(systrace.Access{Kind: systrace.Host, Target: net.JoinHostPort(host, port)})
	return nil
}

func (o *observer) observeAddress(host, port string, to netip.Addr) error {
	if privatenet.IsPrivateAddress(to) && !privatenet.IsPrivateHost(host) {
		o.report(systrace.Access{Kind: systrace.PrivateHost, Target: net.JoinHostPort(host, port)})
	}
	return nil
}

// variables returns the environment in which programs find the proxy.
func (o *observer) variables() []string {
	if o == nil || o.proxy == "" {
		return nil
	}
	return limitednet.ProxyVariables("flowrun:"+o.password+"@"+o.proxy, true)
}

// close ends the observer. A nil observer does nothing.
func (o *observer) close() error {
	if o == nil {
		return nil
	}
	o.stopProxy()
	return o.tracer.Close()
}

// traceFolder returns the folder of the tracer, "" if processes are not observed.
func (o *observer) traceFolder() string {
	if o == nil {
		return ""
	}
	return o.folder
}

// Observe reports something that flowrun does for a step, such as a request of a script.
func (s *Session) Observe(a systrace.Access) {
	if s.Observed() {
		s.options.Observe(a)
	}
}

// ObserveURL reports that flowrun connects to the host of an address for a step.
func (s *Session) ObserveURL(u *url.URL) {
	target := u.Host
	if u.Port() == "" {
		target += map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	}
	s.Observe(systrace.Access{Kind: systrace.Host, Target: target})
}

// Observed reports whether Options.Observe is set. Permissions are not enforced then.
func (s *Session) Observed() bool { return s.options.Observe != nil }
