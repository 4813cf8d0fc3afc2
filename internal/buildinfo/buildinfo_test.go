package buildinfo

import "testing"

func TestReleased(t *testing.T) {
	for module, want := range map[string]string{
		"": "", "v1.2.3": "1.2.3", "v1.2.3-rc.1": "1.2.3-rc.1", "v0.0.0-20261121080000-0123456789ab": "",
	} {
		if got := released(module); got != want {
			t.Errorf("%q: %q, want %q", module, got, want)
		}
	}
	if s := Stamped(); s != (Stamp{}) || Release() != released(Module()) {
		t.Errorf("nobody stamped this test: %+v, %q", s, Release())
	}
}
