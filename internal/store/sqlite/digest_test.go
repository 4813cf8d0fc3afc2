package sqlite

import (
	"slices"
	"testing"
	"time"
)

// TestPruneDigests checks that prune removes what a notification has left that was removed long ago, and nothing else.
func TestPruneDigests(t *testing.T) {
	s := openTest(t, t.TempDir())
	ctx, now := t.Context(), time.Now()
	for rule, sent := range map[string]time.Time{"old": now.Add(-maxDigestAge - time.Hour), "sent": now.Add(-time.Hour), "new": {}} {
		if err := s.Digests().Add(ctx, rule, "run", "failed", "a line"); err != nil {
			t.Fatal(err)
		}
		if sent.IsZero() {
			continue
		}
		if d, err := s.Digests().Due(ctx, rule, time.Hour, sent); err != nil || d == nil {
			t.Fatal(d, err)
		}
	}
	if _, err := s.Retention().Prune(ctx, Policy{}); err != nil {
		t.Fatal(err)
	}
	rules, err := s.Digests().Rules(ctx)
	slices.Sort(rules)
	if want := []string{"new", "sent"}; err != nil || !slices.Equal(rules, want) {
		t.Errorf("%v are left, want %v (%v)", rules, want, err)
	}
	for rule, want := range map[string]bool{"old": false, "sent": true, "new": true} {
		if d, err := s.Digests().Due(ctx, rule, time.Hour, now.Add(2*time.Hour)); err != nil || (d != nil) != want {
			t.Errorf("digest %s: %+v, %v", rule, d, err)
		}
	}
}
