package commandline

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/os/programfile"
)

// Programs caches the paths of programs by name and PATH, as a shell does.
type Programs struct {
	mu    sync.Mutex
	known map[[2]string]string
}

// Find returns the path of a program, searched along PATH as a shell does. The path of a
// file is returned as it is: it is relative to the directory of the step.
func (p *Programs) Find(name, path string) (string, error) {
	if programfile.IsPath(name) {
		return name, nil
	}
	key := [2]string{name, path}
	p.mu.Lock()
	defer p.mu.Unlock()
	if file, ok := p.known[key]; ok {
		return file, nil
	}
	file, err := search(name, path)
	if err != nil {
		return "", err
	}
	if filepath.IsAbs(file) { // a relative path depends on the directory of the step
		if p.known == nil {
			p.known = map[[2]string]string{}
		}
		p.known[key] = file
	}
	return file, nil
}

// Forget removes a program from the cache because it no longer exists.
func (p *Programs) Forget(name, path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, [2]string{name, path})
}

func search(name, path string) (string, error) {
	if name == "" {
		return "", place.CannotStart(127, "cannot start the step: its command is empty; write the name of a program")
	}
	file, err := programfile.Search(name, filepath.SplitList(path))
	var denied *fs.PathError
	switch {
	case errors.As(err, &denied):
		return "", place.CannotStart(126, "cannot start %q: you may not execute %s; make it executable with chmod +x", name, denied.Path)
	case err != nil:
		return "", place.CannotStart(127, "cannot start %q: not found in PATH; install it, or write its full path", name)
	}
	return file, nil
}
