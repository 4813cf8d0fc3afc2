package pagefault

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

const pages = 1000

// TestCount runs this test again as a program that touches pages, or lets the kernel map them all at once.
func TestCount(t *testing.T) {
	if how := os.Getenv("TOUCH"); how != "" {
		touch(how)
		return
	}
	count := func(how string) Faults {
		t.Helper()
		c := exec.Command(os.Args[0], "-test.run=^TestCount$")
		c.Env = append(os.Environ(), "TOUCH="+how)
		f, err := Count(c)
		if errors.Is(err, ErrUnavailable) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if f.Text == 0 || f.ReadOnly == 0 || f.Data == 0 || f.Heap == 0 || f.Mappings == 0 {
			t.Errorf("%s: a part has no page faults: %+v", how, f)
		}
		return f
	}
	none, each, together := count("no page"), count("each page"), count("all together")
	if each.Mappings < none.Mappings+pages*9/10 || together.Mappings > none.Mappings+pages/2 {
		t.Errorf("no page: %+v; each: %+v; together: %+v", none, each, together)
	}
}

func touch(how string) {
	b, err := unix.Mmap(-1, 0, pages*unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		panic(err)
	}
	unix.Madvise(b, unix.MADV_NOHUGEPAGE)
	if how == "all together" {
		unix.Madvise(b, unix.MADV_POPULATE_WRITE)
	}
	for i := 0; how != "no page" && i < len(b); i += unix.Getpagesize() {
		b[i] = 1
	}
}
