package hooks

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
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
	frameCall    = "call"    // to the child: Digest, Entry, Limit, Asks; Body: the variables
	frameAnswer  = "answer"  // to the child: ID; Body or Error
	frameAsk     = "ask"     // from the child: ID (0: wants no answer), Op; Body: the arguments
	frameResult  = "result"  // from the child: Body or Error
	frameReady   = "ready"   // from the child, once: it works
)

// frame is a message between a program and its child: four bytes that say how long it
// is, the highest first, four that say how long its head is, the head, which is JSON, and
// the Body, JSON as it is: a value is not encoded again on its way.
type frame struct {
	Kind   string        `json:"kind"`
	Digest string        `json:"digest,omitempty"`
	Source *source       `json:"source,omitempty"`
	Entry  string        `json:"entry,omitempty"`
	Limit  time.Duration `json:"limit,omitempty"` // nanoseconds
	Asks   bool          `json:"asks,omitempty"`  // there is somebody to ask
	ID     uint64        `json:"id,omitempty"`
	Op     string        `json:"op,omitempty"`
	Error  *failure      `json:"error,omitempty"`

	Body json.RawMessage `json:"-"`
}

// prefix is how many bytes say how long a frame and its head are.
const prefix = 8

// maxFrame is how long a frame may be. What does not fit into one cannot be handed to a
// script either.
const maxFrame = 64 << 20

// wire is one end of the two pipes between a program and its child. Any goroutine may
// send, one receives.
type wire struct {
	in  *bufio.Reader
	mu  sync.Mutex
	out io.Writer
}

func newWire(in io.Reader, out io.Writer) *wire { return &wire{in: bufio.NewReader(in), out: out} }

func (w *wire) send(f *frame) error {
	var b bytes.Buffer
	b.Write(make([]byte, prefix))
	text := json.NewEncoder(&b)
	text.SetEscapeHTML(false)
	if err := text.Encode(f); err != nil {
		return err
	}
	head := b.Len() - prefix
	b.Write(f.Body)
	if b.Len()-4 > maxFrame {
		return tooLong(b.Len() - 4)
	}
	binary.BigEndian.PutUint32(b.Bytes(), uint32(b.Len()-4))
	binary.BigEndian.PutUint32(b.Bytes()[4:], uint32(head))
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.out.Write(b.Bytes())
	return err
}

func (w *wire) receive() (*frame, error) {
	var lengths [prefix]byte
	if _, err := io.ReadFull(w.in, lengths[:]); err != nil {
		return nil, err
	}
	all, head := binary.BigEndian.Uint32(lengths[:]), binary.BigEndian.Uint32(lengths[4:])
	if all > maxFrame {
		return nil, tooLong(int(all))
	}
	if all < 4 || head > all-4 {
		return nil, errNoFrame
	}
	text := make([]byte, all-4)
	if _, err := io.ReadFull(w.in, text); err != nil {
		return nil, err
	}
	f := &frame{}
	if err := json.Unmarshal(text[:head], f); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoFrame, err)
	}
	if text = text[head:]; len(text) > 0 {
		if !json.Valid(text) {
			return nil, errNoFrame
		}
		f.Body = text
	}
	return f, nil
}

// errNoFrame is the error of what is not made as a frame is.
var errNoFrame = errors.New("this is no frame")

// tooLong is the length of a frame over maxFrame.
type tooLong int

func (n tooLong) Error() string {
	return fmt.Sprintf("%d MiB are too many to hand to or from a script, which takes %d MiB at most", n>>20, maxFrame>>20)
}
