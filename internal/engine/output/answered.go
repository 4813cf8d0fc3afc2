package output

import (
	"fmt"
	"io"
	"os"

	"github.com/flowrun/flowrun/internal/engine/terminal"
)

// answered is what a terminal printed after the last answer.
type answered struct {
	at   int64  // offset in the log file
	size int64  // bytes before masking
	raw  []byte // start of it, with secrets; never leaves memory
}

// endAnswer notes that an answer ends here.
func (p *pipe) endAnswer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.split {
		p.noteAnswerEnd()
	}
}

// noteAnswerEnd notes that an answer ends here. The lock is held.
func (p *pipe) noteAnswerEnd() {
	if p.err != nil {
		return
	}
	if p.err = p.mask.Flush(); p.err != nil {
		return
	}
	info, err := p.file.Stat()
	if err != nil {
		p.err = err
		return
	}
	p.maskedBefore = p.maskedBefore || p.mask.Masked()
	p.mask = p.newMask()
	p.answered = &answered{at: info.Size()}
}

// splitAnswered moves what was printed before the end of the last answer to the end of another file.
// If no answer was typed, nothing moves. Output that still comes is added to the rest.
func (p *pipe) splitAnswered(to *os.File) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.split = true
	if shown, ok := p.from.(*terminal.TTY); ok && shown.AnswerOpen() {
		p.noteAnswerEnd()
	}
	if p.answered == nil || p.err != nil {
		return nil
	}
	if _, err := io.Copy(to, io.NewSectionReader(p.file, 0, p.answered.at)); err != nil {
		return fmt.Errorf("cannot write a log file: %w", err)
	}
	if err := removeHead(p.file, p.answered.at); err != nil {
		return fmt.Errorf("cannot write a log file: %w", err)
	}
	p.size, p.raw, p.maskedBefore = p.answered.size, p.answered.raw, false
	p.answered = nil
	return nil
}

// SplitAnswered keeps what precedes the end of the last answer on a terminal in another stream. A relay
// that has not read everything yet needs the whole file; then nothing moves.
func (st *Stream) SplitAnswered(to *Stream) error {
	if st.relay != nil && !st.relay.finished() {
		return nil
	}
	return st.pipe.splitAnswered(to.file.File)
}

// removeHead removes the first n bytes of a file that is open for appending.
func removeHead(f *logFile, n int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w, err := overwrite(f)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := io.Copy(w, io.NewSectionReader(f, n, info.Size()-n)); err != nil {
		return err
	}
	return f.Truncate(info.Size() - n)
}
