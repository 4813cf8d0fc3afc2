package library

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// later is a library with an index, long after everything that was written so far.
func (h machine) later() *Library {
	l := h.library()
	l.finder.indexes = &indexes{folder: h.path("index"), program: "this build", known: map[string]index{}}
	l.reader.now = func() time.Time { return time.Now().Add(time.Minute) }
	return l
}

// fill makes a folder of definitions that is large enough for an index.
func (h machine) fill() (dir string) {
	for i := range minIndexed + 8 {
		h.tool(fmt.Sprintf("repo/.flowrun/tools/file-%02d.yaml", i), fmt.Sprintf("tool-%02d", i))
	}
	return h.path("repo/.flowrun/tools")
}

// remembered are the names of files whose index entries a new process believes.
func (h machine) remembered(dir string) (names []string) {
	l := h.later()
	for name := range l.finder.indexes.of(dir) {
		if l.finder.indexes.of(dir).valid(filepath.Join(dir, name), l.reader.now()) != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// tick waits until the clock of the file system moves, so that what is written next
// cannot be stamped like what was written last.
func (h machine) tick() {
	stamped := func() int64 {
		info, err := os.Stat(h.write("tick", ""))
		if err != nil {
			h.t.Fatal(err)
		}
		return stampOf(info).changed
	}
	first := stamped()
	waittest.Until(h.t, "tick of the file system's clock", func() bool { return stamped() != first })
}

// needsStamps skips where no index is kept.
func needsStamps(t *testing.T) {
	info, err := os.Stat(".")
	if err != nil {
		t.Fatal(err)
	}
	if stampOf(info).changed == 0 {
		t.Skip("this system does not say when a file changed")
	}
}

// TestIndexAgrees lets a folder change in every way a folder does, the mean ones
// included, and holds three listings against each other: one that remembers nothing, one
// of a new process with an index, and one of a process that has been there all along.
func TestIndexAgrees(t *testing.T) {
	needsStamps(t)
	h := newMachine(t)
	dir := h.fill()
	seed := sizetest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	resident := h.later()
	rounds := sizetest.Of(60, 60, 2000)
	believed := 0
	for round := range rounds {
		var done []string
		for range r.IntN(6) {
			done = append(done, h.disturb(r, dir))
		}
		plain := h.library()
		plain.reader.now = resident.reader.now
		want := plain.List()
		for who, l := range map[string]*Library{"a new process": h.later(), "a resident process": resident} {
			if diff := cmp.Diff(want, l.List()); diff != "" {
				t.Fatalf("round %d, %s, after %q: -without +with:\n%s", round, who, done, diff)
			}
			name := want[r.IntN(len(want))].Name
			a, _, aerr := plain.Lookup(name, nil)
			b, _, berr := l.Lookup(name, nil)
			if fmt.Sprint(aerr) != fmt.Sprint(berr) || a != nil && a.File != b.File {
				t.Fatalf("round %d, %s: Lookup(%s) finds %v %v, without an index %v %v", round, who, name, b, berr, a, aerr)
			}
		}
		believed += len(h.remembered(dir))
		h.tick()
	}
	if believed == 0 { // how often depends on how fast this machine writes
		t.Errorf("the index was not believed once in %d rounds: it is of no use", rounds)
	}
}

// disturb changes one thing and says what.
func (h machine) disturb(r *rand.Rand, dir string) string {
	must := func(err error) {
		if err != nil {
			h.t.Helper()
			h.t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	must(err)
	pick := func() string { return filepath.Join(dir, entries[r.IntN(len(entries))].Name()) }
	if len(entries) < minIndexed+4 {
		return "add: " + h.tool(fmt.Sprintf("repo/.flowrun/tools/more-%d.yaml", r.IntN(1e6)), "more")
	}
	free := func(name string) string { // where a link may have been, perhaps one in a circle
		file := filepath.Join(dir, name+".yaml")
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			h.t.Fatal(err)
		}
		return file
	}
	one, other := pick(), pick()
	if _, err := os.Stat(one); err != nil { // a link to nowhere, or in a circle
		must(os.Remove(one))
		return "remove: " + one
	}
	word := []string{"aa", "bb", "cc"}[r.IntN(3)]
	text := fmt.Sprintf("name: tool-%s\ndescription: %04d\nbash: echo\n", word, r.IntN(10000))
	switch what := r.IntN(12); what {
	case 0: // the same size and the same time of modification
		info, err := os.Stat(one)
		must(err)
		must(os.WriteFile(one, []byte(text), 0o644))
		must(os.Chtimes(one, info.ModTime(), info.ModTime()))
		return "edit in place, time put back: " + one
	case 1:
		must(os.WriteFile(one, []byte(text), 0o644))
		return "edit in place: " + one
	case 2:
		must(os.Rename(one, other))
		return "rename over another: " + one + " " + other
	case 3:
		aside := filepath.Join(h.root, "aside")
		must(os.Rename(one, aside))
		if one != other {
			must(os.Rename(other, one))
		}
		must(os.Rename(aside, other))
		return "swap: " + one + " " + other
	case 4:
		must(os.Remove(one))
		return "remove: " + one
	case 5:
		must(os.WriteFile(free("new-"+word), []byte(text), 0o644))
		return "add: new-" + word
	case 6:
		must(os.WriteFile(one, []byte("name: tool-"+word+"\nbahs: x\n  y: [\n"), 0o644))
		return "break: " + one
	case 7:
		aside := h.write("aside", text)
		must(os.Rename(aside, one))
		return "replace, as editors do: " + one
	case 8:
		must(os.Remove(one))
		if one == other {
			return "remove: " + one
		}
		must(os.Symlink(filepath.Base(other), one))
		return "link: " + one + " to " + other
	case 9:
		must(os.WriteFile(one, []byte("name: \"tool-\\x6"+fmt.Sprint(r.IntN(9)+1)+"\"\ndescription: x\nbash: echo\n"), 0o644))
		return "a name with an escape: " + one
	case 10:
		must(os.WriteFile(free(word), []byte("description: x\nbash: echo\n"), 0o644))
		return "a file without a name: " + word
	default:
		h.damage(r)
		return "damage the index"
	}
}

// damage does to the indexes what disks, crashes and people do.
func (h machine) damage(r *rand.Rand) {
	files, _ := filepath.Glob(h.path("index/*"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			h.t.Fatal(err)
		}
		switch at := r.IntN(len(data) + 1); r.IntN(4) {
		case 0:
			data = data[:at]
		case 1:
			data = slices.Concat(data[:at], []byte{byte(r.IntN(256))}, data[min(at+1, len(data)):])
		case 2:
			data = append(data, data...)
		case 3:
			data = nil
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
}

// TestIndexKept: what is kept, for whom, and when not.
func TestIndexKept(t *testing.T) {
	needsStamps(t)
	h := newMachine(t)
	dir := h.fill()
	files, _ := os.ReadDir(dir)

	young := h.later()
	info, err := os.Stat(filepath.Join(dir, files[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	stamp := stampOf(info)
	young.reader.now = func() time.Time { return time.Unix(0, stamp.changed).Add(stamp.settleTime() - 1) }
	if young.List(); len(h.remembered(dir)) > 0 {
		t.Error("files that changed a moment ago are believed")
	}

	h.later().List()
	if got := h.remembered(dir); len(got) != len(files) {
		t.Fatalf("%d of %d files are remembered: %q", len(got), len(files), got)
	}
	kept, _ := filepath.Glob(h.path("index/*"))
	if len(kept) != 1 {
		t.Fatalf("files in the folder of indexes: %q", kept)
	}
	if info, err := os.Stat(kept[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the index: %v %v", info.Mode(), err)
	}

	other := h.later()
	if other.finder.indexes.program = "another build"; len(other.finder.indexes.of(dir)) > 0 {
		t.Error("the index of another program is believed")
	}
	if other.finder.indexes.program = ""; other.finder.indexes.file(dir) != "" {
		t.Error("an index is kept though nobody knows for which program")
	}

	h.tool("home/.cycod/tools/a.yaml", "a")
	h.later().List()
	if again, _ := filepath.Glob(h.path("index/*")); len(again) != 1 {
		t.Errorf("a folder of one file has an index: %q", again)
	}
}

// TestIndexOfLoader: what a Loader read is remembered where it says that the file was all
// it read, and asked for each time elsewhere.
func TestIndexOfLoader(t *testing.T) {
	needsStamps(t)
	for _, whole := range []bool{false, true} {
		h := newMachine(t)
		for i := range minIndexed {
			h.write(fmt.Sprintf("repo/.flowrun/tools/t%d.tool.js", i), "")
		}
		var asked atomic.Int64
		list := func() int {
			lib := h.later()
			lib.Handle(".tool.js", func(file string, src []byte) (*tool.Definition, tool.Diagnostics) {
				asked.Add(1)
				return &tool.Definition{Name: strings.TrimSuffix(filepath.Base(file), ".tool.js"), File: file, Description: string(src), Cacheable: whole}, nil
			})
			return len(lib.List())
		}
		first, again := list(), list()
		if want := map[bool]int64{false: 2 * minIndexed, true: minIndexed}[whole]; first != minIndexed || again != minIndexed || asked.Load() != want {
			t.Errorf("whole %v: %d and %d tools are listed, and the loader was asked %d times, not %d", whole, first, again, asked.Load(), want)
		}
	}
}

// TestIndexOfPlaceThatCannotBe: where nothing can be kept nothing is reported, and the list is
// the same.
func TestIndexOfPlaceThatCannotBe(t *testing.T) {
	h := newMachine(t)
	h.fill()
	want := h.library().List()
	for _, place := range []string{h.write("a-file", ""), filepath.Join(h.path("a-file"), "below"), "\x00"} {
		l := h.later()
		l.finder.indexes.folder = place
		if diff := cmp.Diff(want, l.List()); diff != "" {
			t.Errorf("indexes in %q: -want +got:\n%s", place, diff)
		}
	}
}

// TestIndexesAreBounded: folders come and go, their indexes do not pile up.
func TestIndexesAreBounded(t *testing.T) {
	needsStamps(t)
	h := newMachine(t)
	h.fill()
	long := time.Now().Add(-time.Hour)
	for i := range maxIndexes + 20 {
		old := h.write(fmt.Sprintf("index/old-%d", i), "")
		if err := os.Chtimes(old, long, long); err != nil {
			t.Fatal(err)
		}
	}
	h.later().List()
	left, _ := os.ReadDir(h.path("index"))
	if len(left) != maxIndexes {
		t.Errorf("%d files are left, want %d", len(left), maxIndexes)
	}
	if len(h.remembered(h.path("repo/.flowrun/tools"))) == 0 {
		t.Error("the newest index went with the old ones")
	}
}

// TestIndexAtOnce: processes that read and write an index at once.
func TestIndexAtOnce(t *testing.T) {
	h := newMachine(t)
	h.fill()
	want := h.library().List()
	var all sync.WaitGroup
	for range 8 {
		l := h.later()
		for range 2 {
			all.Go(func() {
				if diff := cmp.Diff(want, l.List()); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
	all.Wait()
}

// TestListIsInOrderOfLookup: of several tools with one name the list shows as found the
// one that Lookup finds.
func TestListIsInOrderOfLookup(t *testing.T) {
	h := newMachine(t)
	h.tool("repo/.flowrun/tools/a.yaml", "x")
	h.tool("repo/.flowrun/tools/x.json", "x")
	h.tool("repo/.flowrun/tools/x.yaml", "x")
	h.tool("repo/.flowrun/tools/b.yaml", "y")
	h.tool("repo/.flowrun/tools/y.yaml", "z") // called y, says z
	h.tool("home/.cycod/tools/x.yaml", "x")
	lib := h.library()
	for _, e := range lib.List() {
		def, _, err := lib.Lookup(e.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if found := e.ShadowedBy == ""; found != (def.File == e.Path) {
			t.Errorf("%s in %s is listed as found: %v, and Lookup finds %s", e.Name, e.Path, found, def.File)
		}
	}
}

func TestMayHold(t *testing.T) {
	for src, want := range map[string]bool{
		"name: greet": true, `name: "gre\x65t"`: true, `name: "\x67reet"`: true, `{"name": "gr\u0065et"}`: true,
		"name: other\nbash: awk '{print \"a b\\n\"}'": false, "name: other\nbash: a\\b": false, "": false, `\`: false,
	} {
		if got := mayContain([]byte(src), "greet"); got != want {
			t.Errorf("mayHold(%q) = %v", src, got)
		}
	}
	long := []byte(strings.Repeat("a", 1<<20) + strings.Repeat(`\`, 1<<20))
	if mayContain(long, "greet") {
		t.Error("it holds no name")
	}
}

// FuzzMayHold: whatever name a text gives its tool, a search for that name finds it.
func FuzzMayHold(f *testing.F) {
	for _, src := range []string{"name: a", "name: \"a\\x62\"", "{\"name\": \"\\u0061\"}", "x: &n foo\nname: *n", "name: \"a\\\n  b\"", "n: &n {name: z}\n<<: *n"} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		def, _ := decode.File("another.yaml", src)
		if tool.ValidName(def.Name) && def.Name != "another" && !mayContain(src, def.Name) {
			t.Errorf("nobody finds %q in %q", def.Name, src)
		}
	})
}

// FuzzIndex: no bytes can make reading an index fail otherwise than by giving nothing.
func FuzzIndex(f *testing.F) {
	e := &indexed{fileStamp{1, 2, 3, 4, 5}, listed(decode.File("/dir/a.yaml", []byte("name: a\ntags: [x, y]\nbahs: x\n")))}
	f.Add(packIndex("/dir", index{"a.yaml": e, "b.yaml": {}}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		ix := unpackIndex("/dir", body)
		again := unpackIndex("/dir", packIndex("/dir", ix))
		if len(ix) > 0 && !cmp.Equal(ix, again, cmp.AllowUnexported(indexed{}, fileStamp{})) {
			t.Errorf("-was +is:\n%s", cmp.Diff(ix, again, cmp.AllowUnexported(indexed{}, fileStamp{})))
		}
	})
}

// TestIndexHoldsEverything: an entry comes back as it went in.
func TestIndexHoldsEverything(t *testing.T) {
	ix := index{}
	for pattern, n := range map[string]int{"../internal/lang/tool/testdata/spec001/*.yaml": 10, "../internal/lang/tool/testdata/bad/*.yaml": 10, "../examples/*.yaml": 10} {
		files, _ := filepath.Glob(pattern)
		if len(files) < n {
			t.Fatalf("%s: %d files", pattern, len(files))
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("/dir", filepath.Base(file))
			ix[filepath.Base(file)] = &indexed{fileStamp{1, 2, -3, 4, 1 << 63}, listed(decode.File(path, bytes.TrimSpace(src)))}
		}
	}
	if diff := cmp.Diff(ix, unpackIndex("/dir", packIndex("/dir", ix)), cmp.AllowUnexported(indexed{}, fileStamp{})); diff != "" {
		t.Errorf("-in +out:\n%s", diff)
	}
}

// The time after which a stamp is reliable depends on how finely the file system counts.
func TestSettled(t *testing.T) {
	const second = int64(time.Second)
	for _, c := range []struct {
		changed, read int64
		want          bool
	}{
		{5 * second, 7*second - 1, false},
		{5 * second, 7 * second, true},
		{5*second + 500e6, 6 * second, false}, // may count tenths of seconds
		{5*second + 123456, 5*second + 123456 + 100e6 - 1, false},
		{5*second + 123456, 5*second + 123456 + 100e6, true},
		{5*second + 123456, 4 * second, false},
		{0, 9 * second, false},
	} {
		if got := (fileStamp{changed: c.changed}).settled(time.Unix(0, c.read)); got != c.want {
			t.Errorf("changed at %d, read at %d: settled is %v", c.changed, c.read, got)
		}
	}
}
