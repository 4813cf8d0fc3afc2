//go:build unix

package supervisor

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Kinds of messages.
const (
	kindStart   = "start"
	kindStarted = "started"
	kindExited  = "exited"
	kindStop    = "stop"
	kindStopped = "stopped"
	kindClose   = "close"
	kindClosed  = "closed"
)

// message is a request or a reply. ID identifies the process that it is about; the client assigns
// the numbers.
type message struct {
	Kind  string        `json:"kind"`
	ID    uint64        `json:"id,omitempty"`
	Spec  *spec         `json:"spec,omitempty"`  // start
	Grace time.Duration `json:"grace,omitempty"` // stop, close; 0: KILL at once

	PID    int           `json:"pid,omitempty"`   // started
	Error  string        `json:"error,omitempty"` // started: why it failed
	Errno  int           `json:"errno,omitempty"` // started: the number of that error
	Exit   proc.Exit     `json:"exit,omitzero"`   // exited, stopped
	Left   []procid.Info `json:"left,omitempty"`  // stopped: processes that survived KILL
	Report proc.Report   `json:"report,omitzero"` // closed
}

// spec is a proc.Spec without its files.
type spec struct {
	Step   string   `json:"step"`
	Path   []byte   `json:"path"` // bytes, because JSON would change text that is not UTF-8
	Args   [][]byte `json:"args"`
	Env    [][]byte `json:"env"`
	Dir    []byte   `json:"dir"`
	Detach bool     `json:"detach,omitempty"`
	TTY    bool     `json:"tty,omitempty"`
	NoCore bool     `json:"no_core,omitempty"`
	Enter  int      `json:"enter,omitempty"` // how many namespaces follow stdin, stdout and stderr

	Confine *confine.Confinement `json:"confine,omitempty"`
}

// pack converts a proc.Spec for a message.
func pack(s proc.Spec) *spec {
	return &spec{Step: s.Step, Path: []byte(s.Path), Args: toBytes(s.Args), Env: toBytes(s.Env), Dir: []byte(s.Dir), Detach: s.Detach, TTY: s.TTY, NoCore: s.NoCore, Enter: len(s.Enter), Confine: s.Confine}
}

// unpack restores the proc.Spec, with the files that were sent along.
func (s *spec) unpack(files []*os.File) proc.Spec {
	return proc.Spec{Step: s.Step, Path: string(s.Path), Args: toStrings(s.Args), Env: toStrings(s.Env), Dir: string(s.Dir), Detach: s.Detach, TTY: s.TTY, NoCore: s.NoCore,
		Files: [3]*os.File(files), Enter: files[3:], Confine: s.Confine}
}

func toBytes(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func toStrings(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

// maxMessage limits the size of a message, in bytes. argv and the environment can have a few MiB.
const maxMessage = 64 << 20

// wire is one end of the socket pair. send is safe for concurrent use; only one goroutine may
// receive.
type wire struct {
	conn     *net.UnixConn
	sending  sync.Mutex
	files    []*os.File // received, not taken yet
	buffered []byte
}

func newWire(f *os.File) (*wire, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("expected a Unix socket, got %T", c), c.Close())
	}
	return &wire{conn: u}, nil
}

// send writes a message, with the files attached to its first byte.
func (w *wire) send(m message, files ...*os.File) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	data := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body)))
	data = append(data, body...)
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = syscall.UnixRights(fds...)
	}
	w.sending.Lock()
	defer w.sending.Unlock()
	n, _, err := w.conn.WriteMsgUnix(data, rights, nil)
	if err == nil && n < len(data) {
		_, err = w.conn.Write(data[n:])
	}
	return err
}

// receive reads the next message. Files that arrive with it are kept for takeFiles.
func (w *wire) receive() (m message, err error) {
	head, err := w.read(4)
	if err != nil {
		return m, err
	}
	n := binary.BigEndian.Uint32(head)
	if n > maxMessage {
		return m, fmt.Errorf("a message of %d bytes is too long", n)
	}
	body, err := w.read(int(n))
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

// read returns the next n bytes of the stream.
func (w *wire) read(n int) ([]byte, error) {
	var rights [128]byte
	for len(w.buffered) < n {
		buf := make([]byte, max(n-len(w.buffered), 8<<10))
		got, gotRights, _, _, err := w.conn.ReadMsgUnix(buf, rights[:])
		if err == nil && got == 0 {
			err = io.EOF
		}
		if err != nil {
			return nil, err
		}
		w.buffered = append(w.buffered, buf[:got]...)
		if err := w.collectFiles(rights[:gotRights]); err != nil {
			return nil, err
		}
	}
	out := w.buffered[:n]
	w.buffered = w.buffered[n:]
	return out, nil
}

// collectFiles adds the files in a control message.
func (w *wire) collectFiles(rights []byte) error {
	if len(rights) == 0 {
		return nil
	}
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return err
	}
	for _, m := range messages {
		fds, err := syscall.ParseUnixRights(&m)
		if err != nil {
			return err
		}
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
			w.files = append(w.files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return nil
}

// takeFiles returns the n files of the oldest start message whose files have not been taken.
func (w *wire) takeFiles(n int) (files []*os.File, err error) {
	if n < 0 || len(w.files) < n {
		return nil, errors.New("the start message has too few files")
	}
	files, w.files = w.files[:n:n], w.files[n:]
	return files, nil
}
