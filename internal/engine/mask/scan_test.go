package mask

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// naive hides secrets the slow way: it tries to match at every byte.
func naive(m *Mask, text string) string {
	p := m.set.Load()
	if p == nil {
		return text
	}
	var out strings.Builder
	covered := 0
	for i := range len(text) {
		if n := p.matchFinal([]byte(text[i:])); n > 0 {
			if covered <= i {
				out.WriteString(Replacement)
			}
			covered = max(covered, i+n)
		}
		if i >= covered {
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

// inPieces masks text in pieces of random sizes, all with the fast search.
func inPieces(m *Mask, text string, random *rand.Rand) string {
	var out bytes.Buffer
	w := m.Writer(&out)
	for rest := text; rest != ""; {
		n := min(1+random.IntN(2*minScan+random.IntN(len(text)+1)), len(rest))
		io.WriteString(w, rest[:n])
		rest = rest[n:]
	}
	w.Flush()
	return out.String()
}

// FuzzScan compares the fast search with the naive one: in texts of few different bytes, of parts of secrets in all
// their forms, and with line ends anywhere.
func FuzzScan(f *testing.F) {
	f.Add("a-secret-that-is-long", "another-secret", "plain text ", uint64(1))
	f.Add("aaaa", "aaab", "aaa\n", uint64(2))
	f.Add("it's \"me\" & you", "two\nlines of text", "\r\n", uint64(3))
	f.Add("hunter2-hunter2-hunter2-hunter2", "\xff\xfe\xfd\xfc\xfb", "=+/", uint64(4))
	f.Fuzz(func(t *testing.T, a, b, filler string, seed uint64) {
		if len(a)+len(b)+len(filler) > 300 {
			return
		}
		var m Mask
		m.Add(a, b)
		p := m.set.Load()
		if p == nil {
			return
		}
		random := rand.New(rand.NewPCG(seed, 0))
		text := mixture(p, filler, random)
		want := naive(&m, text)
		for range 4 {
			if got := inPieces(&m, text, random); got != want {
				t.Fatalf("secrets %q, text %q: %q, want %q", []string{a, b}, text, got, want)
			}
		}
		missed(t, p, []byte(text))
	})
}

// mixture returns a text of some thousand bytes in which parts of secrets are frequent.
func mixture(p *patterns, filler string, random *rand.Rand) string {
	var all []form
	for _, list := range p.byFirstByte {
		all = append(all, list...)
	}
	var text strings.Builder
	for text.Len() < 3*minScan {
		switch f := all[random.IntN(len(all))]; random.IntN(4) {
		case 0:
			text.WriteString(filler)
		case 1: // a part
			from := random.IntN(len(f.text))
			text.WriteString(f.text[from : from+random.IntN(len(f.text)-from+1)])
		case 2: // with line ends
			for i := range len(f.text) {
				text.WriteByte(f.text[i])
				if random.IntN(8) == 0 {
					text.WriteString([]string{"\n", "\r\n", "\n\n", "\r"}[random.IntN(4)])
				}
			}
		case 3:
			fmt.Fprintf(&text, "%x", random.Uint32())
		}
	}
	return text.String()
}

// missed checks that every match starts at a candidate.
func missed(t *testing.T, p *patterns, data []byte) {
	c := p.candidates(data)
	if c.scanner == nil {
		t.Fatal("the text is too short for a scanner")
	}
	next := c.next(0)
	for i := range data {
		if next < i {
			next = c.next(i)
		}
		if n, sure := p.match(data[i:]); next != i && (n > 0 || !sure) {
			t.Fatalf("%q at %d is not a candidate in %q", data[i:i+min(n, 40)], i, data)
		}
	}
}

// BenchmarkLog masks lines of a log that have none of the secrets.
func BenchmarkLog(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the quick brown fox error info request handled in ms GET POST /api/v1/users 200 404 id= connection to database closed")
	var log bytes.Buffer
	for log.Len() < 64<<10 {
		fmt.Fprintf(&log, "2026-11-23T12:00:%02d INFO", random.IntN(60))
		for range 5 + random.IntN(15) {
			log.WriteString(" " + words[random.IntN(len(words))])
		}
		fmt.Fprintf(&log, " %08x\n", random.Uint32())
	}
	chunk := log.Bytes()[:64<<10]
	secrets := []string{"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "sk-proj-abcdef123456", "hunter2-hunter2", "xoxb-1234-5678-abcdefgh", "AKIAIOSFODNN7EXAMPLE"}
	for _, n := range []int{1, 2, 5} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var m Mask
			m.Add(secrets[:n]...)
			b.SetBytes(int64(len(chunk)))
			w := m.Writer(discard{})
			for b.Loop() {
				w.Write(chunk)
			}
		})
	}
}
