package jsrun

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/js/jsworld"
)

//go:embed node/driver.cjs
var nodeDriver []byte

// Node is one call of a Module that runs under Node.js (runtime: node). The caller starts node
// with Args and Env, as a process under its own rules, and calls Answer after the process has
// ended. While it runs, Call.Ask answers the tool's host calls.
type Node struct {
	call     Call
	script   *Script
	driver   string
	listener net.Listener
	token    string
	cancel   context.CancelFunc
	conns    sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]bool
	answer json.RawMessage
	err    error // an *Error
}

// StartNode prepares a call and begins to listen for the process. dir is a folder that only the
// current user can read.
func StartNode(ctx context.Context, dir string, c Call) (*Node, error) {
	n := &Node{call: c, driver: filepath.Join(dir, "flowrun-node.cjs"), token: rand.Text(), open: map[net.Conn]bool{}}
	if err := os.WriteFile(n.driver, nodeDriver, 0o600); err != nil {
		return nil, err
	}
	network, address := "unix", filepath.Join(dir, "call")
	if runtime.GOOS == "windows" { // Node does not support Unix sockets there
		network, address = "tcp", "127.0.0.1:0"
	}
	var err error
	if n.listener, err = net.Listen(network, address); err != nil {
		return nil, err
	}
	ctx, n.cancel = context.WithCancel(ctx)
	n.conns.Go(func() { n.accept(ctx) })
	return n, nil
}

// Args returns the arguments of node.
func (n *Node) Args() []string { return []string{n.driver} }

// Env returns the variables to add to the environment of the process.
func (n *Node) Env() map[string]string {
	at := map[string]any{"path": n.listener.Addr().String()}
	if a, ok := n.listener.Addr().(*net.TCPAddr); ok {
		at = map[string]any{"host": "127.0.0.1", "port": a.Port}
	}
	text, _ := json.Marshal(map[string]any{"at": at, "token": n.token}) // cannot fail: only strings and a number
	return map[string]string{"FLOWRUN_CALL": string(text)}
}

// Close closes all connections and waits for the host calls that are being answered.
func (n *Node) Close() {
	n.cancel()
	n.listener.Close()
	n.mu.Lock()
	for conn := range n.open {
		conn.Close()
	}
	n.mu.Unlock()
	n.conns.Wait()
}

// Answer returns what the tool returned, like Runtime.Call. Call it after the process has ended.
// done is false if the process ended without an answer.
func (n *Node) Answer() (answer json.RawMessage, err error, done bool) {
	n.drain()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answer == nil {
		return nil, n.err, n.err != nil
	}
	answer, err = unwrapOutcome(n.answer, nil)
	return answer, err, true
}

// drain reads what the process sent before it ended, and cancels pending host calls.
func (n *Node) drain() {
	n.cancel()
	n.listener.Close()
	n.mu.Lock()
	for conn := range n.open { // the other end is closed, unless another process has inherited it
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	}
	n.mu.Unlock()
	n.conns.Wait()
}

func (n *Node) accept(ctx context.Context) {
	for {
		conn, err := n.listener.Accept()
		if err != nil {
			return
		}
		n.mu.Lock()
		n.open[conn] = true
		n.mu.Unlock()
		if ctx.Err() != nil {
			conn.Close()
			return
		}
		n.conns.Go(func() {
			defer conn.Close()
			n.serve(ctx, conn)
		})
	}
}

// nodeMessage is a message of the driver.
type nodeMessage struct {
	Token  string
	ID     uint64
	Op     string
	Args   json.RawMessage
	Result json.RawMessage
	Failed *struct{ Name, Message, Where string }
}

// serve handles one connection of the driver. The first connection gets the call. The second
// thread of the driver uses another connection for its synchronous host calls.
func (n *Node) serve(ctx context.Context, conn net.Conn) {
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, jsworld.MaxFrame)
	var first nodeMessage
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &first) != nil || subtle.ConstantTimeCompare([]byte(first.Token), []byte(n.token)) != 1 {
		return
	}
	out := &lineWriter{conn: conn}
	if n.takeCall() {
		if err := out.write(map[string]any{"call": n.callMessage()}); err != nil {
			n.fail(KindLost, "", "cannot pass the call to the tool: "+err.Error(), "")
			return
		}
	}
	for lines.Scan() {
		var m nodeMessage
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			n.fail(KindLost, "", "the message of the tool is not JSON", "")
			return
		}
		switch {
		case m.Result != nil:
			n.mu.Lock()
			n.answer = m.Result
			n.mu.Unlock()
		case m.Failed != nil:
			n.fail(KindThrown, m.Failed.Name, m.Failed.Message, m.Failed.Where)
		case m.ID == 0: // needs no answer; handled in order
			n.ask(ctx, m)
		default:
			n.conns.Go(func() { out.write(n.ask(ctx, m)) }) // an error means that the connection is closed
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		n.fail(KindResult, "", jsworld.TooLong(jsworld.MaxFrame).Error(), "")
	}
}

// takeCall reports whether this is the first connection, which gets the call.
func (n *Node) takeCall() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	first := n.call.Script != nil
	if first {
		n.script, n.call.Script = n.call.Script, nil
	}
	return first
}

func (n *Node) fail(kind Kind, name, message, where string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err == nil {
		n.err = &Error{Kind: kind, Name: name, Message: message, Pos: ParsePosition(where)}
	}
}

// callMessage returns the call as the driver expects it.
func (n *Node) callMessage() map[string]any {
	s := n.script.source
	code := s.Text
	if len(s.Map) > 0 {
		code += "\n//# sourceMappingURL=data:application/json;base64," + base64.StdEncoding.EncodeToString(s.Map) + "\n"
	}
	file, err := filepath.Abs(s.File)
	if err != nil {
		file = s.File
	}
	return map[string]any{"file": file, "code": code, "glue": jsworld.Prelude(), "args": n.call.Vars}
}

// ask answers one host call of the tool.
func (n *Node) ask(ctx context.Context, m nodeMessage) map[string]any {
	answer := map[string]any{"id": m.ID}
	v, err := any(nil), fmt.Errorf("%s is not available here", m.Op)
	if n.call.Ask != nil {
		v, err = n.call.Ask(ctx, m.Op, m.Args)
	}
	if err == nil {
		answer["value"] = v
		return answer
	}
	failure := map[string]string{"message": err.Error()}
	var e *Error
	if errors.As(err, &e) {
		failure["name"], failure["message"] = e.Name, e.Message
	}
	answer["error"] = failure
	return answer
}

// lineWriter writes one JSON value per line. Safe for concurrent use.
type lineWriter struct {
	mu   sync.Mutex
	conn net.Conn
}

func (w *lineWriter) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.conn.Write(append(text, '\n'))
	return err
}
