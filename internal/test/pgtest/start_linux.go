package pgtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/porttest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// Server is a running server.
type Server struct {
	URL string // of its database, with the password Password
	log string // file
}

// Password is that of the user of Server.URL.
const Password = "correct-horse-7"

// Start starts a server that logs each statement. It skips the test if PostgreSQL is not installed.
func Start(t testing.TB) *Server {
	t.Helper()
	bin := programs(t)
	dir, err := os.MkdirTemp("", "pg") // a path that is short enough for a socket, and open to the user of the server
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	attributes := owner(t, dir)
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Dir, c.Env = dir, append(os.Environ(), "LC_ALL=C")
		c.SysProcAttr = attributes
		return c
	}
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(Password), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := command("initdb", "-D", "data", "-U", "tester", "-E", "UTF8", "-A", "scram-sha-256", "--pwfile", password, "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s := &Server{log: filepath.Join(dir, "log")}
	log, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	_, port, _ := net.SplitHostPort(porttest.Addresses(t, 1)[0])
	c := command("postgres", "-D", "data", "-k", dir, "-h", "127.0.0.1", "-p", port, "-c", "fsync=off", "-c", "log_statement=all", "-c", "log_line_prefix=")
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt) // ends its connections
		_ = c.Wait()
	})
	waittest.Until(t, "the server accepts connections", func() bool { return strings.Contains(s.Log(t), "ready to accept connections") }, func() any { return s.Log(t) })
	s.URL = fmt.Sprintf("postgres://tester:%s@127.0.0.1:%s/postgres", Password, port)
	return s
}

// Log returns what the server has logged.
func (s *Server) Log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// programs returns the folder with the programs of PostgreSQL.
func programs(t testing.TB) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // of Debian, which has them in no PATH
	if len(found) > 0 {
		return filepath.Dir(slices.Max(found))
	}
	return filepath.Dir(needtest.Program(t, "initdb"))
}

// owner gives a folder to a user who may run the server, and returns the attributes of that user's processes.
func owner(t testing.TB, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		needtest.Missing(t, "the server does not run as root: %v", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
