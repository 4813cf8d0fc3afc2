package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"net/smtp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/mailtest"
)

func mailServer(t *testing.T, o mailtest.Options) (*mailtest.Server, Settings) {
	s, err := mailtest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, s.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	mode := o.TLS
	if mode == "" {
		mode = "none"
	}
	return s, Settings{SMTP: SMTP{Host: "127.0.0.1", Port: s.Port, TLS: mode, From: "flowrun <flowrun@example.com>", CAFile: ca}}
}

func mailTo(to ...string) Rule { return Rule{To: to, On: []Event{Always}} }

func TestMail(t *testing.T) {
	for _, c := range []struct {
		name       string
		server     mailtest.Options
		user, pass string
		encrypted  bool
	}{
		{name: "none"},
		{name: "starttls", server: mailtest.Options{TLS: "starttls"}, encrypted: true},
		{name: "tls", server: mailtest.Options{TLS: "tls"}, encrypted: true},
		{name: "plain over starttls", server: mailtest.Options{TLS: "starttls", User: "u", Password: "p"}, user: "u", pass: "p", encrypted: true},
		{name: "plain over tls", server: mailtest.Options{TLS: "tls", User: "u", Password: "p"}, user: "u", pass: "p", encrypted: true},
		{name: "login", server: mailtest.Options{TLS: "tls", User: "u", Password: "p", Mechanisms: "LOGIN"}, user: "u", pass: "p", encrypted: true},
		{name: "to this machine in the clear", server: mailtest.Options{User: "u", Password: "p"}, user: "u", pass: "p"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, settings := mailServer(t, c.server)
			settings.SMTP.User, settings.SMTP.PasswordEnv, settings.Env = c.user, "SMTP_PASSWORD", []string{"SMTP_PASSWORD=" + c.pass}
			if failed := Send(t.Context(), settings, []Rule{mailTo("a@example.com", "Ops <b@example.com>")}, outcome(Failure, dag.Failed)); failed != nil {
				t.Fatal(failed)
			}
			list := s.Messages()
			if len(list) != 1 || list[0].From != "flowrun@example.com" || !slices.Equal(list[0].To, []string{"a@example.com", "b@example.com"}) ||
				list[0].Encrypted != c.encrypted || list[0].User != c.user {
				t.Fatalf("%+v", list)
			}
			m, text := parseMail(t, list[0].Text)
			for name, want := range map[string]string{"Subject": "flowrun: deploy failed", "To": `<a@example.com>, "Ops" <b@example.com>`, "From": `"flowrun" <flowrun@example.com>`,
				"X-Flowrun-Event": "failure", "Auto-Submitted": "auto-generated"} {
				if got := m.Header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if !strings.HasPrefix(text, "deploy failed: step test failed (run r1)\n\n") || !strings.HasSuffix(text, "Show the run with: flowrun show r1\n") {
				t.Errorf("text %q", text)
			}
		})
	}
}

func parseMail(t *testing.T, text string) (*mail.Message, string) {
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Header.Date(); err != nil {
		t.Error(err)
	}
	return m, string(body)
}

// A value of a run cannot add a header, a receiver or a command, whatever it contains.
func TestHostileMailTexts(t *testing.T) {
	s, settings := mailServer(t, mailtest.Options{})
	hostile := []string{"x\r\nBcc: evil@example.com", "x\nSubject: evil", "\r\n.\r\nMAIL FROM:<evil@example.com>", ".", "..", "\x00\x01\x1b[31m", "\xff\xfe", "{run.id}", "=?utf-8?q?evil?=",
		strings.Repeat("long ", 1000), strings.Repeat("ä", 3000), "\u202e evil", "a\u2028b", "", " ", "<script>alert(1)</script>"}
	for i, h := range hostile {
		o := outcome(Failure, dag.Failed)
		o.Result.Message, o.Result.Tool, o.Result.ID = h, h, "r"+h
		r := mailTo("a@example.com")
		r.Subject, r.Message = "{run.tool}: {run.message}", "tool {run.tool}\n{run.message}\n{run.id}"
		if failed := Send(t.Context(), settings, []Rule{r}, o); failed != nil {
			t.Fatalf("%q: %v", h, failed)
		}
		list := s.Messages()
		if len(list) != i+1 {
			t.Fatalf("%q: %d messages", h, len(list))
		}
		got := list[i]
		m, text := parseMail(t, got.Text)
		if !slices.Equal(got.To, []string{"a@example.com"}) || got.From != "flowrun@example.com" || len(m.Header) != 10 {
			t.Errorf("%q: to %q, headers %v", h, got.To, m.Header)
		}
		if !strings.HasPrefix(text, "tool "+strings.ToValidUTF8(strings.NewReplacer("\r\n", "\n").Replace(h), "\uFFFD")) {
			t.Errorf("%q: text %q", h, text)
		}
		if subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil || len(subject) > 1000 {
			t.Errorf("%q: subject %q, %v", h, subject, err)
		}
		headers, _, _ := strings.Cut(string(got.Text), "\n\n")
		for line := range strings.SplitSeq(headers, "\n") {
			if len(line) > 998 || len(line) > 76 && strings.HasPrefix(line, " =?utf-8?q?") {
				t.Errorf("%q: a line of %d bytes: %s", h, len(line), line)
			}
		}
	}
}

func TestMailErrors(t *testing.T) {
	pause := firstPause
	t.Cleanup(func() { firstPause = pause })
	firstPause = time.Millisecond
	answers := func(pairs ...string) func(int, string) string {
		return func(_ int, command string) string {
			for i := 0; i < len(pairs); i += 2 {
				if strings.HasPrefix(command, pairs[i]) {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		name     string
		server   mailtest.Options
		change   func(*Settings, *Rule)
		want     string
		attempts int
	}{
		{name: "no server", change: func(s *Settings, _ *Rule) { s.SMTP.Host = "" }, want: "the settings name no server for e-mails; add smtp: {host: ..., from: ...}"},
		{name: "no sender", change: func(s *Settings, _ *Rule) { s.SMTP.From = "" }, want: "the e-mail has no sender; add smtp.from to the settings, or from to the e-mail"},
		{name: "bad sender", change: func(_ *Settings, r *Rule) { r.From = "x" }, want: `the sender "x" is not the address of an e-mail`},
		{name: "no STARTTLS", change: func(s *Settings, _ *Rule) { s.SMTP.TLS = "starttls" }, want: "the server does not offer STARTTLS, so nothing was sent; set smtp.tls to tls, or to none if the network is private", attempts: 1},
		{name: "unknown certificate", server: mailtest.Options{TLS: "tls"}, change: func(s *Settings, _ *Rule) { s.SMTP.CAFile = "" }, want: "tls: failed to verify certificate: x509: certificate signed by unknown authority", attempts: 1},
		{name: "no CA file", change: func(s *Settings, _ *Rule) { s.SMTP.CAFile = "/none" }, want: "cannot read smtp.ca-file: open /none: no such file or directory"},
		{name: "no certificate in the CA file", change: func(s *Settings, _ *Rule) { s.SMTP.CAFile = os.DevNull }, want: "smtp.ca-file has no certificate"},
		{name: "no password", change: func(s *Settings, _ *Rule) { s.SMTP.User, s.SMTP.PasswordEnv = "u", "NONE" }, want: "the environment variable NONE with the password of smtp.user is not set"},
		{name: "wrong password", server: mailtest.Options{TLS: "tls", User: "u", Password: "p"}, change: asUser("u", "hunter22"), want: "the server answered 535 wrong user or password", attempts: 1},
		{name: "refused receiver", server: mailtest.Options{Answer: answers("RCPT", "550 no such user")}, want: "the server answered 550 no such user", attempts: 1},
		{name: "refused sender", server: mailtest.Options{Answer: answers("MAIL", "553 not you")}, want: "the server answered 553 not you", attempts: 1},
		{name: "refused message", server: mailtest.Options{Answer: answers("END", "554 spam")}, want: "the server answered 554 spam", attempts: 1},
		{name: "busy", server: mailtest.Options{Answer: answers("CONNECT", "421 later")}, want: "the server answered 421 later", attempts: 3},
		{name: "long answer", server: mailtest.Options{Answer: answers("RCPT", "550 "+strings.Repeat("x", 5000))}, want: "the server answered 550 " + strings.Repeat("x", maxReply) + "...", attempts: 1},
		{name: "endless answer", server: mailtest.Options{Answer: answers("EHLO", strings.Repeat("250-x\r\n", 200_000))}, want: "the server sends too much", attempts: 3},
		{name: "no SMTP", server: mailtest.Options{Answer: answers("CONNECT", "HTTP/1.1 400 Bad Request")}, attempts: 3, want: `short response: "HTTP/1.1 400 Bad Request"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, settings := mailServer(t, c.server)
			r := mailTo("a@example.com")
			if c.change != nil {
				c.change(&settings, &r)
			}
			failed := Send(t.Context(), settings, []Rule{r}, outcome(Failure, dag.Failed))
			if len(failed) != 1 || c.want != "" && !strings.Contains(failed[0].Err.Error(), c.want) {
				t.Fatalf("%v, want %q", failed, c.want)
			}
			if text := failed[0].Error(); strings.Contains(text, "hunter22") || !strings.HasPrefix(text, "cannot send the notification by e-mail to a@example.com: ") {
				t.Error(text)
			}
			if len(s.Messages()) > 0 || s.Connections() != c.attempts {
				t.Errorf("%d messages, %d connections", len(s.Messages()), s.Connections())
			}
		})
	}
}

func asUser(user, password string) func(*Settings, *Rule) {
	return func(s *Settings, _ *Rule) {
		s.SMTP.User, s.SMTP.PasswordEnv, s.Env = user, "PW", []string{"PW=" + password}
	}
}

// A password is not sent over a connection that others can read.
func TestNoPasswordInTheClear(t *testing.T) {
	l := &login{user: "u", password: "p"}
	for name, want := range map[string]bool{"mail.example.com": false, "10.0.0.1": false, "localhost": true, "127.0.0.1": true, "::1": true} {
		if _, _, err := l.Start(&smtp.ServerInfo{Name: name}); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server that says nothing holds a notification for a bounded time.
func TestSilentMailServer(t *testing.T) {
	block := make(chan struct{})
	_, settings := mailServer(t, mailtest.Options{Answer: func(_ int, command string) string {
		if command == "CONNECT" {
			<-block
		}
		return ""
	}})
	t.Cleanup(func() { close(block) })
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, fmt.Errorf("interrupted"))
	defer cancel()
	if failed := Send(ctx, settings, []Rule{mailTo("a@example.com")}, outcome(Failure, dag.Failed)); len(failed) != 1 {
		t.Fatal(failed)
	}
}

func TestDigestText(t *testing.T) {
	o := outcome(Failure, dag.Failed)
	o.Digest, o.Earlier = []string{"10:00 a failed", "10:01 b failed"}, 3
	if got, want := o.Text(), "5 runs to report\n10:00 a failed\n10:01 b failed\nand 3 earlier"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := mailTo("x@example.com").subject(o), "flowrun: 5 runs to report"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFill(t *testing.T) {
	o := outcome(Failure, dag.Failed)
	o.Result.Started = time.UnixMilli(1699999998500)
	host, _ := os.Hostname()
	for text, want := range map[string]string{
		"plain": "plain", "{run.id} {run.tool} {run.status} {run.event} {run.exit-code}": "r1 deploy failed failure 1",
		"{run.summary} on {run.host}":   "deploy failed on " + host,
		"{run.started} {run.duration}":  "2023-11-14T22:13:18Z 1.5s",
		"{run.message}":                 "deploy failed: step test failed (run r1)",
		"{x} {{run.id}} {run.nothing} ": "{x} {r1} {run.nothing} ",
	} {
		if got := o.fill(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSlack(t *testing.T) {
	o := outcome(Failure, dag.Failed)
	o.Result.Message = `<!channel> <https://evil.example|click> & {run.id}`
	body, err := Rule{Slack: true}.body(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"text":"deploy failed: \u0026lt;!channel\u0026gt; \u0026lt;https://evil.example|click\u0026gt; \u0026amp; {run.id} (run r1)"`, `:x: deploy failed`, `"type":"context"`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("%s has no %s", body, want)
		}
	}
	o.Result.Message = strings.Repeat("<", 10_000)
	if body, _ := (Rule{Slack: true, Message: strings.Repeat("é", 10_000)}).body(o); len(body) > 20_000 {
		t.Errorf("%d bytes", len(body))
	}
}

// Slack refuses a message with a section of more than 3000 characters.
func TestLongSlackMessage(t *testing.T) {
	o := outcome(Failure, dag.Failed)
	for _, text := range []string{strings.Repeat("é", 10_000), strings.Repeat("<", 10_000)} {
		body, err := (Rule{Slack: true, Message: text}).body(o)
		if err != nil {
			t.Fatal(err)
		}
		var m slackMessage
		if err := json.Unmarshal(body, &m); err != nil {
			t.Fatal(err)
		}
		if section := m.Blocks[0].Text.Text; utf8.RuneCountInString(section) > 3000 || !strings.HasSuffix(section, "é...") && !strings.HasSuffix(section, "&lt;...") {
			t.Errorf("%d characters, the last are %q", utf8.RuneCountInString(section), section[len(section)-12:])
		}
	}
}
