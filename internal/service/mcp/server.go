package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// Config sets what a Server offers.
type Config struct {
	Library *library.Library
	// Registry sets how calls are carried out.
	Registry registry.Options
	// Approver decides about calls.
	Approver Approver
	// Observe is called when a call is about to start a run, and returns options for it. The
	// Server calls ended with the answer.
	Observe func(*registry.Invocation) (options []engine.RunOption, ended func(context.Context, *registry.Answer))
	Filter  Filter
	// Candidates returns values to offer for a parameter; nil means that none are offered.
	Candidates func(*tool.Parameter) []string
	// Store has the recorded runs, and StateDir their logs. nil means that clients cannot read
	// runs.
	Store    history.Store
	StateDir string
	Version  string       // of the program
	Log      *slog.Logger // for messages about definitions and clients; nil means none
}

// Server offers tools to clients. Create it with New.
type Server struct {
	config    Config
	registry  *registry.Registry
	sdk       *mcp.Server
	approvals approvals
	active    active

	subscriptions subscriptions

	refreshed atomic.Bool // the list has changed since clients could see it

	mu   sync.Mutex
	list *list // nil until a client asks for a tool
}

// instructions is the text that a client may show to its model.
const instructions = "These are the tools of flowrun in this project. Each call runs a tool that a person has defined. " +
	"Invalid arguments are rejected with an example of valid ones. A person may have to approve a call; if a call is refused, do not repeat it unchanged."

// New returns a Server. It compiles no tool: see list.
func New(c Config) *Server {
	s := &Server{config: c, active: active{stop: make(chan struct{})}}
	s.config.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	s.registry = registry.New(c.Library, c.Registry)
	s.sdk = mcp.NewServer(&mcp.Implementation{Name: "flowrun", Title: "flowrun", Version: c.Version}, &mcp.ServerOptions{
		Instructions:       instructions,
		CompletionHandler:  s.complete,
		SubscribeHandler:   s.subscribe,
		UnsubscribeHandler: s.unsubscribe,
		Logger:             s.config.Log,
		//lint:ignore SA1019 clients of older versions of the protocol have no other log
		Capabilities: &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}, Tools: &mcp.ToolCapabilities{ListChanged: true},
			Prompts: &mcp.PromptCapabilities{ListChanged: true}, Resources: &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true}},
		PageSize: listPage,
	})
	s.addExecuteTool()
	s.addResources()
	s.sdk.AddReceivingMiddleware(s.offering)
	s.sdk.AddSendingMiddleware(s.withoutNews)
	return s
}

// Serve serves one client over a stream until it closes in, or ctx is done. Nothing else may
// write to out. When ctx is done, it waits for calls in progress only for a short time: Close ends
// them.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	transport := &stdio{in: in, out: out}
	session, err := s.sdk.Connect(context.WithoutCancel(ctx), transport, nil) // else answers to cancelled calls would be lost
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), lastAnswers)
	defer cancel()
	go func() {
		transport.conn.drain(last)
		session.Close()
	}()
	select {
	case <-ended:
	case <-last.Done():
	}
	return nil
}

// lastAnswers is how long Serve waits for a client that does not read, when the server stops.
var lastAnswers = 2 * time.Second // shorter in tests

// Close rejects new calls, and waits for those in progress. It cancels them when now is closed,
// and waits for their cleanup.
func (s *Server) Close(now <-chan struct{}) { s.active.close(now) }

// Handler returns the handler of the streamable HTTP transport. It authenticates nobody: the
// context of a request says who sent it (users.WithCaller). With stateless, every request stands
// alone and the server can ask clients nothing during a call.
func (s *Server) Handler(stateless bool) http.Handler {
	options := &mcp.StreamableHTTPOptions{Stateless: stateless, Logger: s.config.Log, SessionTimeout: sessionTimeout,
		MaxRequestBodyBytes: maxLine, PropagateRequestCancellation: true}
	if !stateless {
		options.EventStore = &replay{streams: map[streamKey][][]byte{}}
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.sdk }, options)
	l := &sessions{Handler: h, server: s.sdk, stateless: stateless, grace: endGrace, open: map[string]*session{}}
	s.sdk.AddReceivingMiddleware(l.opening)
	return l
}
