package schedule

import (
	"hash/fnv"
	"io"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/internal/lang/cron"
)

// Schedule starts a tool at the times of a cron expression.
type Schedule struct {
	// Name is unique in the set and identifies the schedule in the Firings.
	Name string
	Tool string
	Spec cron.Spec
	// Params are the tool's parameters, as a caller would give them.
	Params map[string]any
	// Labels are those of its runs, beside those of the tool.
	Labels map[string]string

	Overlap Overlap // "" is OverlapSkip
	CatchUp CatchUp // "" is CatchUpOnce
	// Window is the time limit of catching up: later times are missed for good. 0: no
	// limit.
	Window time.Duration
	// Cap is the maximum number of times that CatchUpAll catches up, the newest ones. 0:
	// 100.
	Cap int
	// Jitter spreads starts: each run starts up to this much later, but before the next
	// scheduled time. The delay of a scheduled time is the same in every service.
	Jitter time.Duration
	// Start and End limit the times: none before Start, none at End or later. @every counts
	// from Start if it is set. Zero: no limit.
	Start, End time.Time
	// Except are days in the zone of Spec without times. @every continues to count on them.
	Except cron.Days
	// MustEndBy is until when the run of a time must have succeeded. It does not stop the run.
	MustEndBy cron.Deadline
	// PauseAfter is the number of failed runs in a row after which the schedule is paused; 0: never.
	PauseAfter int
	// SkipIfSuccessful skips a time if the tool succeeded since the previous time, in a run
	// that the schedule did not start.
	SkipIfSuccessful bool
	// Paused schedules do not fire. Times that pass meanwhile are not caught up.
	Paused bool
	// Source tells people where the schedule is defined.
	Source string
}

// Overlap is what happens at a time while a run of the schedule is active.
type Overlap string

// The values of Overlap.
const (
	OverlapSkip    Overlap = "skip"           // nothing starts
	OverlapQueue   Overlap = "queue"          // the run starts afterwards; at most one is queued
	OverlapReplace Overlap = "cancel-running" // the active run is cancelled, then the new one starts
	OverlapAllow   Overlap = "allow"          // both run
)

// CatchUp is what happens with times that passed while no service was running.
type CatchUp string

// The values of CatchUp.
const (
	CatchUpNone CatchUp = "none" // they are missed
	CatchUpOnce CatchUp = "once" // the newest fires, in place of all of them
	CatchUpAll  CatchUp = "all"  // each fires, see Schedule.Window and Cap
)

// DefaultCap is the limit of caught-up times for a schedule without a Cap.
const DefaultCap = 100

func (s *Schedule) catchUpLimit() int {
	if s.Cap > 0 {
		return s.Cap
	}
	return DefaultCap
}

// Plan identifies the times of the schedule: the cron expression, its zone and Start. A
// schedule whose plan has changed is a new one, which has nothing to catch up.
func (s *Schedule) Plan() string {
	if s.Start.IsZero() {
		return s.Spec.String()
	}
	return s.Spec.String() + " from " + s.Start.UTC().Format(time.RFC3339)
}

// Next returns the first time after another one and within the limits; zero: none. It
// ignores Paused.
func (s *Schedule) Next(after time.Time) time.Time {
	if !s.Start.IsZero() && after.Before(s.Start) {
		after = s.Start.Add(-time.Nanosecond)
	}
	at := s.Spec.Next(after)
	for !at.IsZero() && s.Except.Contains(at) {
		at = s.Spec.Next(s.Except.Skip(at))
	}
	if !s.End.IsZero() && !at.Before(s.End) {
		return time.Time{}
	}
	return at
}

// maxLeftOut is how many times LeftOut counts at most.
const maxLeftOut = 1000

// LeftOut returns the times after one time and before another that Except leaves out: the first and
// the last of them, and their number, at most 1000. If before is zero, there is no limit.
func (s *Schedule) LeftOut(after, before time.Time) (first, last time.Time, n int) {
	all := *s
	all.Except = cron.Days{}
	for at := all.Next(after); !at.IsZero() && (before.IsZero() || at.Before(before)) && s.Except.Contains(at) && n < maxLeftOut; at = all.Next(at) {
		if n++; n == 1 {
			first = at
		}
		last = at
	}
	return first, last, n
}

// due returns when a scheduled time starts: later by its jitter, but always before the next
// time, so that times start in order.
func (s *Schedule) due(at time.Time) time.Time {
	spread := s.Jitter
	if spread <= 0 {
		return at
	}
	if next := s.Next(at); !next.IsZero() {
		spread = min(spread, next.Sub(at))
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, s.Name+" "+strconv.FormatInt(at.Unix(), 10))
	share := float64(mix(h.Sum64())>>11) / (1 << 53)
	return at.Add(time.Duration(share * float64(spread)))
}

// mix spreads differences in the last bits over all bits, because consecutive times differ
// only there.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
