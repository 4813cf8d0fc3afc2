package command

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/temporal/internal/activity"
	"github.com/flowrun/flowrun/temporal/internal/codec"
	"github.com/flowrun/flowrun/temporal/internal/datastore"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// connection are the flags that say how to reach the Temporal service and the store.
type connection struct {
	address   string
	namespace string
	profile   string
	queue     string
	store     string
	keys      string

	unreadable func(error) // gets what cannot be read from the store
}

// declare adds the flags to a command.
func (c *connection) declare(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&c.address, "address", "", "the Temporal service, `HOST:PORT` (default: TEMPORAL_ADDRESS, else localhost:7233)")
	fl.StringVar(&c.namespace, "namespace", "", "the `namespace` in the service (default: TEMPORAL_NAMESPACE, else default)")
	fl.StringVar(&c.profile, "profile", "", "the `profile` in the configuration file of the temporal command (default: TEMPORAL_PROFILE)")
	fl.StringVar(&c.queue, "task-queue", cmp.Or(os.Getenv("FLOWRUN_TASK_QUEUE"), "flowrun"), "the `name` of the task queue that connects runs and workers")
	fl.StringVar(&c.store, "store", os.Getenv("FLOWRUN_STORE"), "where long outputs, artifacts and definitions are kept, a `folder` or s3://BUCKET/PREFIX that all workers can reach (default: the folder temporal in the state directory)")
	fl.StringVar(&c.keys, "encryption-keys", os.Getenv("FLOWRUN_ENCRYPTION_KEYS"), "encrypt everything that the service gets with the first key in this `file`")
}

// reconnecting says how fast a lost connection is repaired: so fast that a worker sends a
// heartbeat in time after a short failure of the network.
var reconnecting = grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}, MinConnectTimeout: 5 * time.Second}

// link is a connection to a service, with what belongs to it.
type link struct {
	client.Client
	converter converter.DataConverter
	store     datastore.Store
	texts     *activity.Texts
	queue     string
}

// Close closes the connection and removes the texts that were fetched.
func (l *link) Close() {
	l.Client.Close()
	os.RemoveAll(l.texts.Dir)
}

// dial connects to the service.
func (c *connection) dial(ctx context.Context, env *ui.Env) (*link, error) {
	o, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{ConfigFileProfile: c.profile})
	if err != nil {
		return nil, ui.Usage(fmt.Errorf("cannot read the settings of the connection: %w", err), nil)
	}
	o.HostPort, o.Namespace = cmp.Or(c.address, o.HostPort), cmp.Or(c.namespace, o.Namespace)
	o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithConnectParams(reconnecting))
	o.Logger = log.NewStructuredLogger(slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	state := engine.DefaultStateDir()
	store, err := datastore.Open(ctx, cmp.Or(c.store, filepath.Join(state, "temporal")))
	if err != nil {
		return nil, ui.Usage(err, nil)
	}
	if o.DataConverter, err = codec.Converter(c.keys); err != nil {
		return nil, ui.Usage(err, nil)
	}
	var secrets converter.DataConverter
	if c.keys != "" {
		secrets = o.DataConverter
	}
	o.ExternalStorage = datastore.External(store, c.unreadable)
	l := &link{converter: datastore.Reading(o.DataConverter, store), queue: interpreter.TaskQueue(c.queue), store: store, texts: &activity.Texts{Store: store, Secrets: secrets}}
	if l.texts.Dir, err = os.MkdirTemp("", "flowrun-"); err != nil {
		return nil, fmt.Errorf("cannot create a temporary folder: %w; set TMPDIR to a folder you can write to", err)
	}
	if l.Client, err = client.DialContext(ctx, o); err != nil {
		os.RemoveAll(l.texts.Dir)
		return nil, ui.ServiceErrorf("cannot reach the Temporal service at %s: %w; start one with: temporal server start-dev", cmp.Or(o.HostPort, client.DefaultHostPort), err)
	}
	return l, nil
}
