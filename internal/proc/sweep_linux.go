package proc

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/cgroup"
	"github.com/flowrun/flowrun/internal/procid"
)

// Sweep ends what processes of this place (SetPlace) have started and, killed, could not
// end: whatever run it is of, but nothing of a process that lives, and nothing of detached
// steps. Where nothing is left it costs some system calls a hundred processes.
func Sweep(ctx context.Context, grace time.Duration) (Report, error) {
	if !procid.HasPlace() || !procid.HasOrphans() && !abandonedLeaf() {
		return Report{}, nil
	}
	return reopen(nil, func(string) bool { return false }, nil).Close(ctx, grace)
}

// abandonedLeaf says whether there is a leaf beside those of this process whose maker is
// gone.
func abandonedLeaf() bool {
	for _, parent := range cgroup.OwnCgroups() {
		if parent == "" {
			continue
		}
		for _, path := range cgroup.LeavesUnder(parent) {
			if mark, tag, ok := cgroup.ParseLeaf(filepath.Base(path)); ok && mark != "" && procid.Abandoned(tag) {
				return true
			}
		}
	}
	return false
}

// addAbandoned takes into the trail what a look shows to be left by those who are gone: what is
// in their leaves, and what was born as theirs. It remembers the leaves. What is above
// this process is left alone: a shell that a step gave to somebody, who types here.
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
		if inside || procid.Orphaned(procid.BirthmarkOf(e.PID)) {
			run.add(e)
		}
	}
}

// leafAbove is the leaf of this Group that a cgroup is, or is in; "" for none.
func (g *Group) leafAbove(dir string) string {
	for ; strings.Contains(dir, cgroup.LeafPrefix); dir = filepath.Dir(dir) {
		if g.leafBelongs(filepath.Base(dir)) {
			return dir
		}
	}
	return ""
}

func within(dir, above string) bool { return dir == above || strings.HasPrefix(dir, above+"/") }

// noteAbandonedLeaf notes a leaf, to be ended as a whole. The lock is held.
func (g *Group) noteAbandonedLeaf(path string) {
	if g.abandonedLeaves == nil {
		g.abandonedLeaves = map[string]*cgroup.Leaf{}
	}
	if g.abandonedLeaves[path] == nil {
		g.abandonedLeaves[path] = &cgroup.Leaf{Path: path}
	}
}

// foundLeaves are the leaves that looks have shown so far.
func (g *Group) foundLeaves() []*cgroup.Leaf {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Values(g.abandonedLeaves))
}

// removeLeaves removes the leaves that were found, and empty ones beside.
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
