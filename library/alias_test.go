package library

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListMarksCycles: a listing shows aliases that run themselves as broken, wherever their files are, and no others.
func TestListMarksCycles(t *testing.T) {
	h := newMachine(t)
	alias := func(file, base string) { h.write(file+".yaml", "description: d\ntype: alias\nbase-tool: "+base+"\n") }
	h.tool("repo/.flowrun/tools/real.yaml", "real")
	alias("repo/.flowrun/tools/good", "real")
	alias("repo/.flowrun/tools/again", "good")
	alias("repo/.flowrun/tools/path", "./good.yaml")
	alias("repo/.flowrun/tools/gone", "nowhere")
	alias("repo/.flowrun/tools/own", "own")
	alias("repo/.flowrun/tools/one", "two")
	alias("repo/.flowrun/tools/two", "./three.yaml")
	alias("repo/.flowrun/tools/three", "one")
	alias("repo/.flowrun/tools/into", "one")
	alias("home/.cycod/tools/first", "second")
	alias("global/second", "first")
	want := map[string]string{
		"own": "own -> own", "one": "one -> two -> three -> one", "two": "two -> three -> one -> two", "three": "three -> one -> two -> three",
		"into": "one -> two -> three -> one", "first": "first -> second -> first", "second": "second -> first -> second",
	}
	lib := h.library()
	for range 2 { // the second time from memory
		for _, e := range lib.List() {
			broken := ""
			if cycle := want[e.Name]; cycle != "" {
				broken = fmt.Sprintf("%s:3:12: error[recursion]: tools use each other in a cycle: %s; a tool cannot use itself, not even through other tools", e.Path, cycle)
			}
			if diff := cmp.Diff(broken, e.Broken()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", e.Name, diff)
			}
			if len(e.Diagnostics) > 1 {
				t.Errorf("%s: %v", e.Name, e.Diagnostics)
			}
		}
	}
}
