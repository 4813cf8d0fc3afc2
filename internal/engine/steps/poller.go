package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/requesturl"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/privatenet"
)

// Poller waits until something outside of flowrun is available: a file exists, a port accepts
// connections, a URL responds. It implements dag.Runner, starts no process, and prints nothing. It
// polls until its context ends; a time limit is part of the node's Policy. It is immutable. The
// Args of the graph must be a Frame.
type Poller struct {
	// Exactly one of these is set. A relative path starts at the directory in which commands of the
	// graph run.
	File, Port, URL *expr.Template
	// Status is the expected HTTP status, after redirects. 0 accepts 200 to 299.
	Status int
	// Interval is the time between two polls; 0: defaultInterval. The first polls follow each other
	// more quickly.
	Interval time.Duration
}

// defaultInterval is the Interval of a Poller that sets none.
const defaultInterval = time.Second

const (
	firstInterval = 100 * time.Millisecond // doubled after each poll, up to the interval
	pollTimeout   = 10 * time.Second       // then a poll counts as failed
	maxPolls      = 128                    // polls of a Session at the same time: each may use a socket
)

// StatusRequest asks for the HTTP status of a URL. The functions say where the request and its redirects may go; nil
// means everywhere.
type StatusRequest struct {
	URL string
	// Allow returns an error if an address may not be requested: URL, or the target of a redirect.
	Allow func(*url.URL) error
	// Reach returns an error if a connection for a host and port may not go to an IP address. It is not called if a
	// proxy makes the connection.
	Reach func(host, port string, to netip.Addr) error
}

// target is what a Poller waits for, with the values of one call.
type target struct {
	name    string   // for messages
	address *url.URL // that it connects to; nil: none
	check   func(ctx context.Context) error
}

// Run polls until the target is available.
func (l *Poller) Run(ctx context.Context, call *dag.Call) (dag.Result, error) {
	frame, ok := call.Args().(Frame)
	if !ok {
		return dag.Result{}, fmt.Errorf("cannot wait: the arguments of the graph must be a steps.Frame, but are a %T", call.Args())
	}
	session := frame.Session()
	awaited, err := l.target(frame, frame.Scope(call.View))
	if err == nil && awaited.address != nil {
		err = allowIn(frame)(awaited.address)
	}
	rejected := func(err error) (dag.Result, error) {
		return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Permanent: true, Message: session.mask.String(err.Error())}, nil
	}
	if err != nil {
		return rejected(err)
	}
	if err := l.await(ctx, session, awaited.check); isDenied(err) {
		return rejected(err)
	} else if err != nil {
		return dag.Result{Status: dag.Failed, ExitCode: 1, Message: session.mask.String(fmt.Sprintf("waited for %s: %v", awaited.name, err))}, nil
	}
	return dag.Result{}, nil
}

// await polls until check succeeds. If ctx ends first, it returns the last error of check.
func (l *Poller) await(ctx context.Context, s *Session, check func(context.Context) error) error {
	interval := cmp.Or(max(l.Interval, 0), defaultInterval)
	last := errors.New("no answer yet")
	for pause := min(firstInterval, interval); ; pause = min(2*pause, interval) {
		switch err := s.poll(ctx, check); {
		case err == nil, isDenied(err):
			return err
		case !ended(ctx): // otherwise ctx ended the check, and its error says nothing about the target
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(pause):
		}
	}
}

// isDenied reports whether the permissions of a call do not include what it waits for: waiting longer does not help.
func isDenied(err error) bool {
	_, denied := errors.AsType[*permission.DeniedError](err)
	return denied
}

// ended reports whether ctx has ended or its deadline has passed: a connection may notice the deadline before ctx does.
func ended(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && !time.Now().Before(deadline)
}

// poll calls check once. A Session runs at most maxPolls checks at the same time.
func (s *Session) poll(ctx context.Context, check func(context.Context) error) error {
	select {
	case s.pollSlots <- struct{}{}:
		defer func() { <-s.pollSlots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pollTimeout, fmt.Errorf("no answer within %v", pollTimeout))
	defer cancel()
	return check(ctx)
}

func (l *Poller) target(f Frame, values expr.Scope) (target, error) {
	switch {
	case l.File != nil:
		return fileTarget(l.File, f, values)
	case l.Port != nil:
		return portTarget(l.Port, f, values)
	}
	return l.urlTarget(f, values)
}

// allowIn returns the function that says whether a call may connect to the host of an address.
func allowIn(f Frame) func(*url.URL) error {
	return func(u *url.URL) error {
		f.Session().ObserveURL(u)
		if c := f.Confinement(); c.Enforced {
			return c.Grants.Network(u)
		}
		return nil
	}
}

// reachIn returns the function that says whether a call may connect to a host at an IP address.
func reachIn(f Frame) func(host, port string, to netip.Addr) error {
	return func(host, port string, to netip.Addr) error {
		if c := f.Confinement(); c.Enforced {
			return c.Grants.Address(host, port, to)
		}
		return nil
	}
}

func fileTarget(t *expr.Template, f Frame, values expr.Scope) (target, error) {
	path, err := t.Text(values)
	switch {
	case err != nil:
		return target{}, err
	case path == "":
		return target{}, errors.New("the path of the file to wait for is empty")
	}
	path = f.Resolve(f.Dir(), path)
	if c := f.Confinement(); c.Enforced {
		if _, _, err := c.Grants.Readable(path); err != nil {
			return target{}, err
		}
	}
	return target{name: "the file " + path, check: func(context.Context) error {
		_, err := os.Stat(path)
		var at *fs.PathError
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return errors.New("it does not exist")
		case errors.As(err, &at):
			return at.Err
		}
		return err
	}}, nil
}

func portTarget(t *expr.Template, f Frame, values expr.Scope) (target, error) {
	address, err := t.Text(values)
	if err == nil {
		err = CheckPort(address)
	}
	host, port, _ := net.SplitHostPort(address) // checked above
	d := net.Dialer{Control: privatenet.Control(func(to netip.Addr) error { return reachIn(f)(host, port, to) })}
	return target{"the port " + address, &url.URL{Scheme: "http", Host: address}, func(ctx context.Context) error {
		conn, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return connectionError(ctx, err)
		}
		return conn.Close()
	}}, err
}

// CheckPort returns an error if address is not a HOST:PORT to wait for.
func CheckPort(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil && host == "" {
		err = errors.New("the host is missing")
	}
	if err == nil {
		err = privatenet.CheckHost(host)
	}
	if err == nil {
		if n, bad := strconv.Atoi(port); bad != nil || n < 1 || n > 65535 {
			err = errors.New("the port must be a number from 1 to 65535")
		}
	}
	var syntax *net.AddrError
	if errors.As(err, &syntax) {
		err = errors.New(syntax.Err)
	}
	if err != nil {
		return fmt.Errorf("cannot wait for the port %q: %w; write HOST:PORT, as in localhost:5432", address, err)
	}
	return nil
}

func (l *Poller) urlTarget(f Frame, values expr.Scope) (target, error) {
	u, err := requesturl.Render(l.URL, values)
	if err != nil {
		return target{}, err
	}
	// Without user, password and query, which may contain secrets.
	shown := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	client := f.Session().options.HTTP
	if client == nil {
		return target{}, fmt.Errorf("cannot request %s: this program has no HTTP client for steps; set Config.HTTP", shown)
	}
	return target{shown, u, func(ctx context.Context) error {
		status, err := client(ctx, StatusRequest{URL: u.String(), Allow: allowIn(f), Reach: reachIn(f)})
		switch {
		case err != nil:
			return connectionError(ctx, err)
		case status == l.Status, l.Status == 0 && status >= 200 && status < 300:
			return nil
		}
		return fmt.Errorf("the response status is %d", status)
	}}, nil
}

// connectionError returns the shortest reason why a connection failed: the timeout, or the error of
// the system.
func connectionError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var call *os.SyscallError
	var name *net.DNSError
	var op *net.OpError
	var request *url.Error
	var denied *permission.DeniedError
	switch {
	case errors.As(err, &denied):
		return denied
	case errors.As(err, &call):
		return call.Err
	case errors.As(err, &name):
		return errors.New(name.Err)
	case errors.As(err, &op):
		return op.Err
	case errors.As(err, &request):
		return request.Err
	}
	return err
}
