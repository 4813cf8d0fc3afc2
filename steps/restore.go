package steps

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/proc"
)

// What keeps the output of an earlier step from being read again.
var (
	ErrWithheld = errors.New("it held a secret, so only its masked form was kept")
	ErrLost     = errors.New("it is no longer there as it was printed")
)

// Restore fills in the Raw of an Output that was read back from a journal, byte
// for byte as the step that printed it gave it to references: limit is that step's
// Command.Limit, which may be 0 for DefaultLimit; the output of Session.Text has no
// limit and needs one that is larger. A nil Output is of a step that printed nothing
// and needs nothing. Otherwise Raw stays as it is and the error is, wrapped,
// ErrWithheld or ErrLost: what needs the output can only have it when its step
// runs again.
func Restore(o *dag.Output, limit int64) error {
	if o == nil {
		return nil
	}
	if limit <= 0 {
		limit = DefaultLimit
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
		return nil, ErrWithheld
	case int64(len(o.Inline)) == o.Size:
		// All of it, and unchanged: JSON makes a longer character of every byte
		// that is no UTF-8.
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

// storedLog reads the beginning of the log file. A file that a background process
// went on printing into is larger than the output was; then the digest must say
// that the beginning is the same.
func storedLog(o *dag.Output, limit int64) ([]byte, error) {
	info, err := os.Lstat(o.File)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", o.File)
	case info.Size() < o.Size, info.Size() > o.Size && o.Digest == "":
		return nil, fmt.Errorf("%s has %d bytes, and %d were printed", o.File, info.Size(), o.Size)
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

// setDigest names what references read, where Inline does not hold it and raw
// does. Of what is masked there is none: it would let a short secret be guessed.
func setDigest(o *dag.Output, raw []byte, w outputLimits) {
	if w.keep && o.Size > dag.InlineLimit && !o.Masked {
		o.Digest = digestOf(raw)
	}
}

func digestOf(raw []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(raw)) }
