// Package sshdtest starts SSH servers for tests: real ones, on free ports of this machine, for the user who runs the test.
// Each connection has an sshd of its own, so no port is taken twice and a test can cut a connection.
// It knows nothing of what connects to them.
package sshdtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// Server is a running server.
type Server struct {
	Port       string
	User       string // who may log in
	KeyFile    string // private key that the server accepts
	KnownHosts string // file with the key of the server
	Home       string // TMPDIR of sessions: what a test finds here after a step is a leftover
	dir        string
	program    string

	running     sync.WaitGroup
	mu          sync.Mutex
	connections []*net.TCPConn
}

// Start starts a server and ends it with the test. It skips or fails the test if OpenSSH is not installed. options are
// further lines for sshd_config.
func Start(t testing.TB, options ...string) *Server {
	t.Helper()
	needtest.Programs(t, "ssh", "ssh-keygen")
	program, err := exec.LookPath("sshd")
	if err != nil {
		program = "/usr/sbin/sshd" // often not in PATH
		if _, err := os.Stat(program); err != nil {
			needtest.Missing(t, "%v; install openssh-server", err)
		}
	}
	if os.Geteuid() == 0 { // without it, sshd of root does not start
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := &Server{User: me.Username, KeyFile: filepath.Join(dir, "user_key"), KnownHosts: filepath.Join(dir, "known_hosts"), Home: filepath.Join(dir, "tmp"),
		dir: dir, program: program}
	if err := os.Mkdir(s.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	NewKey(t, s.KeyFile)
	NewKey(t, filepath.Join(dir, "host_key"))
	authorized := s.read(t, "user_key.pub")
	s.write(t, "authorized_keys", authorized)
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s.Port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	s.write(t, "sshd_config", strings.Join(append(options,
		"HostKey "+filepath.Join(dir, "host_key"), "AuthorizedKeysFile "+filepath.Join(dir, "authorized_keys"),
		"PidFile none", "UsePAM no", "StrictModes no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin yes",
		"KexAlgorithms curve25519-sha256", // the default one takes several times as long
		"PermitUserRC no", "PrintMotd no", "MaxStartups 100", "MaxSessions 100", "UseDNS no",
		"SetEnv TMPDIR="+s.Home+" HOME="+dir), "\n")+"\n") // not the user's home, where files of shells may print and start programs
	s.TrustKey(t, "host_key.pub")
	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		s.serve(t, l)
	}()
	t.Cleanup(func() {
		l.Close()
		<-accepting
		s.Cut()
		s.running.Wait()
	})
	return s
}

// NewKey writes a new key pair to path and path.pub.
func NewKey(t testing.TB, path string) {
	t.Helper()
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", path).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
}

// TrustKey makes the content of a file of the server with a public key the only known key of the server.
func (s *Server) TrustKey(t testing.TB, file string) {
	s.write(t, "known_hosts", "[127.0.0.1]:"+s.Port+" "+s.read(t, file))
}

// Dir returns the folder with the files of the server.
func (s *Server) Dir() string { return s.dir }

// serve runs an sshd for each connection, until the listener is closed.
func (s *Server) serve(t testing.TB, l *net.TCPListener) {
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			return
		}
		if err := s.accept(conn); err != nil {
			t.Error(err)
		}
	}
}

func (s *Server) accept(conn *net.TCPConn) error {
	socket, err := conn.File()
	if err != nil {
		return err
	}
	defer socket.Close()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p := exec.Command(s.program, "-i", "-e", "-f", filepath.Join(s.dir, "sshd_config"))
	p.Stdin, p.Stdout, p.Stderr = socket, socket, log
	if err := p.Start(); err != nil {
		return err
	}
	s.mu.Lock()
	s.connections = append(s.connections, conn)
	s.mu.Unlock()
	s.running.Go(func() { _ = p.Wait() })
	return nil
}

// Cut cuts all connections, as a network does that fails.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.connections {
		_ = c.CloseWrite()
		_ = c.CloseRead()
		c.Close()
	}
	s.connections = nil
}

// Connections returns how many connections there have been since the last Cut.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.connections)
}

// Leftovers returns what sessions have left in their TMPDIR.
func (s *Server) Leftovers(t testing.TB) (names []string) {
	entries, err := os.ReadDir(s.Home)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// YAML returns the keys of ssh in a definition that connect to the server, on one line.
func (s *Server) YAML() string {
	return fmt.Sprintf("{host: 127.0.0.1, port: %s, user: %q, key-file: %q, known-hosts: %q}", s.Port, s.User, s.KeyFile, s.KnownHosts)
}

func (s *Server) read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (s *Server) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
