package console

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

func TestPrefixer(t *testing.T) {
	type write struct{ step, text string }
	for _, c := range []struct {
		name   string
		steps  []string
		o      PrefixOptions
		writes []write
		want   string // after Flush
	}{
		{"whole lines", []string{"a", "long"}, PrefixOptions{}, []write{{"a", "one\ntwo\n"}, {"long", "three\n"}}, "a    | one\na    | two\nlong | three\n"},
		{"partial lines wait", []string{"a", "b"}, PrefixOptions{}, []write{{"a", "on"}, {"b", "x\ny"}, {"a", "e\n"}}, "b | x\na | one\nb | y\n"},
		{"empty lines", []string{"a"}, PrefixOptions{}, []write{{"a", "\n\n"}, {"a", ""}}, "a | \na | \n"},
		{"steps that come up late", []string{"a"}, PrefixOptions{}, []write{{"a", "1\n"}, {"inner/b", "2\n"}, {"a", "3\n"}}, "a | 1\ninner/b | 2\na       | 3\n"},
		{"long names stand as they are", []string{"a", strings.Repeat("n", 40)}, PrefixOptions{}, []write{{"a", "1\n"}, {strings.Repeat("n", 40), "2\n"}}, "a | 1\n" + strings.Repeat("n", 40) + " | 2\n"},
		{"wide names", []string{"手順", "abcde"}, PrefixOptions{}, []write{{"手順", "1\n"}}, "手順  | 1\n"},
		{"a name is cleaned", nil, PrefixOptions{}, []write{{"t[\x1b[2J]", "1\n"}}, "t[\uFFFD[2J] | 1\n"},
		{"raw bytes in a pipe", nil, PrefixOptions{}, []write{{"a", "\x1b[31mred\x1b[0m\xff\x00\r\n"}}, "a | \x1b[31mred\x1b[0m\xff\x00\r\n"},
		{"clean on a terminal", nil, PrefixOptions{Terminal: true}, []write{{"a", "\x1b[1;31mred\x1b[0m \x1b[2J\x07\xff\ttab\r\n50%\r100%\n"}}, "a | red \uFFFD\uFFFD tab\na | 100%\n"},
		{"colours", []string{"a", "b"}, PrefixOptions{Color: true}, []write{{"a", "1\n"}, {"b", "2\n"}, {"a", "3\n"}}, "\x1b[36ma\x1b[0m | 1\n\x1b[33mb\x1b[0m | 2\n\x1b[36ma\x1b[0m | 3\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			p := NewPrefixer(&b, c.steps, c.o)
			for _, w := range c.writes {
				if n, err := p.Step(w.step).Write([]byte(w.text)); n != len(w.text) || err != nil {
					t.Errorf("%d bytes of %d: %v", n, len(w.text), err)
				}
			}
			if err := p.Flush(); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != c.want {
				t.Errorf("got:\n%q\nwant:\n%q", got, c.want)
			}
		})
	}
}

// TestPrefixerLongLine checks that an endless line is split, is never stored as a whole, and
// that no character is split.
func TestPrefixerLongLine(t *testing.T) {
	for _, char := range []string{"x", "é", "手", "\xbf"} {
		for _, size := range []int{1, 1000, maxLine, maxLine + 1, 3*maxLine + 7} {
			t.Run(fmt.Sprintf("%q in pieces of %d", char, size), func(t *testing.T) {
				var b bytes.Buffer
				p := NewPrefixer(&b, nil, PrefixOptions{})
				text := strings.Repeat(char, 140_000/len(char))
				step := p.Step("a")
				for rest := text; rest != ""; {
					n := min(size, len(rest))
					if _, err := step.Write([]byte(rest[:n])); err != nil {
						t.Fatal(err)
					}
					if held := len(step.(*stepWriter).partial); held > maxLine {
						t.Fatalf("%d bytes are held back", held)
					}
					rest = rest[n:]
				}
				if b.Len() < 2*maxLine {
					t.Errorf("only %d bytes were passed on", b.Len())
				}
				if _, err := step.Write([]byte("\n")); err != nil {
					t.Fatal(err)
				}
				var joined strings.Builder
				for l := range strings.Lines(b.String()) {
					l = strings.TrimSuffix(strings.TrimPrefix(l, "a | "), "\n")
					if len(l) > maxLine || utf8.ValidString(char) && !utf8.ValidString(l) || l == "" {
						t.Errorf("a line of %d bytes: %.20q", len(l), l)
					}
					joined.WriteString(l)
				}
				if joined.String() != text {
					t.Error("the lines do not make up the text")
				}
			})
		}
	}
}

func TestPrefixerBrokenWriter(t *testing.T) {
	w := &broken{left: 1}
	p := NewPrefixer(w, nil, PrefixOptions{})
	if _, err := p.Step("a").Write([]byte("1\n")); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"a", "b"} {
		if n, err := p.Step(step).Write([]byte("2\n")); n != 0 || !errors.Is(err, errFull) {
			t.Errorf("%d, %v", n, err)
		}
	}
	if err := p.Flush(); !errors.Is(err, errFull) || w.got.String() != "a | 1\n" {
		t.Errorf("%v, %q", err, w.got.String())
	}
}

// TestPrefixerTogether checks that lines of concurrent steps are not mixed.
func TestPrefixerTogether(t *testing.T) {
	var b bytes.Buffer
	p := NewPrefixer(&b, nil, PrefixOptions{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 200 {
				w := p.Step(fmt.Sprintf("s%d", i))
				fmt.Fprintf(w, "from s%d ", i)
				fmt.Fprintf(w, "number %d\n", n)
			}
		})
	}
	all.Wait()
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	next := map[string]int{}
	for l := range strings.Lines(b.String()) {
		var step, from string
		var n int
		if _, err := fmt.Sscanf(l, "%s | from %s number %d\n", &step, &from, &n); err != nil || step != from || n != next[step] {
			t.Fatalf("a broken line: %q: %v", l, err)
		}
		next[step]++
	}
	if len(next) != 8 || next["s7"] != 200 {
		t.Errorf("got %v", next)
	}
}
