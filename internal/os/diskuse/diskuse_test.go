package diskuse

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestOf(t *testing.T) {
	dir := t.TempDir()
	empty := Of(dir)
	write := func(name string, size int) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	small := write("small", 1)
	one := Of(small)
	if one < 512 || one > 64<<10 {
		t.Skipf("a file of one byte takes %d here", one)
	}
	write("other", 1)
	if got := Of(dir); got < empty+2*one {
		t.Errorf("two small files take %d, without them %d, one of them %d", got, empty, one)
	}
	if got := Of(filepath.Join(dir, "none")); got != 0 {
		t.Errorf("no file takes %d", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	before := Of(dir)
	if err := os.Link(small, filepath.Join(dir, "again")); err != nil {
		t.Skip(err)
	}
	if got := Of(dir); got != before {
		t.Errorf("a second name takes %d", got-before)
	}
	private := Counter{Private: 1}
	private.Add(dir)
	if private.Bytes != before-one {
		t.Errorf("%d bytes are private of %d", private.Bytes, before)
	}
	sparse, err := os.Create(filepath.Join(dir, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer sparse.Close()
	if err := sparse.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	if got := Of(dir); got > before+1<<20 {
		t.Errorf("a sparse file takes %d", got-before)
	}
}
