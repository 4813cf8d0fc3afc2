package web

import (
	"net/netip"
	"testing"
	"time"
)

// TestThrottle: the delays of wrong tokens grow, for each address alone, and are forgotten after a minute without one.
func TestThrottle(t *testing.T) {
	var b throttle
	now := time.Now()
	one, other := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")
	for i := range 30 {
		want := max(0, min(time.Duration(i-9)*100*time.Millisecond, time.Second))
		if got := b.wait(one, now); got != want {
			t.Errorf("wrong token %d is delayed by %v, want %v", i+1, got, want)
		}
		now = now.Add(time.Minute)
	}
	if got := b.wait(other, now); got != 0 {
		t.Errorf("another address is delayed by %v", got)
	}
	if got := b.wait(one, now.Add(time.Second)); got != 0 {
		t.Errorf("more than a minute later, the delay is %v", got)
	}
}
