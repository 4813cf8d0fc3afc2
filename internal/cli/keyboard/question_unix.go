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

// sitting is the terminal in the hands of a person who is asked: lines, as the terminal
// edits them. Until leave, the view makes room, and no step gets the keys.
type Prompt struct {
	keys *Keyboard
	Out  io.Writer
}

// Prompt waits for the terminal to be free.
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

// Close gives the terminal back, to the view and to steps.
func (s *Prompt) Close() {
	s.keys.mu.Lock()
	if s.keys.view != nil {
		s.keys.view.Resume()
	}
	s.keys.mu.Unlock()
	<-s.keys.lock
}

// DiscardInput forgets what was typed before a question.
func (s *Prompt) DiscardInput() { ui.DiscardTyped(s.keys.in) }

// ReadLine is the next line that is typed; the error is io.EOF, or that of ctx.
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
		_, err := s.keys.keys(wake, b)
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
