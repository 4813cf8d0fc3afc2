package hooks

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

	"github.com/flowrun/flowrun/internal/jsworld"
)

//go:embed node/driver.cjs
var nodeDriver []byte

// Node is one call of a Module that runs under Node.js (runtime: node). Whoever makes it
// starts node with Args and Env, as a process under its own rules, and asks for the Answer
// when that has ended. What the tool asks is answered by Call.Ask meanwhile.
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

// StartNode readies a call; dir is a folder that nobody else may read.
func StartNode(ctx context.Context, dir string, c Call) (*Node, error) {
	n := &Node{call: c, driver: filepath.Join(dir, "flowrun-node.cjs"), token: rand.Text(), open: map[net.Conn]bool{}}
	if err := os.WriteFile(n.driver, nodeDriver, 0o600); err != nil {
		return nil, err
	}
	network, address := "unix", filepath.Join(dir, "call")
	if runtime.GOOS == "windows" { // where Node has no sockets in files
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

// Args are those of node.
func (n *Node) Args() []string { return []string{n.driver} }

// Env are the variables of the process, beside its own.
func (n *Node) Env() map[string]string {
	at := map[string]any{"path": n.listener.Addr().String()}
	if a, ok := n.listener.Addr().(*net.TCPAddr); ok {
		at = map[string]any{"host": "127.0.0.1", "port": a.Port}
	}
	text, _ := json.Marshal(map[string]any{"at": at, "token": n.token}) // texts and a number
	return map[string]string{"FLOWRUN_CALL": string(text)}
}

// Close ends what Node has open, and waits for the answers under way.
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

// Answer is what the tool returned, as that of Runtime.Call, once the process has ended.
// done is false where it ended without an answer.
func (n *Node) Answer() (answer json.RawMessage, err error, done bool) {
	n.drain()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answer == nil {
		return nil, n.err, n.err != nil
	}
	answer, err = opened(n.answer, nil)
	return answer, err, true
}

// drain reads what the process said before it ended, and gives up what it still asked.
func (n *Node) drain() {
	n.cancel()
	n.listener.Close()
	n.mu.Lock()
	for conn := range n.open { // the other end is gone, unless somebody else has got hold of it
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

// nodeMessage is what the driver says.
type nodeMessage struct {
	Token  string
	ID     uint64
	Op     string
	Args   json.RawMessage
	Result json.RawMessage
	Failed *struct{ Name, Message, Where string }
}

// serve speaks with the driver on one connection: on the first it gets the call; what its
// second thread asks comes on another.
func (n *Node) serve(ctx context.Context, conn net.Conn) {
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, jsworld.MaxFrame)
	var first nodeMessage
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &first) != nil || subtle.ConstantTimeCompare([]byte(first.Token), []byte(n.token)) != 1 {
		return
	}
	out := &lineWriter{conn: conn}
	if n.first() {
		if err := out.say(map[string]any{"call": n.order()}); err != nil {
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
		case m.ID == 0: // in order, and without an answer
			n.ask(ctx, m)
		default:
			n.conns.Go(func() { out.say(n.ask(ctx, m)) }) // a connection that is gone wants no answer
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		n.fail(KindResult, "", jsworld.TooLong(jsworld.MaxFrame).Error(), "")
	}
}

// first says whether the call has not been handed out yet.
func (n *Node) first() bool {
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
		n.err = &Error{Kind: kind, Name: name, Message: message, Pos: placeOf(where)}
	}
}

// order is what the driver is to do.
func (n *Node) order() map[string]any {
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

// ask answers what the tool asks.
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
	said := map[string]string{"message": err.Error()}
	var e *Error
	if errors.As(err, &e) {
		said["name"], said["message"] = e.Name, e.Message
	}
	answer["error"] = said
	return answer
}

// lineWriter writes JSON, a value on a line. Any goroutine may use it.
type lineWriter struct {
	mu   sync.Mutex
	conn net.Conn
}

func (w *lineWriter) say(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.conn.Write(append(text, '\n'))
	return err
}
