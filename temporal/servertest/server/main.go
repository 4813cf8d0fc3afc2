// Command server is a Temporal server for tests: all services in one process, with a file as its database, so that it
// can be killed and started again.
//
//	server FOLDER ADDRESS ADDRESS ADDRESS ADDRESS
//
// The addresses are those of its services: frontend first, each at another port of 127.0.0.1.
// It ends when its standard input does, so that it does not outlive a test.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

const namespace = "default"

func main() {
	if len(os.Args) != 2+len(temporal.DefaultServices) {
		fmt.Fprintln(os.Stderr, "usage: server FOLDER ADDRESS ADDRESS ADDRESS ADDRESS")
		os.Exit(2)
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if err := serve(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve runs a server that keeps its database in a folder. It returns only with an error.
func serve(dir string, addresses []string) error {
	c, err := serverConfig(filepath.Join(dir, "temporal.db"), addresses)
	if err != nil {
		return err
	}
	if err := prepareDatabase(c); err != nil {
		return err
	}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for i, name := range temporal.DefaultServices {
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(addresses[i])
	}
	authorizer, err := authorization.GetAuthorizerFromConfig(&c.Global.Authorization)
	if err != nil {
		return err
	}
	interrupted := make(chan any)
	s, err := temporal.NewServer(temporal.WithConfig(c), temporal.ForServices(temporal.DefaultServices), temporal.WithStaticHosts(hosts),
		temporal.WithAuthorizer(authorizer), temporal.WithCustomMetricsHandler(metrics.NoopMetricsHandler),
		temporal.WithLogger(fatal{log.NewNoopLogger()}), temporal.InterruptOn(interrupted))
	if err != nil {
		return err
	}
	return s.Start()
}

// fatal ends the server at an error that it cannot run with, such as a port that is taken. Otherwise it would go on
// without its listener.
type fatal struct{ log.Logger }

func (fatal) Fatal(message string, tags ...tag.Tag) {
	fmt.Fprint(os.Stderr, message)
	for _, t := range tags {
		fmt.Fprintf(os.Stderr, " %s=%v", t.Key(), t.Value())
	}
	fmt.Fprintln(os.Stderr)
	os.Exit(1)
}

// serverConfig is the smallest configuration of a server with all its services in one process.
func serverConfig(database string, addresses []string) (*config.Config, error) {
	c := &config.Config{}
	store := &config.SQL{PluginName: sqliteplugin.PluginName, DatabaseName: database,
		ConnectAttributes: map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "normal", "busy_timeout": "10000"}}
	c.Persistence = config.Persistence{DefaultStore: "file", VisibilityStore: "file", NumHistoryShards: 1,
		DataStores: map[string]config.DataStore{"file": {SQL: store}}}
	c.ClusterMetadata = &cluster.Config{FailoverVersionIncrement: 10, MasterClusterName: "active", CurrentClusterName: "active",
		ClusterInformation: map[string]cluster.ClusterInformation{"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: addresses[0]}}}
	c.DCRedirectionPolicy.Policy = "noop"
	c.Global.Membership.MaxJoinDuration = time.Minute // the server ends itself if its start takes twice as long, at least 15 s
	c.PublicClient.HostPort = addresses[0]
	c.Services = map[string]config.Service{}
	for i, name := range temporal.DefaultServices {
		_, text, err := net.SplitHostPort(addresses[i])
		if err != nil {
			return nil, err
		}
		port, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		c.Services[name] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnLocalHost: true}}
	}
	c.Archival.History.State, c.Archival.Visibility.State = "disabled", "disabled"
	c.NamespaceDefaults.Archival.History.State, c.NamespaceDefaults.Archival.Visibility.State = "disabled", "disabled"
	return c, nil
}

// prepareDatabase makes the tables and the namespace unless they exist.
func prepareDatabase(c *config.Config) error {
	store := c.Persistence.DataStores["file"].SQL
	if _, err := os.Stat(store.DatabaseName); err == nil {
		return nil
	}
	if err := sqlite.SetupSchema(store); err != nil {
		return fmt.Errorf("cannot set up the tables: %w", err)
	}
	ns, err := sqlite.NewNamespaceConfig(c.ClusterMetadata.CurrentClusterName, namespace, false, nil)
	if err != nil {
		return err
	}
	return sqlite.CreateNamespaces(store, ns)
}
