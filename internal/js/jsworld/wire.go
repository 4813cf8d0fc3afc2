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

	"github.com/flowrun/flowrun/internal/js/jscheck"
)

// frameKind is the purpose of a frame.
type frameKind byte

// Kinds of frames. A child first sends frameReady. For each call it receives the program, if it
// does not have it yet, and sends frameBuilt; then it receives the call. It sends any number of
// host calls (FrameAsk), each of which is answered, and then one result.
const (
	FrameProgram frameKind = iota + 1 // to the child: Source, by Digest
	frameBuilt                        // from the child: it has compiled the program
	FrameCall                         // to the child: Digest, Entry, Limit, Asks; Body: the variables
	FrameAnswer                       // to the child: ID; Body or Error
	FrameAsk                          // from the child: ID (0: needs no answer), Op; Body: the arguments
	FrameResult                       // from the child: Body or Error
	frameReady                        // from the child, once: it is ready for frames
	FrameStop                         // to the child: stop the running call, which then fails
)

// Frame is a message between a program and its child.
//
// On the wire it consists of these parts, with numbers in big-endian order: the length of the
// rest in 4 bytes, Kind and Asks in 1 byte each, ID and Limit in 8 bytes each, then Digest,
// Entry, Op, and Rare as JSON, each preceded by its length in 4 bytes, and Body, which is JSON,
// as it is. So values are not encoded a second time, and a common call contains no JSON except
// its values: parsing a header as JSON took longer than the transfer.
type Frame struct {
	Kind   frameKind
	Asks   bool // host calls are possible
	ID     uint64
	Limit  time.Duration
	Digest string
	Entry  string
	Op     string
	Rare
	Body json.RawMessage
}

// Rare holds the members that few frames have.
type Rare struct {
	Source *jscheck.Source `json:"source,omitempty"`
	Error  *Failure        `json:"error,omitempty"`
}

// MaxFrame is the maximum length of a frame in bytes. A longer value cannot be passed to a
// script.
const MaxFrame = 64 << 20

// Wire is one end of the two pipes between a program and its child. Any number of goroutines may
// send; only one may receive.
type Wire struct {
	// trusted is set if received values need no check. The child trusts its program to send valid
	// JSON. The program does not trust the child, which runs untrusted scripts.
	trusted bool
	in      *bufio.Reader
	mu      sync.Mutex
	out     io.Writer
}

// NewWire returns one end of a wire. It does not trust the other end.
func NewWire(in io.Reader, out io.Writer) *Wire { return &Wire{in: bufio.NewReader(in), out: out} }

// Send writes a frame. It returns a TooLong error, and sends nothing, if the frame exceeds
// MaxFrame. Safe for concurrent use.
func (w *Wire) Send(f *Frame) error {
	b, err := f.encode()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.out.Write(b)
	return err
}

// encode encodes the frame.
func (f *Frame) encode() ([]byte, error) {
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
	b = appendPart(b, f.Digest)
	b = appendPart(b, f.Entry)
	b = appendPart(b, f.Op)
	b = appendPart(b, more)
	b = append(b, f.Body...)
	if len(b)-4 > MaxFrame {
		return nil, TooLong(len(b) - 4)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b, nil
}

// appendPart appends the length of a text and the text.
func appendPart[T string | []byte](b []byte, text T) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}

// Receive reads the next frame. Only one goroutine may call it.
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
	f, ok := decodeFrame(text)
	if !ok || len(f.Body) > 0 && !w.trusted && !json.Valid(f.Body) {
		return nil, errInvalidFrame
	}
	return f, nil
}

// decodeFrame decodes a frame without its leading length.
func decodeFrame(b []byte) (f *Frame, ok bool) {
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

// errInvalidFrame is returned for data that is not a valid frame.
var errInvalidFrame = errors.New("invalid frame")

// TooLong is the error for a frame that is longer than MaxFrame; its value is the length in
// bytes.
type TooLong int

func (n TooLong) Error() string {
	return fmt.Sprintf("cannot pass a value of %d MiB to or from a script: the limit is %d MiB", (n+1<<20-1)>>20, MaxFrame>>20)
}
