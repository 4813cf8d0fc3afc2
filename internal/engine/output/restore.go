package output

import (
	"crypto/sha256"
	"fmt"
	"os"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// ErrLost is why the output of an earlier step cannot be read again, if it is not dag.ErrWithheld.
var ErrLost error = lostError{}

// lostError is a type so that the package does nothing before main.
type lostError struct{}

func (lostError) Error() string { return "its original text is no longer available" }

// Restore sets the Raw of an Output that was read from a journal to exactly the bytes that
// references got from the step. limit is how many bytes they could read. A nil Output, of a step that
// printed nothing, needs nothing. If Restore fails, Raw is unchanged and the error wraps
// dag.ErrWithheld or ErrLost: the output is available only after its step has run again.
func Restore(o *dag.Output, limit int64) error {
	if o == nil {
		return nil
	}
	raw, err := storedOutput(o, limit)
	if err != nil {
		return fmt.Errorf("cannot read the output of an earlier step: %w; run the step again", err)
	}
	o.Raw = string(raw)
	return nil
}

func storedOutput(o *dag.Output, limit int64) ([]byte, error) {
	switch {
	case o.Masked:
		return nil, dag.ErrWithheld
	case int64(len(o.Inline)) == o.Size:
		// Inline is complete and unchanged: JSON replaces every byte that is not UTF-8 by a longer
		// character, so the lengths would differ.
		return trimPartialRune([]byte(o.Inline)[:min(limit, o.Size)], o.Size), nil
	case o.File == "", o.Size < 0:
		return nil, ErrLost
	}
	raw, err := storedLog(o, limit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
	}
	return raw, nil
}

// storedLog reads the start of the log file. If a background process continued to print, the file
// is larger than the output was; then the digest must show that the start is unchanged.
func storedLog(o *dag.Output, limit int64) ([]byte, error) {
	info, err := os.Lstat(o.File)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", o.File)
	case info.Size() < o.Size, info.Size() > o.Size && o.Digest == "":
		return nil, fmt.Errorf("%s has %d bytes, but the step printed %d", o.File, info.Size(), o.Size)
	}
	if err := ownership.CheckFile(o.File); err != nil {
		return nil, err
	}
	f, err := proc.OpenFile(o.File, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := readHead(f, min(o.Size, limit))
	if err != nil {
		return nil, err
	}
	if raw = trimPartialRune(raw, o.Size); o.Digest != "" && digestOf(raw) != o.Digest {
		return nil, fmt.Errorf("%s has changed", o.File)
	}
	return raw, nil
}

// setDigest sets the digest of raw, which references read, unless Inline already contains it.
// Masked output gets no digest, because a digest would allow short secrets to be guessed.
func setDigest(o *dag.Output, raw []byte, w Limits) {
	if w.Keep && o.Size > dag.InlineLimit && !o.Masked {
		o.Digest = digestOf(raw)
	}
}

func digestOf(raw []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(raw)) }
