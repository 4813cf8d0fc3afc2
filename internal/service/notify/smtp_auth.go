package notify

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"
)

// maxReplies is how many bytes a server may send in one conversation.
const maxReplies = 1 << 20

// maxReply is how much of a server's answer an error shows, in characters.
const maxReply = 200

// boundedConn is a connection that ends after a number of received bytes, because package net/smtp
// reads an answer of any length into memory.
type boundedConn struct {
	net.Conn
	left int
}

func (c *boundedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("the server sends too much")
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// judged returns the error of a conversation: a finalError if another attempt cannot succeed.
func judged(err error) error {
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return finalError{err}
	}
	reply, ok := errors.AsType[*textproto.Error](err)
	if !ok {
		return err
	}
	text := []rune(strings.Join(strings.Fields(reply.Msg), " "))
	if len(text) > maxReply {
		text = append(text[:maxReply], []rune("...")...)
	}
	answer := fmt.Errorf("the server answered %d %s", reply.Code, string(text))
	if reply.Code >= 500 {
		return finalError{answer}
	}
	return answer
}

// login authenticates with the mechanism PLAIN, or LOGIN, which some servers offer alone. The
// password is sent only over TLS, or to this machine.
type login struct {
	user, password string
}

// Start implements smtp.Auth.
func (l *login) Start(server *smtp.ServerInfo) (string, []byte, error) {
	if !server.TLS && !isLocal(server.Name) {
		return "", nil, finalError{errors.New("the connection is not encrypted, so the password was not sent; set smtp.tls to starttls or tls")}
	}
	if slices.Contains(server.Auth, "PLAIN") || !slices.Contains(server.Auth, "LOGIN") {
		return "PLAIN", []byte("\x00" + l.user + "\x00" + l.password), nil
	}
	return "LOGIN", nil, nil
}

// Next implements smtp.Auth. Only LOGIN asks, first for the user and then for the password.
func (l *login) Next(question []byte, more bool) ([]byte, error) {
	switch {
	case !more:
		return nil, nil
	case strings.HasPrefix(strings.ToLower(string(question)), "user"):
		return []byte(l.user), nil
	case strings.HasPrefix(strings.ToLower(string(question)), "pass"):
		return []byte(l.password), nil
	}
	return nil, errors.New("the server asks for something unknown")
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
