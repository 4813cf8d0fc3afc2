// Package privatenet tells the addresses of this machine, and of the network around it, from
// those of the outside world. What reaches the web on behalf of others may ask the outside
// world alone, unless somebody has said more: what listens nearby often trusts whoever can
// reach it.
package privatenet

import (
	"net/netip"
	"slices"
	"strings"
)

// NormalizeHost is a host in the one form in which hosts are compared: lower case, without
// brackets and without a dot at its end; an address as it is written shortest.
func NormalizeHost(host string) string {
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String()
	}
	return host
}

// IsPrivateHost says whether a name, or an address, as Name has it is of this machine or the network
// around it, as far as one sees without asking where it leads.
func IsPrivateHost(name string) bool {
	if a, err := netip.ParseAddr(name); err == nil {
		return IsPrivateAddress(a)
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.HasSuffix(name, ".local")
}

// IsPrivateAddress says whether an address is of this machine or the network around it.
func IsPrivateAddress(a netip.Addr) bool {
	a = embeddedIPv4(a.WithZone("").Unmap())
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified() || a.IsMulticast() ||
		slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// reserved are addresses that lead nowhere, or somewhere inside, and that netip does not
// know as such (RFC 6890).
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this network
	netip.MustParsePrefix("100.64.0.0/10"),    // what providers use inside (RFC 6598)
	netip.MustParsePrefix("192.0.0.0/24"),     // protocols; a cloud's metadata among them
	netip.MustParsePrefix("198.18.0.0/15"),    // measurements
	netip.MustParsePrefix("240.0.0.0/4"),      // nobody's, and the broadcast address
	netip.MustParsePrefix("168.63.129.16/32"), // a cloud's host, as its guests see it
	netip.MustParsePrefix("fec0::/10"),        // what private addresses were once
}

// Those whose last, or middle, four bytes are an address of IPv4 that is what is reached.
var (
	translated = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	compatible = netip.MustParsePrefix("::/96")        // RFC 4291
	tunnelled  = netip.MustParsePrefix("2002::/16")    // RFC 3056
)

// embeddedIPv4 is the address of IPv4 that one of IPv6 stands for, else the address itself.
func embeddedIPv4(a netip.Addr) netip.Addr {
	b := a.As16()
	switch {
	case !a.Is6(), a.IsLoopback(), a.IsUnspecified():
	case translated.Contains(a), compatible.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:16]))
	case tunnelled.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a
}
