package permtrace

import (
	"cmp"
	"path"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/systrace"
)

// Options describe the run.
type Options struct {
	Granted []permission.Permission // of the tool
	// Names are the ways to write paths, such as {WORKSPACE}. If several fit, the one with the longest path is used,
	// and of those the first.
	Names  []Name
	Places Places
	// Files of flowrun itself are left out: the state folder, and temporary folders whose names contain the id of the run.
	StateDir, Run string
	// Variables are the inherited environment variables that the run uses.
	Variables []string
}

// Name is a way to write a path in a definition.
type Name struct{ Text, Path string }

// Places are folders of the user, without symbolic links.
type Places struct{ Workspace, Home string }

// Recorder collects what a run uses, from Start on. Safe for concurrent use.
type Recorder struct {
	options Options
	base    []confine.FileRule

	mu      sync.Mutex
	seen    map[systrace.Access]bool
	files   map[verb]*pathSet
	created created
	net     *network
	used    map[string]bool // entries of Granted, as they are written
}

// Start makes a Recorder record. Before that, it ignores what it observes.
func (r *Recorder) Start(o Options) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.options, r.seen, r.files, r.created, r.net, r.used = o, map[systrace.Access]bool{}, map[verb]*pathSet{}, created{}, newNetwork(), map[string]bool{}
	for _, rule := range confine.BaseFiles() {
		rule.Path = permission.RealPath(rule.Path)
		r.base = append(r.base, rule)
	}
	for _, v := range verbs {
		r.files[v] = newPathSet(o.Places)
	}
}

// verb is the second word of a permission for files.
type verb string

const (
	read    verb = "read"
	write   verb = "write"
	execute verb = "execute"
)

var verbs = []verb{read, write, execute}

// verbOf returns what a process does with a file, and the rights that allow it.
func verbOf(k systrace.Kind) (verb, confine.Access) {
	switch k {
	case systrace.Read:
		return read, confine.Read | confine.Execute
	case systrace.Write, systrace.Create, systrace.Remove:
		return write, confine.Write
	}
	return execute, confine.Execute
}

// maxSeen limits how many accesses a Recorder remembers in order to skip them when they are repeated.
const maxSeen = 10_000

// Observe records an access.
func (r *Recorder) Observe(a systrace.Access) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.net == nil || r.seen[a] {
		return
	}
	if len(r.seen) == maxSeen {
		clear(r.seen)
	}
	r.seen[a] = true
	switch a.Kind {
	case systrace.Read, systrace.Write, systrace.Create, systrace.Remove, systrace.Execute:
		r.observeFile(a)
	default:
		if host := r.net.observe(a); host != "" {
			r.markHost(host)
		}
	}
}

func (r *Recorder) observeFile(a systrace.Access) {
	file := realPath(a)
	v, rights := verbOf(a.Kind)
	if r.isOwn(file) {
		return
	}
	for _, rule := range r.base {
		if rule.Access&rights != 0 && contains(rule.Path, file) {
			return
		}
	}
	r.markFile(v, file)
	r.files[v].add(r.grantable(a.Kind, file))
}

// grantable returns what must be granted to use a file. Only what exists before the run can be granted: for what the run
// creates, the folder, and that is also what has to be granted to change its entries.
func (r *Recorder) grantable(k systrace.Kind, file string) string {
	folder := r.created.folderOf(file)
	switch k {
	case systrace.Create:
		if folder == "" {
			folder = path.Dir(file)
			r.created.add(file, folder)
		}
	case systrace.Remove:
		folder = cmp.Or(folder, path.Dir(file))
	}
	return cmp.Or(folder, file)
}

// realPath returns the real location of a file. An entry that is created or removed is the link itself.
func realPath(a systrace.Access) string {
	if a.Kind != systrace.Create && a.Kind != systrace.Remove {
		return permission.RealPath(a.Target)
	}
	file := strings.TrimRight(a.Target, "/")
	at := strings.LastIndexByte(file, '/') + 1
	return path.Join(permission.RealPath(file[:at]), file[at:])
}

// isOwn reports whether a file belongs to flowrun itself.
func (r *Recorder) isOwn(path string) bool {
	o := r.options
	return o.StateDir != "" && contains(o.StateDir, path) || strings.Contains(path, "/flowrun-"+o.Run)
}

// markFile notes which permissions an access uses. Reading uses a permission to execute only if none to read covers the
// file.
func (r *Recorder) markFile(v verb, path string) {
	order := []verb{v}
	if v == read {
		order = []verb{read, execute}
	}
	for _, v := range order {
		found := false
		for _, p := range r.options.Granted {
			if granted, ok := strings.CutPrefix(p.Resolved, "filesystem:"+string(v)+":"); ok && contains(granted, path) {
				r.used[p.Written], found = true, true
			}
		}
		if found {
			return
		}
	}
}

// contains reports whether a path is a file or folder, or is in the folder.
func contains(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
