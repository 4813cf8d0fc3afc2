package schedule

import (
	"hash/fnv"
	"io"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/internal/cron"
)

// Schedule starts a tool at the times of a cron line.
type Schedule struct {
	// Name is unique in the set; the Book knows the schedule by it.
	Name string
	Tool string
	Spec cron.Spec
	// Params are the tool's parameters, as a caller gives them.
	Params map[string]any

	Overlap Overlap // "" is OverlapSkip
	CatchUp CatchUp // "" is CatchUpOnce
	// Window bounds catching up: what is later than this is missed for good. 0: no bound.
	Window time.Duration
	// Cap is how many slots CatchUpAll makes up for at most, the newest ones. 0: 100.
	Cap int
	// Jitter spreads starts: each slot starts up to so much later, but before the next
	// slot. How much is the same for a schedule's slot in every service.
	Jitter time.Duration
	// Start and End bound the slots: none before Start, and none at End or after it.
	// @every counts from Start where it is set. Zero: no bound.
	Start, End time.Time
	// SkipIfSuccessful leaves a slot out when the tool succeeded since the slot before it,
	// in a run that the schedule did not begin.
	SkipIfSuccessful bool
	// Paused schedules do not fire. What passes meanwhile is not late afterwards.
	Paused bool
	// Source is where the schedule comes from, for people.
	Source string
}

// Overlap says what becomes of a slot while a run of the schedule is under way.
type Overlap string

// What Overlap can be.
const (
	OverlapSkip    Overlap = "skip"           // the slot is left out
	OverlapQueue   Overlap = "queue"          // it starts afterwards; one at most waits
	OverlapReplace Overlap = "cancel-running" // the run is cancelled, the slot starts
	OverlapAllow   Overlap = "allow"          // both run
)

// CatchUp says what becomes of slots that passed while no service was there.
type CatchUp string

// What CatchUp can be.
const (
	CatchUpNone CatchUp = "none" // they are missed
	CatchUpOnce CatchUp = "once" // the newest starts, for all of them
	CatchUpAll  CatchUp = "all"  // each starts, see Schedule.Window and Cap
)

// DefaultCap is how many slots are made up for at most where the schedule does not say.
const DefaultCap = 100

func (s *Schedule) max() int {
	if s.Cap > 0 {
		return s.Cap
	}
	return DefaultCap
}

// Plan is what makes the schedule's slots what they are: the line, its zone and Start. A
// schedule whose plan has changed is a new one, with nothing to make up for.
func (s *Schedule) Plan() string {
	if s.Start.IsZero() {
		return s.Spec.String()
	}
	return s.Spec.String() + " from " + s.Start.UTC().Format(time.RFC3339)
}

// Next is the first slot after a time and within the bounds; zero: none. It ignores
// Paused.
func (s *Schedule) Next(after time.Time) time.Time {
	if !s.Start.IsZero() && after.Before(s.Start) {
		after = s.Start.Add(-time.Nanosecond)
	}
	at := s.Spec.Next(after)
	if !s.End.IsZero() && !at.Before(s.End) {
		return time.Time{}
	}
	return at
}

// due is when a slot starts: jitter later, but always before the next slot, so that
// slots start in their order.
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

// mix spreads what differs in the last bits, as one slot from the next, over all bits.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
