package permtrace

import (
	"maps"
	"slices"
	"strings"
)

// Report says which permissions a run needs.
type Report struct {
	// Needed are the entries that the run needs, in the form of required-permissions.
	Needed []string `json:"needed"`
	// Unused are the entries of the tool for files and network that the run did not use.
	Unused []string `json:"unused,omitempty"`
	// Direct are addresses of other machines that programs connected to without a proxy. Only the permission network
	// allows that.
	Direct []string `json:"direct,omitempty"`
}

// Report returns what was recorded.
func (r *Recorder) Report() *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	rep := &Report{Needed: []string{}, Direct: slices.Sorted(maps.Keys(r.net.direct))}
	for _, p := range r.options.Granted {
		switch {
		case !traceable(p.Written):
			rep.Needed = append(rep.Needed, p.Written)
		case !r.used[p.Written] && !(len(rep.Direct) > 0 && strings.HasPrefix(p.Written, "network")): // their names are not known
			rep.Unused = append(rep.Unused, p.Written)
		}
	}
	for _, name := range r.options.Variables {
		rep.Needed = append(rep.Needed, "environment:"+name)
	}
	rep.Needed = append(rep.Needed, r.fileEntries()...)
	rep.Needed = append(rep.Needed, r.net.entries()...)
	slices.Sort(rep.Needed)
	rep.Needed = slices.Compact(rep.Needed)
	return rep
}

// traceable reports whether the use of a permission is recorded. Nothing shows which variables a program reads, for
// example.
func traceable(entry string) bool {
	return strings.HasPrefix(entry, "filesystem:") || strings.HasPrefix(entry, "network")
}

// fileEntries returns the permissions for files. Those to write and to execute include reading.
func (r *Recorder) fileEntries() (entries []string) {
	written, executed := r.files[write].list(), r.files[execute].list()
	reads := newPathSet(r.options.Places)
	for p := range r.files[read].paths {
		if !r.files[execute].covers(p) && !r.files[write].covers(p) {
			reads.add(p)
		}
	}
	for v, list := range map[verb][]string{read: reads.list(), write: written, execute: executed} {
		for _, p := range list {
			entries = append(entries, "filesystem:"+string(v)+":"+r.name(p))
		}
	}
	return entries
}

// name returns a path as it is written in a definition.
func (r *Recorder) name(path string) string {
	var best Name
	for _, n := range r.options.Names {
		if len(n.Path) > len(best.Path) && contains(n.Path, path) {
			best = n
		}
	}
	return best.Text + strings.TrimPrefix(path, best.Path)
}
