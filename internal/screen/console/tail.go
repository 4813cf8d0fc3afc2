package console

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// logTail holds the last lines that a step has printed so far, read from its growing log files.
type logTail struct {
	path    string // path of the step
	attempt int
	sizes   []int64
	lines   []string // cleaned, oldest first
}

const (
	// tailBytes is how many bytes are read from the end of a log.
	tailBytes = 4 << 10
	// tailLines is how many lines of them are kept.
	tailLines = 5
)

// read reads new output. Files that do not exist yet are skipped. If several streams have grown,
// the last one is shown.
func (t *logTail) read(logs func() []string, path string, attempt int) {
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

// OutputLine returns a line of a program's output as a terminal would show it, without what Sanitize
// removes: a carriage return at its end is part of the line end, and text before another one is overwritten.
func OutputLine(line string) string {
	line = strings.TrimRight(line, "\r\n")
	return Sanitize(line[strings.LastIndexByte(line, '\r')+1:])
}

// lastLines returns the last non-empty lines of a text, each as OutputLine returns it. broken reports that the first line may be incomplete.
func lastLines(text string, broken bool) []string {
	lines := strings.Split(strings.ToValidUTF8(text, "\uFFFD"), "\n")
	if broken && len(lines) > 1 {
		lines = lines[1:]
	}
	found := []string{}
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimRight(OutputLine(line), " "); line == "" {
			continue
		}
		if found = append(found, line); len(found) == tailLines {
			break
		}
	}
	slices.Reverse(found)
	return found
}

// sequences matches whole escape sequences: CSI, OSC and other strings, and sequences of two
// characters.
var sequences = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-Z\\\\^-~]")
})

// Sanitize returns a line of a step's output without escape sequences and, like Clean, without
// other characters that a terminal would act on.
func Sanitize(s string) string {
	if strings.IndexByte(s, '\x1b') >= 0 {
		s = sequences().ReplaceAllString(s, "")
	}
	return Clean(s)
}
