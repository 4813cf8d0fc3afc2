package registry

import (
	"slices"
	"sync"

	"github.com/flowrun/flowrun"
)

// kept holds the compiled tools that were used last: a model calls the same few tools again and again, and compiling
// one can take longer than a call. The zero kept is empty.
type kept struct {
	mu    sync.Mutex
	tools map[string]*Tool
	names []string // of tools, the one used last at the end
	size  int      // of their definitions, in bytes
}

// The kept tools are limited by the size of their definitions, in bytes. Compiled, a definition takes about thirty times
// as much memory.
const (
	maxKept = 256 << 10
	minSize = 1 << 10 // what a tool counts beside its definitions; those in Go have no text
)

// get returns a tool, or nil.
func (k *kept) get(name string) *Tool {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tools[name]
	if t != nil {
		at := slices.Index(k.names, name)
		k.names = append(slices.Delete(k.names, at, at+1), name)
	}
	return t
}

// put keeps a tool, instead of those that were used longest ago. A tool that is too large is not kept.
func (k *kept) put(name string, t *Tool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove(name)
	if t.size > maxKept {
		return
	}
	for k.size+t.size > maxKept {
		k.remove(k.names[0])
	}
	if k.tools == nil {
		k.tools = map[string]*Tool{}
	}
	k.tools[name] = t
	k.names = append(k.names, name)
	k.size += t.size
}

func (k *kept) remove(name string) {
	if t := k.tools[name]; t != nil {
		delete(k.tools, name)
		k.names = slices.DeleteFunc(k.names, func(n string) bool { return n == name })
		k.size -= t.size
	}
}

// compiled returns a tool, compiled again if a definition that it was made of has changed.
func (r *Registry) compiled(name string) (*Tool, error) {
	if t := r.kept.get(name); t != nil && t.plan.Current(r.library) {
		return t, nil
	}
	plan, err := flowrun.Compile(r.library, name)
	if err != nil {
		return nil, err
	}
	t := r.tool(plan)
	r.kept.put(name, t)
	return t, nil
}
