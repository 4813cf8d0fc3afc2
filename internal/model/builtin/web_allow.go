package builtin

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/os/privatenet"
)

// webAllowList lists the private hosts that may be requested (the setting tools.webAllow). All public hosts may be
// requested.
type webAllowList []string

// allow returns an error if an address may not be requested. It checks the given address and the target of each
// redirect.
func (r webAllowList) allow(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return refusedAddress("the response redirects to a URL that is neither http nor https")
	}
	host, port := privatenet.NormalizeHost(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if err := privatenet.CheckHost(host); err != nil {
		return refusedAddress(err.Error())
	}
	if !privatenet.IsPrivateHost(host) || r.has(host, port) {
		return nil
	}
	return refusedAddress(fmt.Sprintf("%s is an address of this machine or its network", host))
}

// address returns an error if a host may not be requested at the IP address of its name: a public name must not lead
// to a private address, whatever DNS answers, at any time.
func (r webAllowList) address(host, port string, to netip.Addr) error {
	host = privatenet.NormalizeHost(host)
	if !privatenet.IsPrivateAddress(to) || r.has(host, port) {
		return nil
	}
	return refusedAddress(fmt.Sprintf("%s resolves to %s, which is an address of this machine or its network", host, to))
}

func (r webAllowList) has(host, port string) bool {
	return slices.ContainsFunc(r, func(allowed string) bool {
		h, only := target(allowed)
		return h == host && (only == "" || only == port)
	})
}

// target returns the host and port of a setting: intranet.example, localhost:8080, [::1]:80.
func target(allowed string) (host, port string) {
	if _, err := netip.ParseAddr(strings.Trim(allowed, "[]")); err == nil {
		return privatenet.NormalizeHost(allowed), ""
	}
	u, err := url.Parse("//" + allowed)
	if err != nil || u.Host != allowed || u.Hostname() == "" { // an entry with a path or a login matches no host
		return "", ""
	}
	return privatenet.NormalizeHost(u.Hostname()), u.Port()
}

// refusedAddress returns an error that HTTP clients pass on unchanged.
func refusedAddress(why string) error {
	return fmt.Errorf("PermissionDenied: %s; the setting tools.webAllow can allow the host", why)
}
