package builtin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// headSize is how many bytes of a file decide its kind.
const headSize = 8 << 10

// kind is the kind of a file's content.
type kind struct {
	text     bool
	encoding encoding // of a text
	mime     string   // if it is not text
}

type encoding string

const (
	plainText encoding = "UTF-8"
	utf8BOM   encoding = "UTF-8 with a byte order mark"
	utf16Low  encoding = "UTF-16LE"
	utf16High encoding = "UTF-16BE"
)

// byteMarks are the byte order marks at the beginning of a text that declare its encoding.
var byteMarks = []struct {
	mark string
	of   encoding
}{{"\xef\xbb\xbf", utf8BOM}, {"\xff\xfe", utf16Low}, {"\xfe\xff", utf16High}}

// kindOf returns the kind of a file that starts with head. Text is UTF-8 without NUL bytes, or starts with a byte
// order mark.
func kindOf(head []byte) kind {
	for _, m := range byteMarks {
		if bytes.HasPrefix(head, []byte(m.mark)) && !(m.of == utf16Low && bytes.HasPrefix(head[2:], []byte{0, 0})) {
			return kind{text: true, encoding: m.of}
		}
	}
	mime := mediaType(head)
	if mime != "application/pdf" && bytes.IndexByte(head, 0) < 0 && utf8.Valid(wholeRunes(head)) {
		return kind{text: true, encoding: plainText}
	}
	return kind{mime: mime}
}

// wholeRunes removes an incomplete character at the end of a text.
func wholeRunes(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// mediaType returns the media type of content that is not text.
func mediaType(head []byte) string {
	mime, _, _ := strings.Cut(http.DetectContentType(head), ";")
	switch {
	case mime == "application/ogg":
		return "audio/ogg"
	case bytes.HasPrefix(head, []byte("fLaC")):
		return "audio/flac"
	case len(head) > 2 && head[0] == 0xff && (head[1] == 0xfb || head[1] == 0xf3 || head[1] == 0xf2):
		return "audio/mpeg"
	case strings.HasPrefix(mime, "text/"):
		return "application/octet-stream"
	}
	return mime
}

// shown reports whether models accept data of this type directly.
func shown(mime string) bool {
	group, _, _ := strings.Cut(mime, "/")
	return group == "image" || group == "audio" || group == "video" || mime == "application/pdf"
}

// source is a file that is read from its beginning.
type source struct {
	kind
	r *bufio.Reader // of a text: UTF-8 without a byte order mark
}

// read detects the kind of a file and returns a reader for its content. Reading fails once ctx is done.
func read(ctx context.Context, r io.Reader) (*source, error) {
	b := bufio.NewReaderSize(&contextReader{ctx, r}, 64<<10)
	head, err := b.Peek(headSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	s := &source{kind: kindOf(head), r: b}
	switch s.encoding {
	case utf8BOM:
		_, err = b.Discard(3)
	case utf16Low, utf16High:
		_, err = b.Discard(2)
		order := binary.ByteOrder(binary.LittleEndian)
		if s.encoding == utf16High {
			order = binary.BigEndian
		}
		s.r = bufio.NewReaderSize(&fromUTF16{r: b, order: order}, 64<<10)
	default:
		err = nil
	}
	return s, err
}

// contextReader is a reader that fails once its context is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (u *contextReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// fromUTF16 converts UTF-16 to UTF-8.
type fromUTF16 struct {
	r       *bufio.Reader
	order   binary.ByteOrder
	pending []byte
}

func (u *fromUTF16) Read(p []byte) (int, error) {
	for len(u.pending) < min(len(p), 4096) {
		c, err := u.unit()
		if err != nil {
			if len(u.pending) > 0 {
				break
			}
			return 0, err
		}
		if utf16.IsSurrogate(c) {
			next, err := u.r.Peek(2)
			pair := rune(utf8.RuneError)
			if err == nil {
				pair = utf16.DecodeRune(c, rune(u.order.Uint16(next)))
			}
			if c = pair; pair != utf8.RuneError {
				_, _ = u.r.Discard(2) // cannot fail: the bytes were peeked
			}
		}
		u.pending = utf8.AppendRune(u.pending, c)
	}
	n := copy(p, u.pending)
	u.pending = append(u.pending[:0], u.pending[n:]...)
	return n, nil
}

// unit reads the next 16 bits. A single byte at the end is an invalid character.
func (u *fromUTF16) unit() (rune, error) {
	var b [2]byte
	n, err := io.ReadFull(u.r, b[:])
	if n == 1 {
		return utf8.RuneError, nil
	}
	return rune(u.order.Uint16(b[:])), err
}
