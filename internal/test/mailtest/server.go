// Package mailtest is a mail server (SMTP) for tests. It keeps the messages that it receives, and can
// answer as a hostile or broken server does.
package mailtest

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// Options say how the server behaves.
type Options struct {
	TLS            string // starttls, tls, or "" for neither
	User, Password string // "": anybody may send
	Mechanisms     string // of AUTH; default PLAIN LOGIN
	// Answer, if it returns a text, replaces the answer to a command. n counts the connections from 1.
	Answer func(n int, command string) string
	// Received, if set, gets each message.
	Received func(Message)
}

// Message is a message that the server accepted.
type Message struct {
	From      string
	To        []string
	Text      string // headers and body, with \n as line ends
	Encrypted bool
	User      string
}

// Server is a server on this machine. Safe for concurrent use.
type Server struct {
	Port int
	CA   []byte // certificate of the server as PEM, which signs itself
	Options

	listener net.Listener
	config   *tls.Config
	work     sync.WaitGroup
	mu       sync.Mutex
	n        int
	open     []net.Conn
	messages []Message
}

// New starts a server. Call Close when done.
func New(o Options) (*Server, error) {
	certificates := httptest.NewUnstartedServer(nil) // has a certificate for 127.0.0.1
	certificates.StartTLS()
	defer certificates.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Options: o, listener: l, Port: l.Addr().(*net.TCPAddr).Port, config: &tls.Config{Certificates: certificates.TLS.Certificates},
		CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificates.Certificate().Raw})}
	s.work.Go(s.accept)
	return s, nil
}

// Close stops the server and ends its connections.
func (s *Server) Close() {
	s.listener.Close()
	s.mu.Lock()
	for _, c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.work.Wait()
}

// Messages returns the messages that have arrived.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Connections returns how many connections there were.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.n++
		n := s.n
		s.open = append(s.open, c)
		s.mu.Unlock()
		s.work.Go(func() {
			defer c.Close()
			if s.TLS == "tls" {
				c = tls.Server(c, s.config)
			}
			(&session{Server: s, n: n, conn: c, in: bufio.NewReader(c), encrypted: s.TLS == "tls"}).talk()
		})
	}
}

// session is one connection.
type session struct {
	*Server
	n         int
	conn      net.Conn
	in        *bufio.Reader
	encrypted bool
	user      string
	message   Message
}

func (c *session) say(text string) bool {
	_, err := io.WriteString(c.conn, text+"\r\n")
	return err == nil
}

func (c *session) line() (string, bool) {
	l, err := c.in.ReadString('\n')
	return strings.TrimRight(l, "\r\n"), err == nil
}

func (c *session) talk() {
	if !c.answer("CONNECT", "220 ready") {
		return
	}
	for {
		l, ok := c.line()
		if !ok {
			return
		}
		word, rest, _ := strings.Cut(l, " ")
		if word = strings.ToUpper(word); !c.command(word, rest, l) {
			return
		}
	}
}

// answer answers a command, as Options.Answer says if it does.
func (c *session) answer(command, usual string) bool {
	if c.Answer != nil {
		if text := c.Answer(c.n, command); text != "" {
			return c.say(text) && strings.HasPrefix(text, usual[:1])
		}
	}
	return c.say(usual)
}

func (c *session) command(word, rest, line string) bool {
	switch word {
	case "EHLO":
		return c.answer(line, c.extensions())
	case "STARTTLS":
		if !c.answer(line, "220 go ahead") {
			return false
		}
		t := tls.Server(c.conn, c.config)
		c.conn, c.in, c.encrypted = t, bufio.NewReader(t), true
		return true
	case "AUTH":
		return c.login(rest)
	case "MAIL":
		c.message = Message{From: between(rest), Encrypted: c.encrypted, User: c.user}
		if c.User != "" && c.user == "" {
			return c.say("530 log in first")
		}
		c.answer(line, "250 ok")
		return true
	case "RCPT":
		c.message.To = append(c.message.To, between(rest))
		c.answer(line, "250 ok")
		return true
	case "DATA":
		return c.data(line)
	case "QUIT":
		c.answer(line, "221 bye")
		return false
	}
	return c.say("250 ok")
}

func (c *session) extensions() string {
	text := "250-mail.test\r\n250-8BITMIME\r\n"
	if c.TLS == "starttls" && !c.encrypted {
		text += "250-STARTTLS\r\n"
	}
	if c.User != "" {
		mechanisms := c.Mechanisms
		if mechanisms == "" {
			mechanisms = "PLAIN LOGIN"
		}
		text += "250-AUTH " + mechanisms + "\r\n"
	}
	return text + "250 SIZE 1000000"
}

func (c *session) login(rest string) bool {
	mechanism, initial, _ := strings.Cut(rest, " ")
	ask := func(question string) string {
		c.say("334 " + base64.StdEncoding.EncodeToString([]byte(question)))
		l, _ := c.line()
		text, _ := base64.StdEncoding.DecodeString(l)
		return string(text)
	}
	given := ""
	if mechanism == "LOGIN" {
		given = "\x00" + ask("Username:") + "\x00" + ask("Password:")
	} else {
		text, _ := base64.StdEncoding.DecodeString(initial)
		given = string(text)
	}
	if given != "\x00"+c.User+"\x00"+c.Password {
		return c.say("535 wrong user or password")
	}
	c.user = c.User
	return c.answer("AUTH", "235 welcome")
}

func (c *session) data(line string) bool {
	if !c.answer(line, "354 go on") {
		return true
	}
	var text strings.Builder
	for {
		l, ok := c.line()
		if !ok {
			return false
		}
		if l == "." {
			break
		}
		fmt.Fprintln(&text, strings.TrimPrefix(l, "."))
	}
	c.message.Text = text.String()
	if !c.answer("END", "250 accepted") {
		return true
	}
	c.mu.Lock()
	c.messages = append(c.messages, c.message)
	c.mu.Unlock()
	if c.Received != nil {
		c.Received(c.message)
	}
	return true
}

// between returns the address in MAIL FROM:<a> and RCPT TO:<a>.
func between(s string) string {
	_, s, _ = strings.Cut(s, "<")
	s, _, _ = strings.Cut(s, ">")
	return s
}
