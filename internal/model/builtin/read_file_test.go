package builtin

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func utf16Text(s string, mark string, high bool) string {
	b := []byte(mark)
	for _, u := range utf16.Encode([]rune(s)) {
		if high {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

func TestReadFile(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	d := newDesk(t, map[string]string{
		"small": "one\ntwo\n", "open": "one\ntwo", "empty": "", "dos": "one\r\ntwo\r\n", "long": numbered(1, 5000),
		"wide": strings.Repeat("ä", 2500) + "\nnext\n", "full": strings.Repeat("x", 2000) + "\n",
		"mark": "\xef\xbb\xbfone\n", "low": utf16Text("grüß\n𝄞", "\xff\xfe", false), "high": utf16Text("grüß\n", "\xfe\xff", true),
		"half": "\xff\xfea\x00b", "latin": "gr\xfc\xdf\n", "elf": "\x7fELF\x02\x01\x00\x00", "pic.png": png, "doc.pdf": "%PDF-1.7\n", "BM.txt": "BMW is a car\n",
		"sound": "fLaC\x00\x00", "late": strings.Repeat("text\n", 4000) + "\xff\n", "edge": strings.Repeat("a", headSize-1) + "ä\n",
		"link": "-> small", "full-link": "-> WS/small", "far": "-> OUT/canary", "dir/": "",
	})
	for _, c := range []struct {
		name          string
		offset, limit int // 0: not given
		want          string
	}{
		{"small", 0, 0, "one\ntwo\n"},
		{"open", 0, 0, "one\ntwo"},
		{"empty", 0, 0, ""},
		{"dos", 0, 0, "one\r\ntwo\r\n"},
		{"small", 1, 0, "[This is not the whole file, only lines 2 to 2 of 2.]\ntwo\n"},
		{"small", 0, 1, "[This is not the whole file, only lines 1 to 1 of 2. To continue, use offset 1.]\none\n"},
		{"small", 0, 2, "one\ntwo\n"},
		{"long", 0, 0, "[This is not the whole file, only lines 1 to 2000 of 5000. To continue, use offset 2000.]\n" + numbered(1, 2000)},
		{"long", 4000, 0, "[This is not the whole file, only lines 4001 to 5000 of 5000.]\n" + numbered(4001, 5000)},
		{"long", 4998, 1, "[This is not the whole file, only lines 4999 to 4999 of 5000. To continue, use offset 4999.]\nline 4999\n"},
		{"long", 0, 5000, numbered(1, 5000)},
		{"long", 5000, 0, `error: "WS/long" has 5000 lines, so offset 5000 is past its end; the first line has offset 0`},
		{"wide", 0, 0, "[This is not the whole file, only lines 1 to 2 of 2. 1 line was cut after 2000 characters.]\n" + strings.Repeat("ä", 2000) + "... [line cut]\nnext\n"},
		{"full", 0, 0, strings.Repeat("x", 2000) + "\n"},
		{"mark", 0, 0, "one\n"},
		{"low", 0, 0, "grüß\n𝄞"},
		{"high", 0, 0, "grüß\n"},
		{"half", 0, 0, "a\uFFFD"},
		{"latin", 0, 0, `error: "WS/latin" is a binary file (application/octet-stream, 5 bytes) that read_file cannot read; use a program that supports its format`},
		{"elf", 0, 0, `error: "WS/elf" is a binary file (application/octet-stream, 8 bytes) that read_file cannot read; use a program that supports its format`},
		{"pic.png", 0, 0, "[image/png, 16 bytes]\n"},
		{"doc.pdf", 0, 0, "[application/pdf, 9 bytes]\n"},
		{"sound", 0, 0, "[audio/flac, 6 bytes]\n"},
		{"BM.txt", 0, 0, "BMW is a car\n"},
		{"late", 3999, 2, "[This is not the whole file, only lines 4000 to 4001 of 4001.]\ntext\n\uFFFD\n"},
		{"edge", 1, 0, "error"},
		{"link", 0, 0, "one\ntwo\n"},
		{"full-link", 0, 0, "one\ntwo\n"},
		{"dir", 0, 0, `error: "WS/dir" is a folder; to see its content, use list_directory`},
		{"none", 0, 0, `error: "WS/none": no such file or directory; list_directory and glob show what exists`},
	} {
		params := []any{"absolute_path", "WS/" + c.name}
		if c.offset > 0 {
			params = append(params, "offset", c.offset)
		}
		if c.limit > 0 {
			params = append(params, "limit", int64(c.limit))
		}
		got := d.call("read_file", params...)
		if c.want == "error" {
			has(t, c.name, got, "error: ", "1 line")
			continue
		}
		same(t, fmt.Sprintf("%s %d %d", c.name, c.offset, c.limit), got, c.want)
	}
	has(t, "a link that leads out", d.call("read_file", "absolute_path", "WS/far"), "outside the folders", "a link to", "WS; ", "setting roots")
}

// TestReadMedia: data goes to the model as it is, up to a size.
func TestReadMedia(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	d := newDesk(t, map[string]string{"a.png": png})
	c, err := d.content("read_file", "absolute_path", "WS/a.png")
	if err != nil || len(c.Parts) != 1 || c.Parts[0].MIME != "image/png" || string(c.Parts[0].Data) != png {
		t.Errorf("%v, %v", c, err)
	}
	has(t, "shown to a person", fmt.Sprint(c.Display), "a.png (image/png, 16 bytes)")
	if err := os.Truncate(filepath.Join(d.ws, "a.png"), maxMedia+1); err != nil {
		t.Fatal(err)
	}
	has(t, "too large", d.call("read_file", "absolute_path", "WS/a.png"), "image/png", "is 20 MB large; the limit is 20 MB")
}

// TestReadHuge: a range of a file of many gigabytes (a sparse one) is read by streaming,
// and a single line without an end is cut.
func TestReadHuge(t *testing.T) {
	d := newDesk(t, map[string]string{"log": numbered(1, 3000)})
	path := filepath.Join(d.ws, "log")
	if err := os.Truncate(path, 10<<30); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	got := d.call("read_file", "absolute_path", "WS/log", "offset", 1000, "limit", 2)
	has(t, "range", got, "lines 1001 to 1002 of more", "To continue, use offset 1002", "line 1001\nline 1002\n")
	if len(got) > 200 {
		t.Errorf("%d bytes", len(got))
	}
}

// TestTakeBounds: an answer is bounded, whatever range is asked for.
func TestTakeBounds(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 999)+"\n", 10_000)
	e, err := take(bufio.NewReader(strings.NewReader(text)), 0, 1_000_000, maxText)
	if err != nil || len(e.text) > maxText+maxChars || e.total != 10_000 || e.count >= e.total {
		t.Errorf("%d bytes, %d of %d lines, %v", len(e.text), e.count, e.total, err)
	}
	has(t, "note", e.note(), fmt.Sprintf("To continue, use offset %d.", e.count))
}

// FuzzRead: reading any bytes as text ends, and gives valid UTF-8 in bounds.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "a", "a\r\nb", "\r", "\xff\xfe", "\xff\xfea", "\xfe\xff\xd8\x00", "\xef\xbb\xbf\n", "\x00", "\n\n\r\r\n"} {
		f.Add([]byte(s), 0)
	}
	f.Fuzz(func(t *testing.T, b []byte, from int) {
		s, err := read(t.Context(), bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if from %= 10; !s.text || from < 0 {
			return
		}
		e, err := take(s.r, from, 5, 1000)
		if err != nil || e.count > 5 || strings.ToValidUTF8(e.text, "") != e.text {
			t.Errorf("%q: %+v, %v", b, e, err)
		}
		if from == 0 && e.whole() && s.encoding == plainText && bytes.IndexByte(b, 0xff) < 0 && len(b) < headSize && e.text != strings.ToValidUTF8(string(b), "\uFFFD") {
			t.Errorf("%q became %q", b, e.text)
		}
	})
}
