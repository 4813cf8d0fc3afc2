package httpstep

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/requesturl"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/privatenet"
)

// prepare renders the request.
func (x *exchange) prepare(ctx context.Context, c *dag.Call) error {
	sc := x.frame.Scope(c.View)
	u, err := x.address(sc)
	if err != nil {
		return err
	}
	q := &x.request
	*q = call.FetchRequest{Method: x.Def.MethodOrDefault(), URL: u.String(), Redirect: "follow", Guarded: true, MaxRedirects: 10, MaxBody: x.Limit}
	if q.MaxBody == 0 {
		q.MaxBody = steps.DefaultLimit
	}
	if n := x.Def.Redirects; n != nil {
		if q.MaxRedirects = *n; *n == 0 {
			q.Redirect = "manual"
		}
	}
	if deadline, ok := ctx.Deadline(); ok {
		q.Wait = max(time.Until(deadline), 0) + time.Minute // the deadline ends the request, and says so
	}
	if err := x.permit(u); err != nil {
		return err
	}
	if q.Proxy, err = text(x.Proxy, sc); err != nil {
		return err
	}
	q.Direct = x.frame.Confine.Enforced // a proxy could reach addresses that the permissions exclude
	if q.Proxy != "" && q.Direct {
		return errors.New("the permissions of the tool are enforced, but a proxy would reach any host for it; remove proxy")
	}
	for _, step := range []func(expr.Scope) error{x.body, x.login, x.headers, x.certificates, x.save} {
		if err := step(sc); err != nil {
			return err
		}
	}
	if !x.Def.Idempotent() {
		x.header("Idempotency-Key", key(c.Run, string(c.Path), c.Round))
	}
	return nil
}

// key returns what tells the server that two requests are the same one: it is the same for all attempts of a round of a
// step, also after a resume.
func key(run, path string, round int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", run, path, round))
	return hex.EncodeToString(sum[:16])
}

func text(t *expr.Template, sc expr.Scope) (string, error) {
	if t == nil {
		return "", nil
	}
	return t.Text(sc)
}

// address renders the URL, with the query.
func (r *Runner) address(sc expr.Scope) (*url.URL, error) {
	u, err := requesturl.Render(r.URL, sc)
	if err == nil {
		err = CheckAddress(u)
	}
	if err != nil {
		return nil, err
	}
	query, err := values(r.Query, sc)
	if err != nil {
		return nil, err
	}
	if more := query.Encode(); more != "" {
		if u.RawQuery != "" {
			more = u.RawQuery + "&" + more
		}
		u.RawQuery = more
	}
	return u, nil
}

// CheckAddress refuses a URL with a password, which has a place of its own.
func CheckAddress(u *url.URL) error {
	if u.User != nil {
		return errors.New("the url contains a user or a password; write them under auth.basic")
	}
	return nil
}

// ParseProxy parses the address of a proxy.
func ParseProxy(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return nil, errors.New("the address of the proxy is not valid; write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT")
	}
	return u, nil
}

func values(fields []Field, sc expr.Scope) (url.Values, error) {
	all := url.Values{}
	for _, f := range fields {
		v, err := f.Value.Text(sc)
		if err != nil {
			return nil, err
		}
		all.Add(f.Name, v)
	}
	return all, nil
}

// permit says which hosts the request may reach. The host of the definition is allowed unless permissions are enforced. A
// host that somebody else chooses must be permitted, and a server must not lead the request into the private network.
func (x *exchange) permit(u *url.URL) error {
	g := call.Grants(x.frame)
	strict := x.frame.Confine.Enforced || x.HostChosen
	x.request.Allow = func(to *url.URL) error {
		x.frame.Session().ObserveURL(to)
		if !strict && (to.Host == u.Host || !privatenet.IsPrivateHost(privatenet.NormalizeHost(to.Hostname()))) {
			return nil
		}
		return g.Network(to)
	}
	x.request.Reach = func(host, port string, to netip.Addr) error {
		if !strict && privatenet.NormalizeHost(host) == privatenet.NormalizeHost(u.Hostname()) {
			return nil
		}
		return g.Address(host, port, to)
	}
	err := x.request.Allow(u)
	if denied, ok := errors.AsType[*permission.DeniedError](err); ok && x.HostChosen {
		return fmt.Errorf("a value chooses the host of the request: %w", denied)
	}
	return err
}

// header adds a header, unless the definition sets it.
func (x *exchange) header(name, value string) {
	if !slices.ContainsFunc(x.request.Header, func(h [2]string) bool { return strings.EqualFold(h[0], name) }) {
		x.request.Header = append(x.request.Header, [2]string{name, value})
	}
}

func (x *exchange) headers(sc expr.Scope) error {
	for _, f := range x.Headers {
		v, err := f.Value.Text(sc)
		if err != nil {
			return err
		}
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return fmt.Errorf("the value of the header %s contains a line break or another control character", f.Name)
		}
		x.request.Header = slices.DeleteFunc(x.request.Header, func(h [2]string) bool { return strings.EqualFold(h[0], f.Name) })
		x.request.Header = append(x.request.Header, [2]string{f.Name, v})
	}
	return nil
}

// login renders auth, and makes what is in it secret.
func (x *exchange) login(sc expr.Scope) error {
	if x.Bearer == nil && x.User == nil {
		return nil
	}
	token, err := text(x.Bearer, sc)
	user, err2 := text(x.User, sc)
	password, err3 := text(x.Password, sc)
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	if x.Bearer != nil && token == "" {
		return errors.New("auth.bearer is empty; set the variable or the secret that it refers to")
	}
	value, secret := "Bearer "+token, token
	if x.User != nil {
		secret = base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
		value = "Basic " + secret
	}
	if strings.ContainsAny(token, "\r\n\x00") {
		return errors.New("auth.bearer contains a line break; a secret that is read from a file often ends with one")
	}
	for _, s := range []string{secret, password} {
		if err := x.log.mask.Add(s); err != nil {
			return fmt.Errorf("cannot mask auth: %w", err)
		}
	}
	x.header("Authorization", value)
	return nil
}

func (x *exchange) body(sc expr.Scope) (err error) {
	q := &x.request
	switch {
	case x.JSON != nil:
		v, err := x.JSON.Value(sc)
		if err != nil {
			return err
		}
		x.header("Content-Type", "application/json")
		q.Body, err = json.Marshal(v)
		return err
	case x.Def.Form != nil:
		form, err := values(x.Form, sc)
		if err != nil {
			return err
		}
		x.header("Content-Type", "application/x-www-form-urlencoded")
		q.Body = []byte(form.Encode())
	case x.Body != nil:
		body, err := x.Body.Text(sc)
		if err != nil {
			return err
		}
		x.header("Content-Type", "text/plain; charset=utf-8")
		q.Body = []byte(body)
	case x.File != nil:
		return x.upload(sc)
	}
	return nil
}
