// Package remote runs the command of a step in an account on another machine, over ssh.
package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/engine/sshcommand"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// reasonConnection is the reason of a step whose connection to another machine failed. Its exit code is 255.
const reasonConnection = "ssh-connection"

// Account is the account on another machine in which a command runs its script. Only Host must be set.
type Account struct {
	Host, User, Port, Jump   *expr.Template
	Key, KeyFile, KnownHosts *expr.Template
	Timeout                  time.Duration // to connect
	HostChosen               bool          // somebody other than the definition's author may choose the host
	// Grants returns the permissions of a call. They matter if they are enforced or if HostChosen is set.
	Grants func(Frame) permission.Grants
}

// Describe returns the account in words: ssh USER@HOST port PORT through JUMP, with the files that it reads. It returns "" for nil, this machine.
func (r *Account) Describe(show func(*expr.Template) string) string {
	if r == nil {
		return ""
	}
	text := "ssh "
	if r.User != nil {
		text += show(r.User) + "@"
	}
	text += show(r.Host)
	if r.Port != nil {
		text += " port " + show(r.Port)
	}
	if r.Jump != nil {
		text += " through " + show(r.Jump)
	}
	if r.KeyFile != nil {
		text += " with the key file " + show(r.KeyFile)
	}
	if r.KnownHosts != nil {
		text += " with the known hosts of " + show(r.KnownHosts)
	}
	return text
}

// Client runs the commands of one attempt on another machine.
type Client struct {
	place.Machine
	Account *Account
	Frame   Frame
	Scope   expr.Scope
	Mask    *mask.Mask
	Shared  *Connections
	Folder  func() (string, error) // for sockets
	LookUp  func(program string) (path string, err error)
}

// Frame is what a connection needs of one call of a tool.
type Frame interface {
	Confinement() confinement.Confinement
	Resolve(base, path string) string // makes a path absolute; a relative one starts at base, "" for the workspace
}

// Connection is the connection of one start to another machine.
type Connection struct {
	*Client
	files   []string // files to remove
	private *os.File // private key in memory; nil: none
	key     string   // digest of the private key, "" if the definition has none
	log     string   // file with the messages of the ssh client
	control *os.File // the other end of stdin of the ssh client; closing it ends the script
	stderr  *os.File // what the ssh client and the script print to stderr
	writer  *os.File // the other end
	trailer *sshcommand.Trailer
	Mark    string        // of the supervisor and its messages
	job     string        // the supervisor
	done    chan struct{} // closed when stderr has ended; nil until open
	report  sshcommand.Report
	whole   bool // the script has ended, and report says how
}

// New returns a connection that is not open.
func (r *Client) New() *Connection {
	return &Connection{Client: r, Mark: "flowrun-" + strings.ToLower(rand.Text())}
}

// Connect prepares the connection for a job. It returns the command line and stdin of the ssh client.
func (c *Connection) Connect(ctx context.Context, target *sshcommand.Target, job *sshcommand.Job) (
	argv []string, stdin *os.File, err error,
) {
	c.job = job.Stdin()
	if c.log, err = c.File("ssh-*.log", ""); err != nil {
		return nil, nil, err
	}
	c.files = append(c.files, c.log)
	target.Log = c.log
	for _, path := range []string{target.Log, target.KeyFile, target.KnownHosts} {
		if err := sshcommand.CheckPath(path); err != nil {
			return nil, nil, place.BadInput(err)
		}
	}
	target.Shared = c.socket(ctx, *target)
	if stdin, c.control, err = os.Pipe(); err != nil {
		return nil, nil, fmt.Errorf("cannot create a pipe: %w", err)
	}
	if c.stderr, c.writer, err = os.Pipe(); err != nil {
		return nil, stdin, fmt.Errorf("cannot create a pipe: %w", err)
	}
	return target.Argv(sshcommand.Command(len(c.job))), stdin, nil
}

// Target renders the account, and checks that the command may connect to it.
func (c *Connection) Target(ctx context.Context) (*sshcommand.Target, error) {
	r, confined := c.Account, c.Frame.Confinement()
	switch {
	case confined.Image != "":
		return nil, place.CannotStart(126, "cannot start the step: isolation: container is not possible for a step that runs over ssh")
	case confined.Reduced:
		return nil, place.CannotStart(126, "cannot start the step: execution-privilege: reduced is not possible for a step that runs over ssh")
	}
	target := &sshcommand.Target{Timeout: r.Timeout, OwnOptions: confined.Enforced}
	var key string
	for _, one := range []struct {
		of    *expr.Template
		key   string
		to    *string
		check func(string) error
	}{{r.Host, "host", &target.Host, sshcommand.CheckHost}, {r.User, "user", &target.User, sshcommand.CheckUser}, {r.Port, "port", &target.Port, sshcommand.CheckPort},
		{r.Jump, "jump", &target.Jump, sshcommand.CheckJump}, {r.Key, "key", &key, nil},
		{r.KeyFile, "key-file", &target.KeyFile, c.localFile}, {r.KnownHosts, "known-hosts", &target.KnownHosts, c.localFile}} {
		if one.of == nil {
			continue
		}
		text, err := one.of.Text(c.Scope)
		if err == nil && one.check != nil {
			err = one.check(text)
		}
		if err != nil {
			return nil, place.BadInput(fmt.Errorf("cannot use ssh.%s: %w", one.key, err))
		}
		*one.to = text
	}
	for _, path := range []*string{&target.KeyFile, &target.KnownHosts} {
		if *path != "" {
			*path = c.Frame.Resolve("", *path)
		}
	}
	if err := c.permit(ctx, target); err != nil {
		return nil, place.BadInput(err)
	}
	return target, c.writeKey(target, key)
}

// localFile returns an error unless a path names a file on this machine that the command may read.
func (c *Connection) localFile(path string) error {
	path = c.Frame.Resolve("", path)
	if c.Frame.Confinement().Enforced {
		if _, _, err := c.Account.Grants(c.Frame).Readable(path); err != nil {
			return err
		}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("the file %q does not exist", path)
	case err == nil && info.IsDir():
		return fmt.Errorf("%q is a folder", path)
	}
	return err
}

// permit returns an error if the command may not connect to the target, and sets the addresses at which it may. The host of
// the definition is allowed unless permissions are enforced.
func (c *Connection) permit(ctx context.Context, target *sshcommand.Target) (err error) {
	if !c.Frame.Confinement().Enforced && !c.Account.HostChosen {
		return nil
	}
	g := c.Account.Grants(c.Frame)
	if target.Port == "" {
		target.Port = "22" // that of the permission, whatever the settings of the client say
	}
	if target.Jump != "" {
		user, host, port := sshcommand.SplitAddress(target.Jump)
		if target.JumpAddress, err = decideAddress(ctx, g, host, orPort(port)); err != nil {
			return fmt.Errorf("cannot connect to %s: %w", target.Jump, err)
		}
		target.Jump = strings.TrimPrefix(user+"@", "@") + net.JoinHostPort(host, orPort(port))
	}
	target.Address, err = decideAddress(ctx, g, target.Host, target.Port)
	var unknown *net.DNSError
	if errors.As(err, &unknown) && target.Jump != "" && g.Names(target.Host, target.Port) {
		return nil // a host that only the jump host knows
	}
	if err != nil {
		return fmt.Errorf("cannot connect to %s: %w", target.Host, err)
	}
	return nil
}

// decideAddress returns the address at which a permitted host is reached. The client must not resolve the name itself: the
// answer could be another one.
func decideAddress(ctx context.Context, g permission.Grants, host, port string) (string, error) {
	list, err := g.Resolve(ctx, host, port)
	if err != nil {
		return "", err
	}
	return list[0].String(), nil
}

func orPort(port string) string {
	if port == "" {
		return "22"
	}
	return port
}

// writeKey sets the file in which the ssh client finds a private key, because it reads keys from files only. The file is in
// memory, where that is possible, so that no key stays behind when flowrun is killed.
func (c *Connection) writeKey(target *sshcommand.Target, key string) (err error) {
	if c.Account.Key == nil {
		return nil
	}
	if !strings.HasPrefix(strings.TrimSpace(key), "-----BEGIN ") {
		return place.BadInput(errors.New("cannot use ssh.key: it is not the text of a private key, which begins with -----BEGIN"))
	}
	if err := c.Mask.Add(key); err != nil {
		return place.BadInput(fmt.Errorf("cannot mask ssh.key: %w", err))
	}
	// The client rejects a key without its last newline, which variables and commands often lose.
	c.key = fmt.Sprintf("%x", sha256.Sum256([]byte(key)))
	text := strings.TrimSpace(strings.ReplaceAll(key, "\r\n", "\n")) + "\n"
	if c.private, target.KeyFile, err = memoryFile(text); err != nil {
		return fmt.Errorf("cannot keep ssh.key in memory: %w", err)
	}
	if c.private == nil {
		target.KeyFile, err = c.File("key-*", text)
		c.files = append(c.files, target.KeyFile)
	}
	return err
}

// Open starts to write to the ssh client, and to copy what it prints to stderr. It returns the stderr of
// the client.
func (c *Connection) Open(to *os.File) (stderr *os.File) {
	stderr, c.writer = c.writer, nil
	c.trailer = sshcommand.NewTrailer(c.Mark, to)
	c.done = make(chan struct{})
	go func() { _, _ = c.control.WriteString(c.job) }() // if the client ends first, its trailer is missing
	go func() {
		defer close(c.done)
		defer to.Close()
		_, _ = c.stderr.WriteTo(c.trailer)
		_ = c.trailer.Close()
		if c.report, c.whole = c.trailer.Report(); !c.whole {
			_, _ = to.Write(c.messages())
		}
	}()
	return stderr
}

// messages returns what the ssh client has reported.
func (c *Connection) messages() []byte {
	text, _ := os.ReadFile(c.log)
	return bytes.ReplaceAll(text, []byte("\r"), nil)
}

// outputTimeout is how long a background process may keep the output open after the ssh client has ended.
const outputTimeout = 500 * time.Millisecond

// remoteEnd is how long the supervisor on the other machine has after the grace period.
const remoteEnd = 5 * time.Second

// Stop ends the script on the other machine. It reports whether the ssh client has ended, too.
func (c *Connection) Stop(p proc.Process, grace time.Duration, force <-chan struct{}) (proc.Exit, bool) {
	if !c.trailer.Started() {
		return proc.Exit{}, false
	}
	_ = c.control.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = c.control.WriteString(sshcommand.StopLine(grace)) // otherwise the grace period of the session applies
	c.control.Close()
	ctx, cancel := context.WithTimeout(context.Background(), grace+remoteEnd)
	defer cancel()
	go func() {
		select {
		case <-force:
			cancel()
		case <-ctx.Done():
		}
	}()
	exit, err := p.Wait(ctx)
	return exit, err == nil
}

// Finish sets the exit code to that of the script, after the ssh client has ended.
func (c *Connection) Finish(exit *proc.Exit) error {
	c.control.Close()
	select {
	case <-c.done:
	case <-time.After(outputTimeout):
		if err := c.stderr.SetReadDeadline(time.Unix(1, 0)); err != nil {
			return fmt.Errorf("cannot end the reading of a pipe: %w", err)
		}
		<-c.done
	}
	if c.whole {
		exit.Code, exit.Signal = c.report.Code, 0
	}
	return nil
}

// Explain says why a connection failed.
func (c *Connection) Explain(r *dag.Result) {
	if c.whole {
		return
	}
	r.Status, r.Reason, r.ExitCode = dag.Failed, reasonConnection, 255
	what := "cannot connect to the other machine"
	if c.trailer.Started() {
		what = "the connection to the other machine was lost; the script was ended there"
	}
	lines := strings.Split(strings.TrimSpace(string(c.messages())), "\n")
	if last := lines[max(0, len(lines)-3):]; last[0] != "" {
		what += ": " + strings.Join(last, "; ")
	}
	r.Message = what + hintFor(what)
}

// hintFor returns what to do about a message of the ssh client.
func hintFor(message string) string {
	switch {
	case strings.Contains(message, "REMOTE HOST IDENTIFICATION HAS CHANGED"), strings.Contains(message, "Host key verification failed"):
		return "; flowrun connects to known hosts only: check the key of the host, then add it to the file of known-hosts"
	case strings.Contains(message, "Permission denied ("):
		return "; set ssh.user and ssh.key or ssh.key-file to an account that accepts the key"
	}
	return ""
}

// Close releases what the connection has open.
func (c *Connection) Close() {
	for _, f := range []*os.File{c.control, c.writer, c.private} {
		if f != nil {
			f.Close()
		}
	}
	if c.stderr != nil {
		if c.done != nil {
			_ = c.stderr.SetReadDeadline(time.Unix(1, 0))
			<-c.done
		}
		c.stderr.Close()
	}
	for _, file := range c.files {
		os.Remove(file)
	}
}

// IsOpen reports whether Open was called.
func (c *Connection) IsOpen() bool { return c.done != nil }

// Report returns what the supervisor has reported, after Finish.
func (c *Connection) Report() sshcommand.Report { return c.report }
