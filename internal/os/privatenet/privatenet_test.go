package privatenet

import (
	"net/netip"
	"testing"
)

func TestIsPrivateAddress(t *testing.T) {
	for _, near := range []string{"127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "0.0.0.0", "0.1.2.3",
		"100.64.0.1", "100.100.100.200", "192.0.0.192", "198.18.0.1", "224.0.0.1", "239.255.255.255", "255.255.255.255", "240.0.0.1", "168.63.129.16",
		"::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:c0a8:101::1"} {
		if !IsPrivateAddress(netip.MustParseAddr(near)) {
			t.Errorf("%s is nearby", near)
		}
	}
	for _, far := range []string{"1.1.1.1", "8.8.8.8", "172.32.0.1", "172.15.0.1", "192.169.0.1", "169.253.0.1", "100.63.0.1", "100.128.0.1", "168.63.129.17", "223.255.255.255",
		"2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2001:db8::1"} {
		if IsPrivateAddress(netip.MustParseAddr(far)) {
			t.Errorf("%s is outside", far)
		}
	}
}

func TestIsPrivateHost(t *testing.T) {
	for _, c := range []struct {
		host string
		near bool
	}{{"localhost", true}, {"LOCALHOST.", true}, {"a.localhost", true}, {"printer.local", true}, {"[::1]", true}, {"127.0.0.1", true}, {"[::ffff:10.1.2.3]", true},
		{"example.com", false}, {"localhost.example.com", false}, {"notlocal", false}, {"", false}, {"8.8.8.8", false}} {
		if got := IsPrivateHost(NormalizeHost(c.host)); got != c.near {
			t.Errorf("Host(%q) = %v", c.host, got)
		}
	}
}

func TestCheckHost(t *testing.T) {
	for _, bad := range []string{"127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "017700000001", "127.0.1", "0177.0.0.1", "10.1", "2852039166", "169.254.43518",
		"127.0.0.1.1", "256.1.1.1", "a.1", "1", "0x", "0XA9FEA9FE", "127.1.", "example.0x1"} {
		if CheckHost(bad) == nil {
			t.Errorf("%s is taken for a host", bad)
		}
	}
	for _, good := range []string{"", "localhost", "127.0.0.1", "127.0.0.1.", "::1", "[::1]", "fe80::1%1", "1.example.com", "a1", "x2130706433", "0x7f.com", "db-0", "xn--p1ai", "host.0xg"} {
		if err := CheckHost(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}
