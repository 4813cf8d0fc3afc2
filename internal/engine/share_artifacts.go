package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/artifact"
)

// DepositedPrefix begins the Path of an artifact in the results of a run that programs share. The digest of its manifest
// follows, by which Texts have it. Only a program that uses the files has them in its state folder.
const DepositedPrefix = "store:"

// sharedArtifacts knows by which name the artifacts in the state folder of this program are deposited.
type sharedArtifacts struct {
	mu    sync.Mutex        // held while one is written, too
	names map[string]string // by the path here
}

func (s *sharedArtifacts) put(path, name string) {
	if s.names == nil {
		s.names = map[string]string{}
	}
	s.names[path] = name
}

// depositArtifacts stores the artifacts of a result for the other programs, and names them so that these find them.
func (p *Share) depositArtifacts(ctx context.Context, r *dag.Result) error {
	p.files.mu.Lock()
	defer p.files.mu.Unlock()
	for _, a := range r.Artifacts() {
		if a.Digest == "" || strings.HasPrefix(a.Path, DepositedPrefix) {
			continue
		}
		digest, err := artifact.Deposit(ctx, p.texts, a)
		if err != nil {
			return fmt.Errorf("cannot store the artifact %s: %w", a.Name, err)
		}
		p.files.put(a.Path, DepositedPrefix+digest)
	}
	return renameArtifacts(r, p.deposited)
}

// deposited returns the name by which the artifact at a path is deposited.
func (p *Share) deposited(path string) (string, error) {
	if name, ok := p.files.names[path]; ok {
		return name, nil
	}
	return path, nil
}

// withdrawArtifacts puts the artifacts of a result into the state folder, for the steps of this program that read them.
func (p *Share) withdrawArtifacts(ctx context.Context, r *dag.Result) error {
	p.files.mu.Lock()
	defer p.files.mu.Unlock()
	return renameArtifacts(r, func(name string) (string, error) { return p.withdrawn(ctx, name) })
}

// renameArtifacts replaces the paths of the artifacts of a result.
func renameArtifacts(r *dag.Result, rename func(path string) (string, error)) (err error) {
	list := slices.Clone(r.Artifacts())
	if len(list) == 0 {
		return nil
	}
	for i := range list {
		a := &list[i]
		if a.Path, err = rename(a.Path); err != nil {
			return fmt.Errorf("the artifact %s: %w", a.Name, err)
		}
		a.Paths = slices.Clone(a.Paths)
		for j, path := range a.Paths {
			if a.Paths[j], err = rename(path); err != nil {
				return fmt.Errorf("the artifact %s: %w", a.Name, err)
			}
		}
	}
	r.SetArtifacts(list)
	return nil
}

// withdrawn returns the path of a deposited artifact in the state folder.
func (p *Share) withdrawn(ctx context.Context, name string) (string, error) {
	digest, ok := strings.CutPrefix(name, DepositedPrefix)
	if !ok {
		return name, nil
	}
	folder, err := p.job.args.Artifacts.Folder()
	if err != nil {
		return "", err
	}
	a, err := artifact.Withdraw(ctx, p.texts, digest, folder)
	if err == nil {
		p.files.put(a.Path, name)
	}
	return a.Path, err
}
