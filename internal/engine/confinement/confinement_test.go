package confinement

import (
	"reflect"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/engine/permission"
)

// Of the limits of two tools the lower one applies.
func TestLimitsWithin(t *testing.T) {
	a := Limits{MaxMemory: 5, MaxProcesses: 9, CPU: 0.5, MaxOutput: 7}
	b := Limits{MaxMemory: 9, MaxProcesses: 5, MaxCPU: time.Second, MaxFileSize: 3, MaxOpenFiles: 8}
	want := Limits{MaxMemory: 5, MaxProcesses: 5, MaxCPU: time.Second, CPU: 0.5, MaxFileSize: 3, MaxOpenFiles: 8, MaxOutput: 7}
	if got := a.within(b); got != want {
		t.Errorf("got %+v", got)
	}
	if got := b.within(a); got != want {
		t.Errorf("the other way round: %+v", got)
	}
	if got := (Limits{}).within(Limits{}); got != (Limits{}) || got.NeedKernel() || (Limits{MaxOutput: 1}).NeedKernel() || !want.NeedKernel() {
		t.Errorf("no limits: %+v", got)
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct{ inner, outer, want Confinement }{
		{Confinement{}, Confinement{}, Confinement{}},
		{Confinement{Reduced: true, Limits: Limits{MaxMemory: 5}}, Confinement{}, Confinement{Reduced: true, Limits: Limits{MaxMemory: 5}}},
		{Confinement{}, Confinement{Reduced: true, Limits: Limits{MaxMemory: 5}, Image: "a", Network: true}, Confinement{Reduced: true, Limits: Limits{MaxMemory: 5}, Image: "a", Network: true}},
		{Confinement{Limits: Limits{MaxMemory: 9}}, Confinement{Limits: Limits{MaxMemory: 5}}, Confinement{Limits: Limits{MaxMemory: 5}}},
		{Confinement{Limits: Limits{MaxMemory: 5}}, Confinement{Limits: Limits{MaxMemory: 9}}, Confinement{Limits: Limits{MaxMemory: 5}}},
		{Confinement{Image: "a", Network: true}, Confinement{}, Confinement{Image: "a", Network: true}},
		{Confinement{Image: "a", Network: true}, Confinement{Image: "b"}, Confinement{Image: "a"}},
		{Confinement{Image: "a"}, Confinement{Image: "b", Network: true}, Confinement{Image: "a"}},
		{Confinement{Enforced: true, Grants: permission.Grants{"network"}}, Confinement{}, Confinement{Enforced: true, Grants: permission.Grants{"network"}}},
		{Confinement{Grants: permission.Grants{"network", "model"}}, Confinement{Enforced: true, Grants: permission.Grants{"network:local"}}, Confinement{Enforced: true, Grants: permission.Grants{"network:local"}}},
	} {
		if got := c.inner.Within(c.outer); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v within %+v: %+v, want %+v", c.inner, c.outer, got, c.want)
		}
	}
}

func TestSizeText(t *testing.T) {
	for n, want := range map[int64]string{200_000_000: "200 MB", 1 << 30: "1 GiB", 1500: "1500 bytes", 512_000: "500 KiB", 3_000_000_000_000: "3 TB"} {
		if got := SizeText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
