package proc

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Sweep ends the processes left by killed flowrun processes of the domain,
// whatever run they belong to. It ends nothing that a living flowrun process
// started and nothing of detached steps. If nothing is left, it costs a few system calls per
// hundred processes.
func Sweep(ctx context.Context, d procid.Domain, grace time.Duration) (Report, error) {
	if d == 0 || !d.HasOrphans() && !abandonedLeaf(d) {
		return Report{}, nil
	}
	return reopen(d, nil, func(string) bool { return false }, nil).Close(ctx, grace)
}

// abandonedLeaf reports whether there is a leaf, next to those of this process, whose maker has
// ended.
func abandonedLeaf(d procid.Domain) bool {
	for _, parent := range cgroup.OwnCgroups() {
		if parent == "" {
			continue
		}
		for _, path := range cgroup.LeavesUnder(parent) {
			if mark, tag, ok := cgroup.ParseLeaf(filepath.Base(path)); ok && mark != "" && d.Abandoned(tag) {
				return true
			}
		}
	}
	return false
}

// addAbandoned adds the processes that killed owners left: those in their leaves, and those with
// their birthmark. It remembers the leaves. It does not add ancestors of this process: one may be a
// shell that a step opened for a person who now runs flowrun in it.
func (g *Group) addAbandoned(run *processSet, table procid.Table, above map[int]bool) {
	buf := make([]byte, 4<<10)
	own := cgroup.OwnCgroups()
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range table {
		e := &table[i]
		if e.Dead() || above[e.PID] || isExempt(e) {
			continue
		}
		inside := false
		for h, dir := range cgroup.CgroupsOf(e.PID, buf) {
			if path := g.leafAbove(dir); path != "" && !within(own[h], path) {
				inside = true
				g.noteAbandonedLeaf(path)
			}
		}
		if inside || g.domain.Orphaned(procid.BirthmarkOf(e.PID)) {
			run.add(e)
		}
	}
}

// leafAbove returns the leaf of this Group that a cgroup is, or is in, or "".
func (g *Group) leafAbove(dir string) string {
	for ; strings.Contains(dir, cgroup.LeafPrefix); dir = filepath.Dir(dir) {
		if g.leafBelongs(filepath.Base(dir)) {
			return dir
		}
	}
	return ""
}

// within reports whether dir is above, or is below it.
func within(dir, above string) bool { return dir == above || strings.HasPrefix(dir, above+"/") }

// noteAbandonedLeaf remembers a leaf, to end it as a whole. The lock is held.
func (g *Group) noteAbandonedLeaf(path string) {
	if g.abandonedLeaves == nil {
		g.abandonedLeaves = map[string]*cgroup.Leaf{}
	}
	if g.abandonedLeaves[path] == nil {
		g.abandonedLeaves[path] = &cgroup.Leaf{Path: path}
	}
}

// foundLeaves returns the abandoned leaves found so far.
func (g *Group) foundLeaves() []*cgroup.Leaf {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Values(g.abandonedLeaves))
}

// removeLeaves removes the leaves that were found, and empty ones next to them.
func (g *Group) removeLeaves() {
	for _, l := range g.foundLeaves() {
		l.Remove()
	}
	for _, parent := range cgroup.OwnCgroups() {
		if parent != "" {
			cgroup.SweepLeaves(parent)
		}
	}
}
