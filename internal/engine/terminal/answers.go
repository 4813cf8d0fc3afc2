package terminal

import (
	"bytes"
	"sync"
)

// answers finds out where the output of a terminal continues after the last answer, so that questions
// and the echo of what was typed stay out of the output of a step. typed is called before something is
// typed, and end for all output.
//
// The echo of a line ends with its newline. A program that reads without echo, such as for a
// password, usually prints that newline itself, so one newline directly after such an answer belongs
// to the answer too.
type answers struct {
	mu     sync.Mutex
	lines  int  // typed lines whose echo has not ended
	keys   int  // typed keys whose echo has not come, for programs that read single keys
	unseen bool // an answer without echo was typed, and nothing printed since
}

// typed records what is typed. canonical says that the program reads lines, and echo that the
// terminal shows what is typed.
func (a *answers) typed(b []byte, canonical, echo bool) {
	const endOfText = 4 // ^D
	a.mu.Lock()
	defer a.mu.Unlock()
	lines := bytes.Count(b, []byte("\r")) + bytes.Count(b, []byte("\n"))
	switch {
	case canonical && echo && lines > 0:
		a.lines += lines
	case canonical && (lines > 0 || bytes.IndexByte(b, endOfText) >= 0):
		a.unseen = true
	case !canonical && echo:
		a.keys += len(b)
	case !canonical:
		a.unseen = true
	}
}

// end returns the offset in the next piece of output at which the last answer ends, or -1 if none
// ends there.
func (a *answers) end(b []byte) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	end := -1
	for i, c := range b {
		switch {
		case a.lines > 0:
			if c == '\n' {
				a.lines--
				end = i + 1
			}
		case a.keys > 0:
			a.keys--
			a.unseen = a.keys == 0
		case a.unseen && c != '\r':
			a.unseen = false
			if end = i; c == '\n' {
				end++
			}
		}
	}
	return end
}

// open reports whether an answer was typed after which nothing was printed.
func (a *answers) open() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lines > 0 || a.keys > 0 || a.unseen
}
