package builtin

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/privatenet"
)

// reach are the hosts nearby that may be asked (the setting tools.webAllow). Everything in
// the outside world may be.
type reach []string

// allow says whether an address may be asked: the one that was given, and each that an
// answer leads to.
func (r reach) allow(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return refusedAddress("the response redirects to a URL that is neither http nor https")
	}
	host, port := privatenet.NormalizeHost(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if !privatenet.IsPrivateHost(host) || r.has(host, port) {
		return nil
	}
	return refusedAddress(fmt.Sprintf("%s is an address of this machine or its network", host))
}

// address says whether a host may be asked where its name leads: a name of the outside
// world must not lead inside, whoever answers for it, and however often it is asked.
func (r reach) address(host, port string, to netip.Addr) error {
	host = privatenet.NormalizeHost(host)
	if !privatenet.IsPrivateAddress(to) || r.has(host, port) {
		return nil
	}
	return refusedAddress(fmt.Sprintf("%s resolves to %s, which is an address of this machine or its network", host, to))
}

func (r reach) has(host, port string) bool {
	return slices.ContainsFunc(r, func(allowed string) bool {
		h, only := target(allowed)
		return h == host && (only == "" || only == port)
	})
}

// target is the host and port of a setting: intranet.example, localhost:8080, [::1]:80.
func target(allowed string) (host, port string) {
	if _, err := netip.ParseAddr(strings.Trim(allowed, "[]")); err == nil {
		return privatenet.NormalizeHost(allowed), ""
	}
	u, err := url.Parse("//" + allowed)
	if err != nil || u.Host != allowed || u.Hostname() == "" { // with a path or a login it is nobody's
		return "", ""
	}
	return privatenet.NormalizeHost(u.Hostname()), u.Port()
}

// refusedAddress is an error that a client leaves as it is.
func refusedAddress(why string) error {
	return fmt.Errorf("PermissionDenied: %s; the setting tools.webAllow can allow the host", why)
}
