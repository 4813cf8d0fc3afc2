//go:build linux || darwin

package diskspace

import "testing"

func TestFree(t *testing.T) {
	free, size, ok := Free(t.TempDir())
	if !ok || free < 0 || size <= 0 || free > size {
		t.Errorf("%d of %d bytes are free, %v", free, size, ok)
	}
	if _, _, ok := Free("/there/is/no/such/folder"); ok {
		t.Error("a folder that does not exist has space")
	}
}
