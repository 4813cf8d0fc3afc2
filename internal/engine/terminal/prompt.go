package terminal

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
)

// Prompt is what an interactive step shows when it seems to wait for input.
type Prompt struct {
	Step dag.ID
	// Text is the end of what the step has printed and of what was typed, with secrets masked. It
	// may contain control characters.
	Text string
}

// maxPrompt is how much of what a step printed a Prompt has, in bytes.
const maxPrompt = 2 << 10

// transcript keeps the end of what an interactive step has printed.
type transcript struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (s *transcript) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, b...)
	if extra := len(s.text) - maxPrompt; extra > maxPrompt { // seldom, because it copies
		s.text = append(s.text[:0], s.text[extra:]...)
	}
	return len(b), nil
}

// String returns the last lines.
func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := bytes.ToValidUTF8(s.text[max(0, len(s.text)-maxPrompt):], []byte("\uFFFD"))
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// checkTyped returns an error if a text must not be typed into a terminal.
func checkTyped(text string) error {
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == 0x7f }); i >= 0 {
		return fmt.Errorf("it contains the control character %q, which a terminal would execute", text[i])
	}
	return nil
}

// prompt asks Options.Prompt for a line and types it. It returns false if nobody answers, if the step has
// printed nothing that could be a question, and if it reads a password: nothing says that the programs
// through which the answer is sent keep it secret.
func (a *responder) prompt(ctx context.Context) bool {
	canonical, echo := a.tty.inputModes()
	if a.transcript == nil || canonical && !echo {
		return false
	}
	text := a.transcript.String()
	if text == "" {
		return false
	}
	if limit := a.Interactive.Timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	line, err := a.desk.Prompt(ctx, Prompt{Step: a.step, Text: text})
	if err == nil {
		err = checkTyped(line)
	}
	if err != nil {
		a.transcript = nil // nobody answers; do not ask again
		return false
	}
	a.tty.typeIn([]byte(line + "\n"))
	return true
}

// betweenLines reports whether the step has printed whole lines only. It then probably does not wait for
// input: most programs write a question and leave the cursor behind it.
func (a *responder) betweenLines() bool {
	return a.transcript != nil && strings.HasSuffix(a.transcript.String(), "\n")
}
