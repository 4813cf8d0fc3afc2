package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage limits one message of a server, in bytes.
const maxMessage = 32 << 20

// link is a connection to a server.
type link struct {
	session *mcp.ClientSession
	process *process // nil over HTTP
	secrets []string // values that messages must not show
	end     context.CancelCauseFunc
	lost    chan struct{} // closed when the connection has ended
}

// versions are the versions of the protocol to offer, in this order. Servers that are programs may
// be old: some of them end when they receive a message of a newer version. "" is the latest.
var versions = struct{ program, http []string }{[]string{"2025-11-25", ""}, []string{""}}

// dial connects to a server. ctx limits how long that may take.
func dial(ctx context.Context, r *remote) (*link, error) {
	c, secrets, err := r.config.expand(r.client.config.Workspace)
	if err != nil {
		return nil, err
	}
	if c.URL != "" && c.Type == "" { // the protocol asks clients to try the newer transport first
		newer := c
		newer.URL, newer.HTTPURL = "", c.URL
		l, err := dialVersions(ctx, r, newer, secrets)
		if _, refused := errors.AsType[*signInError](err); err == nil || refused || ctx.Err() != nil {
			return l, err
		}
		if l, older := dialVersions(ctx, r, c, secrets); older == nil {
			return l, nil
		}
		return nil, err
	}
	return dialVersions(ctx, r, c, secrets)
}

// dialVersions connects with the first version of the protocol that the server accepts.
func dialVersions(ctx context.Context, r *remote, c ServerConfig, secrets []string) (l *link, err error) {
	offered := versions.http
	if c.Command != "" {
		offered = versions.program
	}
	for i, version := range offered {
		if l, err = dialVersion(ctx, r, c, secrets, version); err == nil {
			return l, nil
		}
		if answerIn(err) == nil || i+1 == len(offered) {
			break
		}
	}
	return nil, err
}

// dialVersion connects with one version of the protocol.
func dialVersion(ctx context.Context, r *remote, c ServerConfig, secrets []string, version string) (*link, error) {
	life, end := context.WithCancelCause(context.Background()) // some transports end with the context of Connect
	stop := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	l := &link{secrets: secrets, end: end, lost: make(chan struct{})}
	transport, err := l.transport(r, c)
	if err == nil {
		l.session, err = r.sdk().Connect(life, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	}
	if !stop() && err == nil {
		l.session.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		err = l.explain(ctx, err)
		end(nil)
		l.process.close()
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	go func() {
		_ = l.session.Wait() // the next call reports why
		l.process.close()
		close(l.lost)
	}()
	return l, nil
}

// transport returns the transport for a server. It starts the program.
func (l *link) transport(r *remote, c ServerConfig) (mcp.Transport, error) {
	switch {
	case c.Command != "":
		var err error
		l.process, err = startProcess(c, r.client.config.StateDir)
		return l.process, err
	case c.HTTPURL != "":
		host, err := onlyHost(c.HTTPURL, c.Headers)
		if err != nil {
			return nil, err
		}
		authorization, err := r.authorization(c, host)
		return &mcp.StreamableClientTransport{Endpoint: c.HTTPURL, HTTPClient: &http.Client{Transport: host}, MaxEventSize: maxMessage, OAuthHandler: authorization}, err
	}
	host, err := onlyHost(c.URL, c.Headers)
	return &mcp.SSEClientTransport{Endpoint: c.URL, HTTPClient: &http.Client{Transport: host}, MaxEventSize: maxMessage}, err
}

// sdk returns the client of the library for a server. Nothing that the server asks for is granted,
// except the folder in which flowrun works, answers of the model that the user has set up, and of the user.
func (r *remote) sdk() *mcp.Client {
	o := &mcp.ClientOptions{
		//lint:ignore SA1019 servers of older versions of the protocol ask for it
		Capabilities:                &mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{}},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { r.stale.Store(true) },
		ElicitationHandler:          r.elicit,
		ProgressNotificationHandler: r.progress.notify,
	}
	if r.client.config.Sampler != nil {
		//lint:ignore SA1019 servers of older versions of the protocol ask for it
		o.CreateMessageHandler = r.sample
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "flowrun", Title: "flowrun", Version: r.client.config.Version}, o)
	if r.client.config.Sampler == nil { // the library refuses with a code of its own
		c.AddReceivingMiddleware(notSampling)
	}
	if dir := r.client.config.Workspace; dir != "" {
		//lint:ignore SA1019 servers of older versions of the protocol ask for it
		c.AddRoots(&mcp.Root{URI: fileURI(dir), Name: filepath.Base(dir)})
	}
	return c
}

// notSampling refuses requests to ask a language model as a method that this client does not have.
func notSampling(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "sampling/createMessage" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client does not offer sampling"}
		}
		return next(ctx, method, req)
	}
}

// fileURI returns the URI of a folder.
func fileURI(dir string) string {
	path := filepath.ToSlash(dir)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/...
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// isLost reports whether the connection has ended. That of a program has ended as soon as calls on it
// fail; the library closes the session a little later.
func (l *link) isLost() bool {
	if l.process != nil && l.process.pipes.isGone() {
		return true
	}
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// close ends the connection and waits until the program has ended.
func (l *link) close() {
	l.process.endInput() // a program that does not read cannot block what follows
	_ = l.session.Close()
	l.end(nil)
	<-l.lost
}

// explain returns an error for people: why something did not work, and what the program printed.
func (l *link) explain(ctx context.Context, err error) error {
	why := err.Error()
	signIn, needed := errors.AsType[*signInError](err)
	switch cause, answer := context.Cause(ctx), answerIn(err); {
	case needed:
		why = signIn.Error()
	case cause != nil:
		err, why = cause, cause.Error()
	case answer != nil:
		why = "it answered: " + answer.Message
	case l.process != nil && l.process.pipes.isGone():
		why = l.process.ended()
	}
	if l.process != nil {
		why += l.process.stderr.quoted()
	}
	return &linkError{plainText(hideRegistration(hideAll(why, l.secrets)), maxProblem), err}
}

// answerIn returns the error with which a server answered a request, or nil. The library uses some
// codes for its own errors.
func answerIn(err error) *jsonrpc.Error {
	const closed, rejected = -32003, -32005
	answer, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || answer.Code <= closed && answer.Code >= rejected {
		return nil
	}
	return answer
}

// maxProblem limits the message of an error of a server, in bytes.
const maxProblem = 16 << 10

// linkError is an error with a message for people.
type linkError struct {
	message string
	err     error
}

func (e *linkError) Error() string { return e.message }
func (e *linkError) Unwrap() error { return e.err }

// hideAll replaces secrets in a text.
func hideAll(text string, secrets []string) string {
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}
