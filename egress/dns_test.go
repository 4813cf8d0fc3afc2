package egress

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"

	"golang.org/x/net/dns/dnsmessage"
)

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
