// Package dnstest answers the questions of a resolver in a test, without a name server on the network.
package dnstest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// Resolver returns a resolver that knows the names that find knows, each with one IPv4 address; "" is for no such name. A
// name with two answers, one after the other, is what find makes of it. find is called from one goroutine at a time.
func Resolver(find func(name string) string) *net.Resolver {
	var mu sync.Mutex
	return &net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			answerDNS(theirs, func(name string) string {
				mu.Lock()
				defer mu.Unlock()
				return find(name)
			})
		}()
		return ours, nil
	}}
}

// answerDNS answers the questions on a connection, each after its length, as over TCP.
func answerDNS(c net.Conn, find func(name string) string) {
	for {
		var length uint16
		if binary.Read(c, binary.BigEndian, &length) != nil {
			return
		}
		packet := make([]byte, length)
		if _, err := io.ReadFull(c, packet); err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(packet) != nil || len(m.Questions) != 1 {
			return
		}
		q := m.Questions[0]
		m.Response, m.Additionals = true, nil
		name := q.Name.String()
		header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		if q.Type == dnsmessage.TypeA {
			if a, err := netip.ParseAddr(find(name[:len(name)-1])); err == nil && a.Is4() {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
			}
		}
		if q.Type == dnsmessage.TypeA && len(m.Answers) == 0 {
			m.RCode = dnsmessage.RCodeNameError
		}
		answer, err := m.Pack()
		if err != nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}
