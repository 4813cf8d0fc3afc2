//go:build unix

package keyboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Prompt is the terminal while a person is asked. The person types lines, which the terminal edits.
// Until Close, the live view is suspended and no step gets keys.
type Prompt struct {
	keyboard *Keyboard
	Out      io.Writer
}

// Prompt waits until the terminal is free and takes it. The error is that of ctx, or says that
// flowrun runs in the background.
func (k *Keyboard) Prompt(ctx context.Context) (*Prompt, error) {
	select {
	case k.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := k.inForeground(); err != nil {
		<-k.lock
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.view != nil {
		k.view.Suspend()
	}
	return &Prompt{k, k.display}, nil
}

// Close gives the terminal back to the live view and to steps.
func (s *Prompt) Close() {
	s.keyboard.mu.Lock()
	if s.keyboard.view != nil {
		s.keyboard.view.Resume()
	}
	s.keyboard.mu.Unlock()
	<-s.keyboard.lock
}

// DiscardInput discards what was typed before the question.
func (s *Prompt) DiscardInput() { ui.DiscardTyped(s.keyboard.in) }

// ReadLine returns the next line that is typed. The error is io.EOF at the end of the input, or
// that of ctx.
func (s *Prompt) ReadLine(ctx context.Context) (string, error) {
	wake, waker, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("cannot create a pipe: %w", err)
	}
	defer wake.Close()
	stop := context.AfterFunc(ctx, func() { waker.Close() })
	defer func() {
		if stop() {
			waker.Close()
		}
	}()
	var line []byte
	b := make([]byte, 1)
	for {
		_, err := s.keyboard.readKeys(wake, b)
		switch {
		case errors.Is(err, os.ErrClosed):
			fmt.Fprintln(s.Out)
			return "", ctx.Err()
		case errors.Is(err, io.EOF) && len(line) > 0, err == nil && b[0] == '\n':
			return string(line), nil
		case err != nil:
			return "", err
		}
		line = append(line, b[0])
	}
}
