package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/lang/notifyrule"
)

// The headers of a post.
const (
	SignatureHeader = "X-Hub-Signature-256" // sha256= and the HMAC-SHA256 of the body, in hexadecimal
	EventHeader     = "X-Flowrun-Event"
	DeliveryHeader  = "X-Flowrun-Delivery" // the same for every attempt, different for every notification
)

// client keeps no connection open and follows no redirect: a person must check where a
// redirect leads.
var client = &http.Client{
	Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// firstPause is the time between the first two attempts of a post; each further pause is
// twice as long. A test of mail servers makes it shorter.
var firstPause = time.Second

// maxSecret is the maximum size of a file with a secret, in bytes.
const maxSecret = 64 << 10

// post sends a notification to the rule's URL, in up to three attempts if repeating may
// help.
func (s Settings) post(ctx context.Context, r Rule, o Outcome) error {
	address, err := s.address(r.Webhook)
	if err != nil {
		return err
	}
	secret, err := s.secret(r.SecretEnv, r.SecretFile, "the signing secret")
	if err != nil {
		return err
	}
	body, err := r.body(o)
	if err != nil {
		return err
	}
	head := http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"flowrun"},
		EventHeader: {string(o.Event)}, DeliveryHeader: {o.delivery(time.Now())},
	}
	if len(secret) > 0 {
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		head.Set(SignatureHeader, "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	pause := firstPause
	for attempt := 1; ; attempt++ {
		again, err := postOnce(ctx, address, head, body)
		if err == nil || !again || attempt == maxAttempts {
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

// delivery returns the id of a notification that is sent now, so that a receiver can
// recognize a repetition. The time is part of it, because a run may wait for an answer more
// than once.
func (o Outcome) delivery(now time.Time) string {
	id := o.Result.ID
	if o.Schedule != nil {
		id = o.Schedule.id()
	}
	return fmt.Sprintf("%s-%s-%d", id, o.Event, now.UnixMilli())
}

// postOnce makes one attempt. again reports that another attempt may succeed.
func postOnce(ctx context.Context, address string, head http.Header, body []byte) (again bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, attemptTimeout, fmt.Errorf("no response within %v", attemptTimeout))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return false, withoutURL(err)
	}
	r.Header = head
	answer, err := client.Do(r)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return true, withoutURL(err)
	}
	defer answer.Body.Close()
	io.CopyN(io.Discard, answer.Body, 4<<10) // many servers count an unread response as a failure
	switch code := answer.StatusCode; {
	case code >= 200 && code < 300:
		return false, nil
	case code >= 300 && code < 400:
		return false, fmt.Errorf("it answered %d: the URL has moved; write the new URL", code)
	default:
		return code == http.StatusTooManyRequests || code >= 500, fmt.Errorf("it answered %d", code)
	}
}

// withoutURL returns an error without the URL, which may be a secret.
func withoutURL(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err
	}
	return err
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`) })

// address returns the URL of the webhook with its variables replaced.
func (s Settings) address(written string) (string, error) {
	var missing error
	full := variable().ReplaceAllStringFunc(written, func(placeholder string) string {
		name := placeholder[2 : len(placeholder)-1]
		v, ok := s.variable(name)
		if !ok && missing == nil {
			missing = fmt.Errorf("the environment variable %s is not set", name)
		}
		return strings.TrimSpace(v)
	})
	if missing != nil {
		return "", missing
	}
	return full, notifyrule.CheckWebhook(full)
}

// hostOf returns the only part of a URL that is shown.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Hostname() != "" && !strings.Contains(u.Host, "$") {
		return u.Host
	}
	if names := variable().FindAllString(address, -1); len(names) > 0 {
		return strings.Join(names, " ")
	}
	return "address"
}

// secret returns a secret from a variable or a file, nil for none. what names it in errors.
func (s Settings) secret(env, file, what string) ([]byte, error) {
	switch {
	case env != "":
		v, _ := s.variable(env)
		if v == "" {
			return nil, fmt.Errorf("the environment variable %s with %s is not set", env, what)
		}
		return []byte(v), nil
	case file != "":
		return s.secretFile(file, what)
	}
	return nil, nil
}

func (s Settings) secretFile(path, what string) ([]byte, error) {
	path = s.path(path)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", what, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	b = bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", what, err)
	case len(b) == 0 || len(b) > maxSecret:
		return nil, fmt.Errorf("%s in %s is empty or longer than %d KiB", what, path, maxSecret>>10)
	}
	return b, nil
}
