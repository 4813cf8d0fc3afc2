package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/programtest"
)

// What flowrun does before main, for every command. A bound is 5 % above what was measured, and the
// numbers of two starts differ by less than 1 %. If you lower a number, lower its bound.
const (
	maxInitBytes, maxInitAllocs = 916_000, 6_190 // all packages
	maxOwnBytes, maxOwnAllocs   = 62_000, 730    // those of this module
)

// heavyPackages are the packages that allocate more than 20 KB when they are initialized. Every
// command pays for them, so think twice before you import one more.
var heavyPackages = []string{
	"encoding/gob",                               // the MCP SDK
	"github.com/dlclark/regexp2/v2/syntax",       // goja
	"github.com/dop251/goja/parser",              // scripts
	"github.com/evanw/esbuild/internal/compat",   // bundles of scripts
	"github.com/google/jsonschema-go/jsonschema", // the MCP SDK
	"github.com/google/pprof/profile",            // goja
	"golang.org/x/net/html",                      // web_fetch
	"golang.org/x/text/collate",                  // goja
	"gopkg.in/yaml.v3",                           // definitions
}

// initWork is what the initialization of one package allocates.
type initWork struct{ bytes, allocs int }

// TestStartup holds what flowrun does before main.
func TestStartup(t *testing.T) {
	work := traceInits(t, buildFlowrun(t))
	var all, own initWork
	for name, w := range work {
		all.bytes, all.allocs = all.bytes+w.bytes, all.allocs+w.allocs
		if strings.HasPrefix(name, "github.com/flowrun/flowrun") {
			own.bytes, own.allocs = own.bytes+w.bytes, own.allocs+w.allocs
		}
		if w.bytes > 20_000 && !slices.Contains(heavyPackages, name) {
			t.Errorf("%s allocates %d bytes (%d allocations) before main; make it lazy, or add it to heavyPackages", name, w.bytes, w.allocs)
		}
	}
	t.Logf("%d packages: %d bytes, %d allocations; own: %d bytes, %d allocations", len(work), all.bytes, all.allocs, own.bytes, own.allocs)
	if all.bytes > maxInitBytes || all.allocs > maxInitAllocs || own.bytes > maxOwnBytes || own.allocs > maxOwnAllocs {
		t.Errorf("more than before; the packages with the most:\n%s", mostWork(work))
	}
}

// buildFlowrun builds flowrun as a release is built.
func buildFlowrun(t *testing.T) string {
	needtest.ReleaseFlags(t)
	program, err := programtest.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// traceInits returns the work of each package that has any.
func traceInits(t *testing.T, program string) map[string]initWork {
	c := exec.Command(program, "version")
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1", "GOMAXPROCS=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	line := regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes, (\d+) allocs$`)
	work := map[string]initWork{}
	for _, m := range line.FindAllSubmatch(bytes.ReplaceAll(out, []byte("%2e"), []byte(".")), -1) {
		b, _ := strconv.Atoi(string(m[2]))
		n, _ := strconv.Atoi(string(m[3]))
		work[string(m[1])] = initWork{b, n}
	}
	if len(work) < 50 {
		t.Fatalf("the trace has %d packages:\n%s", len(work), out)
	}
	return work
}

// mostWork lists the ten packages that allocate most, and the five of this module.
func mostWork(work map[string]initWork) string {
	names := slices.SortedFunc(maps.Keys(work), func(a, b string) int { return work[b].bytes - work[a].bytes })
	var b strings.Builder
	own := 0
	for i, name := range names {
		ours := strings.HasPrefix(name, "github.com/flowrun/flowrun")
		if i < 10 || ours && own < 5 {
			fmt.Fprintf(&b, "%7d bytes %5d allocations  %s\n", work[name].bytes, work[name].allocs, name)
		}
		if ours {
			own++
		}
	}
	return b.String()
}
