package jsworld

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/jscheck"
)

// frameKind is what a frame is for.
type frameKind byte

// Kinds of frames. A child first gets the program, where it has not got it yet, and then
// the call; it says once that it is ready, and then sends asks, each of which is
// answered, and one result.
const (
	FrameProgram frameKind = iota + 1 // to the child: Source, by Digest
	FrameCall                         // to the child: Digest, Entry, Limit, Asks; Body: the variables
	FrameAnswer                       // to the child: ID; Body or Error
	FrameAsk                          // from the child: ID (0: wants no answer), Op; Body: the arguments
	FrameResult                       // from the child: Body or Error
	frameReady                        // from the child, once: it works
)

// Frame is a message between a program and its child. On the wire stand, numbers with
// their highest byte first: in 4 bytes how long the rest is, Kind, Asks, ID in 8 bytes,
// Limit in 8, then Digest, Entry, Op and the rare ones as JSON, each behind its length in
// 4 bytes, and the Body, JSON as it is. So a value is not encoded again on its way, and
// nothing of a common call is JSON but its values: reading a head as JSON took longer
// than the way itself.
type Frame struct {
	Kind   frameKind
	Asks   bool // there is somebody to ask
	ID     uint64
	Limit  time.Duration
	Digest string
	Entry  string
	Op     string
	Rare
	Body json.RawMessage
}

// Rare is what few frames have.
type Rare struct {
	Source *jscheck.Source `json:"source,omitempty"`
	Error  *Failure        `json:"error,omitempty"`
}

// MaxFrame is how long a frame may be. What does not fit into one cannot be handed to a
// script either.
const MaxFrame = 64 << 20

// Wire is one end of the two pipes between a program and its child. Any goroutine may
// send, one receives.
type Wire struct {
	// trusts says that what comes over the wire is what its other end meant to send: the
	// child believes its program that values are JSON. The program does not believe the
	// child, in which anybody's script runs.
	trusts bool
	in     *bufio.Reader
	mu     sync.Mutex
	out    io.Writer
}

func NewWire(in io.Reader, out io.Writer) *Wire { return &Wire{in: bufio.NewReader(in), out: out} }

func (w *Wire) Send(f *Frame) error {
	b, err := f.bytes()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.out.Write(b)
	return err
}

// bytes is the frame as it travels.
func (f *Frame) bytes() ([]byte, error) {
	var more []byte
	if f.Rare != (Rare{}) {
		var err error
		if more, err = json.Marshal(f.Rare); err != nil {
			return nil, err
		}
	}
	b := make([]byte, 4, 64+len(f.Digest)+len(f.Entry)+len(f.Op)+len(more)+len(f.Body))
	asks := byte(0)
	if f.Asks {
		asks = 1
	}
	b = append(b, byte(f.Kind), asks)
	b = binary.BigEndian.AppendUint64(b, f.ID)
	b = binary.BigEndian.AppendUint64(b, uint64(f.Limit))
	b = part(b, f.Digest)
	b = part(b, f.Entry)
	b = part(b, f.Op)
	b = part(b, more)
	b = append(b, f.Body...)
	if len(b)-4 > MaxFrame {
		return nil, TooLong(len(b) - 4)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b, nil
}

// part appends a text behind its length.
func part[T string | []byte](b []byte, text T) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}

func (w *Wire) Receive() (*Frame, error) {
	var length [4]byte
	if _, err := io.ReadFull(w.in, length[:]); err != nil {
		return nil, err
	}
	all := binary.BigEndian.Uint32(length[:])
	if all > MaxFrame {
		return nil, TooLong(int(all))
	}
	text := make([]byte, all)
	if _, err := io.ReadFull(w.in, text); err != nil {
		return nil, err
	}
	f, ok := readFrame(text)
	if !ok || len(f.Body) > 0 && !w.trusts && !json.Valid(f.Body) {
		return nil, errNoFrame
	}
	return f, nil
}

// readFrame reads what stands behind a frame's length.
func readFrame(b []byte) (f *Frame, ok bool) {
	const fixed = 1 + 1 + 8 + 8
	if len(b) < fixed || b[1] > 1 {
		return nil, false
	}
	f = &Frame{Kind: frameKind(b[0]), Asks: b[1] == 1, ID: binary.BigEndian.Uint64(b[2:]), Limit: time.Duration(binary.BigEndian.Uint64(b[10:]))}
	b = b[fixed:]
	var parts [4][]byte
	for i := range parts {
		if len(b) < 4 {
			return nil, false
		}
		n := binary.BigEndian.Uint32(b)
		if b = b[4:]; uint64(n) > uint64(len(b)) {
			return nil, false
		}
		parts[i], b = b[:n], b[n:]
	}
	f.Digest, f.Entry, f.Op = string(parts[0]), string(parts[1]), string(parts[2])
	if more := parts[3]; len(more) > 0 && json.Unmarshal(more, &f.Rare) != nil {
		return nil, false
	}
	if len(b) > 0 {
		f.Body = b
	}
	return f, true
}

// errNoFrame is the error of what is not made as a frame is.
var errNoFrame = errors.New("invalid frame")

// TooLong is the length of a frame over maxFrame.
type TooLong int

func (n TooLong) Error() string {
	return fmt.Sprintf("cannot pass a value of %d MiB to or from a script: the limit is %d MiB", (n+1<<20-1)>>20, MaxFrame>>20)
}
