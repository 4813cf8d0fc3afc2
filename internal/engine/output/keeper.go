package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// Keeper keeps what the steps of one run print. Safe for concurrent use.
type Keeper struct {
	Dir string // where files get their names, a rundir.LogFolder; "": the private folder
	// Recorded means that what Results have of the output is recorded, so an output that one has completely needs no file.
	Recorded bool
	Private  func() (string, error) // returns the private folder of the run
	Mask     *mask.Mask

	mu      sync.Mutex
	unused  []*os.File // empty files without a name, for reuse
	pipes   map[*pipe]struct{}
	copying sync.WaitGroup
}

// folder returns the folder for output.
func (k *Keeper) folder() (string, error) {
	if k.Dir != "" {
		return k.Dir, nil
	}
	return k.Private()
}

// unnamedFolder returns the folder for the files that have no name yet, "" if the run keeps no logs.
func (k *Keeper) unnamedFolder() string {
	if k.Recorded && k.Dir != "" {
		return filepath.Dir(filepath.Dir(k.Dir)) // the one of all runs
	}
	return k.Dir
}

// MakeFolder makes the folder for the files that have no name yet, if the run keeps logs.
func (k *Keeper) MakeFolder() error {
	dir := k.unnamedFolder()
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot create the log folder %q: %w", dir, err)
	}
	return nil
}

// needsFile reports whether a file has something of an output that is not elsewhere.
func (k *Keeper) needsFile(o *dag.Output) bool {
	if k.Dir == "" {
		return o.Size > dag.InlineLimit
	}
	return !k.Recorded || !o.Whole()
}

// Text keeps a text as the output of a step. References can read all of it.
func (k *Keeper) Text(step dag.ID, attempt int, kind rundir.Stream, text string) (*dag.Output, error) {
	if text == "" {
		return nil, nil
	}
	shown := k.Mask.String(text)
	out := &dag.Output{Raw: text, Size: int64(len(shown)), Masked: shown != text, Inline: shown}
	if len(shown) > dag.InlineLimit {
		out.Inline = string(trimPartialRune([]byte(shown[:dag.InlineLimit]), out.Size))
	}
	if !k.needsFile(out) {
		return out, nil
	}
	file, err := k.newFile(step, attempt, kind)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(file.File, strings.NewReader(shown))
	if err = errors.Join(err, file.keep(), file.Close()); err != nil {
		return nil, err
	}
	out.File = file.path
	setDigest(out, []byte(text), Limits{Keep: true})
	return out, nil
}

// Adopt keeps a file with the output of an earlier run. whole demands that references can read all of it. If it contains what
// is secret now, the error is dag.ErrWithheld.
func (k *Keeper) Adopt(step dag.ID, attempt int, kind rundir.Stream, path string, w Limits, whole bool) (*dag.Output, error) {
	f, err := proc.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	secret, err := k.Mask.Holds(f)
	switch {
	case err != nil:
		return nil, err
	case secret:
		return nil, dag.ErrWithheld
	}
	state, err := fileState(f)
	if err != nil {
		return nil, err
	}
	out, err := readOutput(f, state.Size, w)
	switch {
	case err != nil || out == nil:
		return nil, err
	case out.Truncated && whole:
		return nil, errors.New("it exceeds the buffer-limit of the step")
	case !k.needsFile(out):
		return out, nil
	}
	dir, err := k.folder()
	if err != nil {
		return nil, err
	}
	out.File, err = rundir.AdoptLog(dir, step, attempt, kind, path)
	return out, err
}

// DiskIsFull reports whether a small file does not fit on the disk of the logs. It is false if that cannot be found out.
func (k *Keeper) DiskIsFull() bool {
	dir := k.unnamedFolder()
	if dir == "" {
		return false
	}
	f, err := os.CreateTemp(dir, ".probe-")
	if err == nil {
		_, err = f.Write(make([]byte, 4096))
		f.Close()
		os.Remove(f.Name())
	}
	return errors.Is(err, syscall.ENOSPC)
}

// Close ends the copying from what background processes hold open, and releases the files.
func (k *Keeper) Close() {
	k.mu.Lock()
	for p := range k.pipes {
		p.abandon()
	}
	k.closeUnused()
	k.mu.Unlock()
	k.copying.Wait()
}
