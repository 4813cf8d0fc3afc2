package servertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"

	"github.com/flowrun/flowrun/internal/test/porttest"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/temporal/internal/codec"
	"github.com/flowrun/flowrun/temporal/internal/datastore"
)

const namespace = "default"

// server is a Temporal server in a process of its own, so that a test can kill it. Its database is a file, so that
// it can be started again.
type server struct {
	t         testing.TB
	dir       string
	address   string   // of its frontend
	addresses []string // of all its services
	cmd       *exec.Cmd
	ended     chan struct{}           // closed when it has ended
	store     datastore.Store         // of long outputs, in the folder store
	secrets   converter.DataConverter // encrypts; nil if nothing is encrypted
	client    client.Client
}

func startServer(t testing.TB) *server {
	t.Helper()
	return startServerWith(t, "")
}

// startServerWith starts a server whose clients encrypt with the keys in a file, unless that is "".
func startServerWith(t testing.TB, keys string) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir()}
	s.addresses = porttest.Addresses(t, 4)
	s.address = s.addresses[0]
	s.startAlone()
	t.Cleanup(s.kill)
	var err error
	if s.store, err = datastore.Open(t.Context(), s.storeDir()); err != nil {
		t.Fatal(err)
	}
	converter, err := codec.Converter(keys)
	if err != nil {
		t.Fatal(err)
	}
	if keys != "" {
		s.secrets = converter
	}
	s.client, err = client.Dial(client.Options{HostPort: s.address, Namespace: namespace, Identity: "test", Logger: quiet{},
		DataConverter: converter, ExternalStorage: datastore.External(s.store, nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.client.Close)
	return s
}

func (s *server) storeDir() string { return filepath.Join(s.dir, "store") }

var starting sync.Mutex

// startAlone starts the server when no other one is starting: it ends itself if its start takes too long, which many at
// once would need on a small machine.
func (s *server) startAlone() {
	s.t.Helper()
	starting.Lock()
	defer starting.Unlock()
	s.start()
}

func (s *server) start() {
	s.t.Helper()
	cmd := exec.Command(program(s.t, ".", "server"), append([]string{s.dir}, s.addresses...)...)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // its end ends the server
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	s.cmd, s.ended = cmd, ended
	go func() {
		cmd.Wait() // the error is that it was killed, or that its output tells
		close(ended)
	}()
	waittest.Until(s.t, "the Temporal server at "+s.address, func() bool {
		select {
		case <-ended:
			s.t.Fatal("the Temporal server has ended: see above")
		default:
		}
		return healthy(s.address)
	})
}

// kill ends the server as kill -9 does.
func (s *server) kill() {
	s.cmd.Process.Kill()
	<-s.ended
}

// healthy reports whether a server has its namespace.
func healthy(address string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Namespace: namespace, Logger: quiet{}})
	if err != nil {
		return false
	}
	defer c.Close()
	_, err = c.DescribeTaskQueue(ctx, "none", 0)
	return err == nil
}

// programs are those that the tests have built, by their packages.
var programs struct {
	sync.Mutex
	dir   string
	built map[string]string
}

// program builds a program, once for all tests. dir is the folder of its module.
func program(t testing.TB, dir, pkg string) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if path := programs.built[pkg]; path != "" {
		return path
	}
	path := filepath.Join(programs.dir, filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "./"+pkg)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, text)
	}
	programs.built[pkg] = path
	return path
}

// quiet drops the messages of the SDK.
type quiet struct{}

func (quiet) Debug(string, ...any)        {}
func (quiet) Info(string, ...any)         {}
func (quiet) Warn(string, ...any)         {}
func (quiet) Error(string, ...any)        {}
func (q quiet) With(...any) sdklog.Logger { return q }
