// Package privatenet distinguishes addresses of this machine and of the networks around it from
// public ones. Code that fetches from the web on behalf of others may reach only public addresses
// unless it is allowed more, because services in a private network often trust everybody who can
// reach them.
package privatenet

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// NormalizeHost returns a host in the form in which hosts are compared: lower case, without
// brackets and without a final dot; an IP address in its shortest form.
func NormalizeHost(host string) string {
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String()
	}
	return host
}

// CheckHost returns an error if a host is a text that some programs read as an IPv4 address and others as a name: 127.1,
// 2130706433, 0x7f.1 or 0177.0.0.1, as inet_aton does. Whoever checks such a host checks another one than is reached. No
// name on the internet ends with a number.
func CheckHost(host string) error {
	host = NormalizeHost(host)
	if _, err := netip.ParseAddr(host); err == nil {
		return nil
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = "0"+hex, digits+"abcdef"
	}
	if last == "" || strings.Trim(last, digits) != "" {
		return nil
	}
	return fmt.Errorf("%q is not a host: it ends with a number, but is not an address; write four numbers from 0 to 255, such as 192.0.2.1", host)
}

// Control returns what a net.Dialer calls before it connects to an IP address: reach, whose error stops it.
func Control(reach func(netip.Addr) error) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return reach(a.Addr().WithZone(""))
	}
}

// IsPrivateHost reports whether a normalized host name or address belongs to this machine or to a
// private network. It does not resolve names.
func IsPrivateHost(name string) bool {
	if a, err := netip.ParseAddr(name); err == nil {
		return IsPrivateAddress(a)
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.HasSuffix(name, ".local")
}

// IsPrivateAddress reports whether an address belongs to this machine or to a private network.
func IsPrivateAddress(a netip.Addr) bool {
	a = embeddedIPv4(a.WithZone("").Unmap())
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified() || a.IsMulticast() ||
		slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// reserved lists networks that are not public and that netip does not know as such (RFC 6890).
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this network
	netip.MustParsePrefix("100.64.0.0/10"),    // shared by customers of a provider (RFC 6598)
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments; includes the metadata service of one cloud
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved, and the broadcast address
	netip.MustParsePrefix("168.63.129.16/32"), // the host of a cloud, as its guests see it
	netip.MustParsePrefix("fec0::/10"),        // site-local, the former private addresses
}

// Networks of IPv6 whose addresses contain the IPv4 address that is reached: in the last four
// bytes, or for tunnelled in bytes 2 to 5.
var (
	translated = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	compatible = netip.MustParsePrefix("::/96")        // RFC 4291
	tunnelled  = netip.MustParsePrefix("2002::/16")    // RFC 3056
)

// embeddedIPv4 returns the IPv4 address that is reached through an IPv6 address, or the address
// itself.
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
