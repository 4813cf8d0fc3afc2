package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"os"
	"strconv"
	"strings"
	"time"
)

// SMTP is the server that sends e-mails.
type SMTP struct {
	Host string // "" if no server is set up
	Port int    // 0: the usual one for TLS
	TLS  string // starttls (also ""), tls or none
	From string
	User string // "": no authentication
	// PasswordEnv is the variable, PasswordFile the path of the password.
	PasswordEnv, PasswordFile string
	CAFile                    string // certificates (PEM); "": those of the system
}

// finalError is an error after which another attempt cannot succeed.
type finalError struct{ error }

// mail sends an e-mail, in up to three attempts if repeating may help.
func (s Settings) mail(ctx context.Context, r Rule, o Outcome) error {
	from := cmp.Or(r.From, s.SMTP.From)
	switch {
	case s.SMTP.Host == "":
		return errors.New("the settings name no server for e-mails; add smtp: {host: ..., from: ...}")
	case from == "":
		return errors.New("the e-mail has no sender; add smtp.from to the settings, or from to the e-mail")
	}
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return fmt.Errorf("the sender %q is not the address of an e-mail", from)
	}
	to := make([]*mail.Address, len(r.To))
	for i, address := range r.To {
		if to[i], err = mail.ParseAddress(address); err != nil {
			return fmt.Errorf("%q is not the address of an e-mail", address)
		}
	}
	auth, config, err := s.access()
	if err != nil {
		return err
	}
	text := r.email(o, sender, to, time.Now())
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err := s.SMTP.send(ctx, auth, config, sender, to, text)
		if _, final := errors.AsType[finalError](err); err == nil || final || attempt == maxAttempts {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
			pause *= 2
		}
	}
}

// access returns what is needed to log in: nil without a user.
func (s Settings) access() (smtp.Auth, *tls.Config, error) {
	config := &tls.Config{ServerName: s.SMTP.Host}
	if s.SMTP.CAFile != "" {
		pem, err := os.ReadFile(s.path(s.SMTP.CAFile))
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read smtp.ca-file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, nil, errors.New("smtp.ca-file has no certificate")
		}
	}
	if s.SMTP.User == "" {
		return nil, config, nil
	}
	password, err := s.secret(s.SMTP.PasswordEnv, s.SMTP.PasswordFile, "the password of smtp.user")
	if err != nil {
		return nil, nil, err
	}
	return &login{user: s.SMTP.User, password: string(password)}, config, nil
}

// send talks to the server once.
func (c SMTP) send(ctx context.Context, auth smtp.Auth, config *tls.Config, from *mail.Address, to []*mail.Address, text []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, attemptTimeout, fmt.Errorf("no response within %v", attemptTimeout))
	defer cancel()
	dialed, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(c.Host, strconv.Itoa(c.port())))
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	stop := context.AfterFunc(ctx, func() { dialed.Close() })
	defer stop()
	defer dialed.Close()
	var conn net.Conn = &boundedConn{Conn: dialed, left: maxReplies}
	if c.TLS == "tls" {
		conn = tls.Client(conn, config)
	}
	if err := c.talk(conn, auth, config, from, to, text); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return judged(err)
	}
	return nil
}

// port returns the port: that of message submission, or of plain SMTP.
func (c SMTP) port() int {
	switch {
	case c.Port != 0:
		return c.Port
	case c.TLS == "tls":
		return 465
	case c.TLS == "none":
		return 25
	}
	return 587
}

func (c SMTP) talk(conn net.Conn, auth smtp.Auth, config *tls.Config, from *mail.Address, to []*mail.Address, text []byte) error {
	client, err := smtp.NewClient(conn, c.Host)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	if err := client.Hello(heloName(host)); err != nil {
		return err
	}
	if c.TLS != "tls" && c.TLS != "none" {
		if ok, _ := client.Extension("STARTTLS"); !ok {
			return finalError{errors.New("the server does not offer STARTTLS, so nothing was sent; set smtp.tls to tls, or to none if the network is private")}
		}
		if err := client.StartTLS(config); err != nil {
			return err
		}
	}
	if auth != nil {
		if err := client.Auth(auth); err != nil {
			return err
		}
	}
	if err := client.Mail(from.Address); err != nil {
		return err
	}
	for _, a := range to {
		if err := client.Rcpt(a.Address); err != nil {
			return err
		}
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	client.Quit() // the server has the message
	return nil
}

// heloName returns a name that every server accepts.
func heloName(host string) string {
	if host == "" || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "localhost"
	}
	return host
}

// maxHeader is the longest line of a header that is not folded, in bytes.
const maxHeader = 900

// email returns the message as it is sent: headers, an empty line and the text.
func (r Rule) email(o Outcome, from *mail.Address, to []*mail.Address, now time.Time) []byte {
	var b bytes.Buffer
	header := func(name, value string) { fmt.Fprintf(&b, "%s: %s\r\n", name, value) }
	receivers := make([]string, len(to))
	for i, a := range to {
		receivers[i] = a.String() // encodes the name
	}
	subject := r.subject(o)
	if len(subject) > maxHeader/3 {
		subject = strings.ToValidUTF8(subject[:maxHeader/3], "") + "..."
	}
	header("From", from.String())
	header("To", strings.Join(receivers, ",\r\n "))
	header("Subject", encoded(strings.ToValidUTF8(subject, "\uFFFD")))
	header("Date", now.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	_, domain, _ := strings.Cut(from.Address, "@")
	header("Message-ID", fmt.Sprintf("<%x@%s>", sha256.Sum256([]byte(o.delivery(now))), domain))
	header("X-Flowrun-Event", string(o.Event))
	header("Auto-Submitted", "auto-generated") // no program answers it
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	w.Write([]byte(strings.ToValidUTF8(r.mailText(o), "\uFFFD"))) // to a buffer
	w.Close()
	return b.Bytes()
}

// encoded returns the text of a header. A line with encoded words has at most 76 characters (RFC 2047, section 2), so each
// of them has a line of its own, and the name of the header too.
func encoded(text string) string {
	words := mime.QEncoding.Encode("utf-8", text)
	if words == text {
		return text
	}
	return "\r\n " + strings.ReplaceAll(words, "?= =?", "?=\r\n =?")
}

// mailText returns the text of an e-mail: the message, and what a person needs to look further.
func (r Rule) mailText(o Outcome) string {
	text := r.Text(o) + "\n"
	if r.Message != "" {
		return text
	}
	text += "\n"
	for _, line := range []struct{ name, field string }{{"Host", "host"}, {"Started", "started"}, {"Duration", "duration"}} {
		if v := o.fill("{run." + line.field + "}"); v != "" && o.Digest == nil {
			text += line.name + ": " + v + "\n"
		}
	}
	if o.Schedule != nil && o.Digest == nil {
		text += o.Schedule.way(o)
	}
	if !o.hasRun() {
		return text
	}
	return text + "Show the run with: flowrun show " + o.Result.ID + "\n"
}
