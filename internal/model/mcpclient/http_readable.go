package mcpclient

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// messageBody is a body with one message, or a list of messages, that is changed by readable.
type messageBody struct {
	io.ReadCloser
	changed *bytes.Reader // nil until the first Read
	err     error         // of the body
}

// Read implements io.Reader.
func (b *messageBody) Read(p []byte) (int, error) {
	if b.changed == nil {
		text, err := io.ReadAll(b.ReadCloser)
		b.changed, b.err = bytes.NewReader(readable(text)), err
	}
	n, err := b.changed.Read(p)
	if errors.Is(err, io.EOF) && b.err != nil {
		err = b.err
	}
	return n, err
}

// eventsBody is a body of server-sent events whose messages are changed by readable. An event is passed on when all of it has
// been received, which is when it has a meaning; what is larger than maxMessage is passed on as it is.
type eventsBody struct {
	io.Closer
	in  *bufio.Reader
	out []byte // what Read returns next
	err error  // what Read returns after it
}

// Read implements io.Reader.
func (b *eventsBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.out, b.err = b.next()
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// next reads one event with the empty line after it.
func (b *eventsBody) next() (event []byte, err error) {
	for start := 0; ; {
		part, err := b.in.ReadSlice('\n')
		event = append(event, part...)
		switch {
		case len(event) > maxMessage:
			if errors.Is(err, bufio.ErrBufferFull) {
				err = nil
			}
			return event, err
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil, len(bytes.TrimRight(event[start:], "\r\n")) == 0:
			return readableEvent(event), err
		}
		start = len(event)
	}
}

// readableEvent returns an event with its message changed by readable.
func readableEvent(event []byte) []byte {
	var others, message []byte
	for line := range bytes.Lines(event) {
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		if !isData {
			others = append(others, line...)
			continue
		}
		if message != nil {
			message = append(message, '\n')
		}
		message = append(message, bytes.TrimRight(bytes.TrimPrefix(data, []byte(" ")), "\r\n")...)
	}
	if changed := readable(message); message != nil && !bytes.Equal(changed, message) {
		return append(append([]byte("data: "), changed...), append([]byte("\n"), others...)...)
	}
	return event
}
