package console

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// logTail is the last lines of what a step has printed so far, read from its log files as
// they grow.
type logTail struct {
	path    string // the step's, with tries
	attempt int
	sizes   []int64
	lines   []string // cleaned, oldest first
}

const (
	// tailBytes are read of the end of a log.
	tailBytes = 4 << 10
	// tailLines are kept of it.
	tailLines = 5
)

// look reads what is new. Files that are not there yet hold nothing. Of the streams
// that have grown the last one is shown.
func (t *logTail) look(logs func() []string, path string, attempt int) {
	if t.path != path || t.attempt != attempt {
		*t = logTail{path: path, attempt: attempt}
	}
	for i, file := range logs() {
		if i == len(t.sizes) {
			t.sizes = append(t.sizes, 0)
		}
		info, err := os.Lstat(file)
		if err != nil || !info.Mode().IsRegular() || info.Size() == t.sizes[i] {
			continue
		}
		if lines := readTail(file, info.Size()); lines != nil {
			t.sizes[i], t.lines = info.Size(), lines
		}
	}
}

func readTail(file string, size int64) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	buf := make([]byte, tailBytes)
	n, err := f.ReadAt(buf, max(size-tailBytes, 0))
	if err != nil && err != io.EOF {
		return nil
	}
	return lastLines(string(buf[:n]), size > tailBytes)
}

// lastLines are the last lines of a text that say something, each as a terminal would
// leave it: what a carriage return sends back to is written over. A first line may
// have been cut in two.
func lastLines(text string, broken bool) []string {
	lines := strings.Split(strings.ToValidUTF8(text, "\uFFFD"), "\n")
	if broken && len(lines) > 1 {
		lines = lines[1:]
	}
	found := []string{}
	for _, line := range slices.Backward(lines) {
		line = strings.TrimRight(line, "\r")
		if at := strings.LastIndexByte(line, '\r'); at >= 0 {
			line = line[at+1:]
		}
		if line = strings.TrimRight(Sanitize(line), " "); line == "" {
			continue
		}
		if found = append(found, line); len(found) == tailLines {
			break
		}
	}
	slices.Reverse(found)
	return found
}

// sequences are escape sequences whole: CSI, the strings of OSC and its like, and
// those of two characters.
var sequences = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-Z\\\\^-~]")
})

// Sanitize is a line of a step's output without its escape sequences, and cleaned of
// what else could do something on a terminal.
func Sanitize(s string) string {
	if strings.IndexByte(s, '\x1b') >= 0 {
		s = sequences().ReplaceAllString(s, "")
	}
	return Clean(s)
}
