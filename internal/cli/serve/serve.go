package serve

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/internal/observe/audit"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/attention"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/users"
)

// Web makes the HTTP handler of flowrun serve, and of flowrun mcp, which passes no service.
type Web func(*service.Service, WebOptions) (http.Handler, error)

// WebOptions configures the HTTP entry point of a service.
type WebOptions struct {
	Tokens   []service.Token // accepted from TCP clients
	Hosts    []string        // host names under which clients may call the service, in addition to its addresses
	StateDir string          // has the logs of runs
	Metrics  http.Handler    // of the service
	Version  string          // of the program
	Webhooks []config.Webhook
	Stopping <-chan struct{} // closed when the service starts to shut down
	// Enter reports whether there is a place for a request of an authenticated caller until ctx, its
	// context, ends. lasts says that the response can last as long as the client likes.
	Enter func(ctx context.Context, c users.Caller, lasts bool) bool
	Log   *slog.Logger
	// MCP serves clients of the Model Context Protocol; nil means that they are not served.
	MCP http.Handler
	// Schedules are the schedules that the service fires; nil if it fires none.
	Schedules service.Schedules
	// Attention returns what needs a person; nil for no such route.
	Attention func() []attention.Item
	// Audit is the audit log of the history; nil for no such route.
	Audit audit.Log
	// Users may use the service with tokens of their own; nil means that there are none.
	Users *users.Registry
	// Sessions are the sessions of browsers; nil means that they are not served.
	Sessions *users.Sessions
	// UserHeader is the header in which a proxy on this machine sends the name of the user; "" means
	// that no proxy is trusted.
	UserHeader string
	// ReadOnly refuses all changes over the network.
	ReadOnly bool
	// URL is the address for browsers; "" means that they cannot reach the service.
	URL string
}

// serveFlags are the flags of flowrun serve.
type serveFlags struct {
	launch.ConsentFlags
	listenFlags
	maxParallel int
	drain       time.Duration
	logFormat   string
	noSchedules bool
	readOnly    bool
	userHeader  string
	showLink    func(link string) // shows a sign-in link when the service listens; nil prints it at a terminal
}

// listenFlags are the flags about addresses and tokens.
type listenFlags struct {
	listen          []string
	tokenFile       string
	tlsCert, tlsKey string
	hasUsers        bool // people have tokens of their own, so the service needs none
}

// declare adds the flags to a command. otherwise says what happens without --listen.
func (f *listenFlags) declare(c *cobra.Command, otherwise string) {
	fl := c.Flags()
	fl.StringArrayVar(&f.listen, "listen", nil, "listen on `HOST:PORT|unix:PATH`; :PORT listens on this machine only (default: "+otherwise+")")
	fl.StringVar(&f.tokenFile, "token-file", "", "read the token that callers must send from this `file`")
	fl.StringVar(&f.tlsCert, "tls-cert", "", "the certificate with its intermediate certificates, a PEM `file`")
	fl.StringVar(&f.tlsKey, "tls-key", "", "the private key of the certificate, a PEM `file`")
}

// defaultDrain is how long running steps may take to finish without --drain.
const defaultDrain = 30 * time.Second

var logFormats = []string{"text", "json"}

func serveCommand(env *ui.Env, web Web) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the service: HTTP API, schedules and detached runs",
		Long: `Run a service for the tools that are available in the current directory. The service
executes runs for callers of its HTTP API, for schedules and for flowrun run --detach. It
also resumes the runs of an earlier service that was stopped or killed, if their steps may
run again; the others it reports (flowrun ps).

The service listens on 127.0.0.1:7878, or on the address of --listen. Commands of the same
user reach it at service.sock in the state directory. Callers over TCP must send a token in
the header Authorization: Bearer TOKEN. Set the token with FLOWRUN_TOKEN or --token-file;
otherwise, the service generates one and prints it. If other machines can reach the
address, --tls-cert, --tls-key and a token of your own are required.

The web UI is at the same address; flowrun ui opens it. Several people can have tokens and
roles of their own: flowrun user. With --read-only, nobody can change anything over the
network.

The service reloads definitions when they change. If the new version is invalid, the
service reports this and keeps using the last valid version. Active runs keep the version
that they started with.

With --engine all, the API also has the runs on Temporal (FLOWRUN_ENGINE and TEMPORAL_*): it
lists and shows them, and takes answers and cancels for them. Their workers execute them.

On the first SIGTERM or Ctrl-C, the service gives running steps the time of --drain to
finish, then stops them. The next service resumes unfinished runs. On a second Ctrl-C at a
terminal, the service stops the steps at once.`,
		Example: `  flowrun serve
  flowrun serve --listen 127.0.0.1:9000 --token-file ~/.flowrun-token
  flowrun serve --listen 0.0.0.0:7878 --tls-cert cert.pem --tls-key key.pem --token-file token
  flowrun serve --listen unix:/run/flowrun.sock`,
		Args: ui.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runService(env, c, web, f) },
	}
	fl := c.Flags()
	f.listenFlags.declare(c, defaultListen)
	ui.DurationFlag(c, &f.drain, "drain", defaultDrain, "how long running steps may take to finish when the service stops")
	fl.IntVar(&f.maxParallel, "max-parallel", 0, "run at most `n` steps at once, over all runs (default: 2 for each CPU, at least 4)")
	fl.StringVar(&f.logFormat, "log-format", "text", "the `form` of the log on stderr: text|json")
	fl.BoolVar(&f.noSchedules, "no-schedules", false, "do not run schedules")
	fl.BoolVar(&f.readOnly, "read-only", false, "refuse every change over the network, also webhooks and MCP")
	fl.StringVar(&f.userHeader, "trust-user-header", "", "take the name of the user from this `header` of requests from this machine, which a proxy there sets")
	c.RegisterFlagCompletionFunc("log-format", cobra.FixedCompletions(logFormats, cobra.ShellCompDirectiveNoFileComp))
	f.ConsentFlags.Declare(c)
	engines.Flag(env, c, engines.Default())
	return c
}

// headerNames are the names that a header can have.
var headerNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`) })

// check validates the flags.
func (f *serveFlags) check(c *cobra.Command) error {
	switch {
	case f.maxParallel < 0 || c.Flags().Changed("max-parallel") && f.maxParallel == 0:
		return ui.Usagef(c, "--max-parallel must be at least 1")
	case f.drain < 0:
		return ui.Usagef(c, "--drain must not be negative")
	case f.userHeader != "" && !headerNames().MatchString(f.userHeader):
		return ui.Usagef(c, "--trust-user-header %q is not the name of a header", f.userHeader)
	}
	if err := ui.OneOf(c, "log-format", f.logFormat, logFormats); err != nil {
		return err
	}
	return f.ConsentFlags.Check(c)
}

// runService runs the service until a signal stops it.
func runService(env *ui.Env, c *cobra.Command, web Web, f serveFlags) error {
	if err := f.check(c); err != nil {
		return err
	}
	if os.Getenv("GOMAXPROCS") == "" { // with one processor, requests would wait while many runs are processed
		runtime.SetDefaultGOMAXPROCS()
	}
	f.NoInput, f.Progress = true, "plain"
	if len(f.listen) == 0 {
		f.listen = []string{defaultListen}
	}
	stateDir, err := ui.MakeStateDir()
	if err != nil {
		return err
	}
	known, err := listUsers()
	if err != nil {
		return err
	}
	f.hasUsers = len(known) > 0
	at, err := listen(c, f.listenFlags)
	if err != nil {
		return err
	}
	defer at.close()
	at.showLink = f.showLink
	if f.Settings, err = ui.RunSettings(env, f.InteractionFlags); err != nil {
		return err
	}
	return env.WriteHistory(func(ctx context.Context, s ui.History) error {
		log := logger(env, f.logFormat)
		at.sessions = users.OpenSessions(stateDir, func(err error) { log.Warn(err.Error()) })
		return withRemote(ctx, env, log, func(remote history.Store) error {
			return (&server{env: env, flags: f, store: s, remote: remote, listeners: at, log: log}).serve(ctx, web)
		})
	})
}

// decide returns an error with the reason if the policy does not allow the tool to run through the
// service.
func (f *serveFlags) decide(p *engine.Plan) error {
	what := launch.Subject{Tools: p.Tools()}
	if v := policy.Decide(policy.Request{EntryPoint: policy.Serve, Tools: what.Facts(), Rules: f.Rules()}); v.Action != policy.Allow {
		return errors.New(v.Reason)
	}
	return nil
}

// logger returns the log of the service.
func logger(env *ui.Env, form string) *slog.Logger {
	if form == "json" {
		return slog.New(slog.NewJSONHandler(env.Stderr, nil))
	}
	return slog.New(slog.NewTextHandler(env.Stderr, nil))
}

// stopSignals closes first at the first signal that stops the service, and second at the second
// one.
type stopSignals struct {
	c             chan os.Signal
	broken        chan os.Signal // SIGPIPE, which would end the program before its calls are cancelled; nobody reads it
	first, second chan struct{}
	work          sync.WaitGroup
}

func notifyStop(env *ui.Env) *stopSignals {
	env.HandlesSignals()
	o := &stopSignals{c: make(chan os.Signal, 4), broken: make(chan os.Signal, 1), first: make(chan struct{}), second: make(chan struct{})}
	signal.Notify(o.c, ui.TerminationSignals()...)
	signal.Notify(o.broken, syscall.SIGPIPE)
	o.work.Go(func() {
		var began time.Time
		forced := false
		for sig := range o.c {
			switch {
			case began.IsZero():
				began = time.Now()
				close(o.first)
			case !forced && console.Forces(sig, ui.IsTerminal(env.Stderr), time.Since(began)):
				forced = true
				close(o.second)
			}
		}
	})
	return o
}

func (o *stopSignals) end() {
	signal.Stop(o.c)
	signal.Stop(o.broken)
	close(o.c)
	o.work.Wait()
}

// discardLogger returns a logger that drops the messages of net/http about clients.
func discardLogger() *log.Logger { return slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) }
