package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/engine/sshcommand"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// sharedConnection is a connection to an account on another machine that steps of a run use together, so that not each of
// them has to log in. It is an ssh client of the run. A client that cannot use it makes a connection of its own.
type sharedConnection struct {
	mu     sync.Mutex // held while the connection opens
	uses   int
	opened int           // how often
	ended  chan struct{} // closed when the client has ended; nil before it starts
	stop   context.CancelFunc
	socket string
}

const (
	// sharedStep is the step in the mark of the client. It is not the path of a step, because stopping a step ends all its
	// processes.
	sharedStep = "@ssh"
	// maxOpened limits how often a connection that was lost is opened again.
	maxOpened = 3
	// maxSocket is the length of a path that the ssh client can listen at: it adds 17 characters while it creates the
	// socket, and macOS allows 104.
	maxSocket = 84
	// socketInterval is the time between two looks whether the client listens.
	socketInterval = 5 * time.Millisecond
)

// socket returns the socket of the shared connection to a target, "" for none. The first step of a run that uses an account
// connects on its own: most runs have no second one, and an account that cannot be reached is asked only once.
func (o *Connection) socket(ctx context.Context, target sshcommand.Target) string {
	account := target
	if account.Log = ""; o.key != "" { // each attempt has a file of its own with the key
		account.KeyFile = o.key
	}
	c := o.Shared.to(account)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uses++
	switch {
	case c.uses == 1, runtime.GOOS == "windows": // where the client cannot share connections
		return ""
	case c.alive():
		return c.socket
	case c.opened == maxOpened:
		return ""
	}
	c.opened++
	if err := c.open(o.Client, &target); err != nil || !c.await(ctx, target.Timeout) {
		c.opened = maxOpened
		return ""
	}
	return c.socket
}

// Connections are the shared connections of a run. The zero Connections are none.
type Connections struct {
	mu        sync.Mutex
	byAccount map[sshcommand.Target]*sharedConnection
}

func (s *Connections) to(account sshcommand.Target) *sharedConnection {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byAccount[account]
	if c == nil {
		if s.byAccount == nil {
			s.byAccount = map[sshcommand.Target]*sharedConnection{}
		}
		c = &sharedConnection{}
		s.byAccount[account] = c
	}
	return c
}

// Close ends the clients.
func (s *Connections) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.byAccount {
		c.close()
	}
}

// close ends the client, if there is one.
func (c *sharedConnection) close() {
	if c.ended != nil {
		c.stop()
		<-c.ended
	}
}

// alive reports whether steps can use the connection.
func (c *sharedConnection) alive() bool {
	if c.ended == nil {
		return false
	}
	select {
	case <-c.ended:
		return false
	default:
		return isSocket(c.socket)
	}
}

func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// open starts the client.
func (c *sharedConnection) open(r *Client, target *sshcommand.Target) error {
	c.close()
	dir, err := r.Folder()
	if err != nil {
		return err
	}
	c.socket = filepath.Join(dir, "ssh-"+strings.ToLower(rand.Text()[:8]))
	if len(c.socket) > maxSocket {
		return errors.New("the path of the socket is too long")
	}
	if err := sshcommand.CheckPath(c.socket); err != nil {
		return err
	}
	target.Shared = c.socket
	if target.Log, err = r.File("ssh-*.log", ""); err != nil {
		return err
	}
	argv := target.SharedArgv()
	file, err := r.LookUp(argv[0])
	if err != nil {
		return err
	}
	p, err := r.Host.Start(proc.Spec{Step: sharedStep, Path: file, Args: argv, Env: r.Environ(r.Marks, []string{procid.MarkStep + "=" + sharedStep}),
		Files: [3]*os.File{r.Null, r.Null, r.Null}, Detach: true, Bound: true})
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	c.ended, c.stop = ended, stop
	go func() {
		defer close(ended)
		defer stop()
		if _, err := p.Wait(ctx); err != nil {
			p.Stop(0, nil)
		}
	}()
	return nil
}

// await waits until the client has connected. It reports whether it has.
func (c *sharedConnection) await(ctx context.Context, timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for !isSocket(c.socket) {
		select {
		case <-time.After(socketInterval):
		case <-c.ended:
			return false
		case <-ctx.Done():
			c.close()
			return false
		}
	}
	return true
}
