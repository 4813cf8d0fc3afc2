package hooks

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Kinds of frames. A child first gets the program, where it has not got it yet, and then
// the call; it says once that it is ready, and then sends asks, each of which is
// answered, and one result.
const (
	frameProgram = "program" // to the child: Source, by Digest
	frameCall    = "call"    // to the child: Digest, Entry, Vars, Limit, Asks
	frameAnswer  = "answer"  // to the child: Answer
	frameAsk     = "ask"     // from the child: ID (0: wants no answer), Op, Args
	frameResult  = "result"  // from the child: Value or Error
	frameReady   = "ready"   // from the child, once: it works
)

// frame is a message between a program and its child: four bytes that say how long it
// is, the highest first, and then JSON.
type frame struct {
	Kind   string                     `json:"kind"`
	Digest string                     `json:"digest,omitempty"`
	Source *source                    `json:"source,omitempty"`
	Entry  string                     `json:"entry,omitempty"`
	Vars   map[string]json.RawMessage `json:"vars,omitempty"`
	Limit  time.Duration              `json:"limit,omitempty"` // nanoseconds
	Asks   bool                       `json:"asks,omitempty"`  // there is somebody to ask
	ID     uint64                     `json:"id,omitempty"`
	Op     string                     `json:"op,omitempty"`
	Args   json.RawMessage            `json:"args,omitempty"`
	Answer *answer                    `json:"answer,omitempty"`
	Value  json.RawMessage            `json:"value,omitempty"`
	Error  *failure                   `json:"error,omitempty"`
}

// maxFrame is how long a frame may be. What does not fit into one cannot be handed to a
// script either.
const maxFrame = 64 << 20

// wire is one end of the two pipes between a program and its child. Any goroutine may
// send, one receives.
type wire struct {
	in  io.Reader
	mu  sync.Mutex
	out io.Writer
}

func (w *wire) send(f *frame) error {
	var b bytes.Buffer
	b.Write(make([]byte, 4))
	text := json.NewEncoder(&b)
	text.SetEscapeHTML(false)
	if err := text.Encode(f); err != nil {
		return err
	}
	body := b.Len() - 4
	if body > maxFrame {
		return tooLong(body)
	}
	binary.BigEndian.PutUint32(b.Bytes(), uint32(body))
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.out.Write(b.Bytes())
	return err
}

func (w *wire) receive() (*frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return nil, tooLong(int(n))
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(w.in, body); err != nil {
		return nil, err
	}
	f := &frame{}
	if err := json.Unmarshal(body, f); err != nil {
		return nil, fmt.Errorf("a frame is no JSON: %w", err)
	}
	return f, nil
}

// tooLong is the length of a frame over maxFrame.
type tooLong int

func (n tooLong) Error() string {
	return fmt.Sprintf("%d MiB are too many to hand to or from a script, which takes %d MiB at most", n>>20, maxFrame>>20)
}
