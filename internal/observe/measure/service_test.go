package measure

import (
	"slices"
	"testing"
)

// TestScheduleSeries checks that the series of a schedule exist with 0 as soon as the service watches it.
func TestScheduleSeries(t *testing.T) {
	p, err := NewProgram(Options{Load: func() (int, int) { return 0, 0 }})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Service(State{Runs: func() (int, int) { return 0, 0 }, Pools: func() []Pool { return nil }, Attention: func() []Attention { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	s.ScheduleWatched("plain", false, false)
	s.ScheduleWatched("nightly", true, false)
	s.ScheduleWatched("hourly", true, true)
	s.ScheduleLate("nightly")
	s.ScheduleWatched("nightly", true, false) // read again
	late := map[string]float64{}
	for _, v := range s.late.Family().Samples() {
		late[v.Labels[0]] = v.Number
	}
	if len(late) != 2 || late["nightly"] != 1 || late["hourly"] != 0 {
		t.Error(late)
	}
	paused := s.paused.Family().Samples()
	if len(paused) != 1 || !slices.Equal(paused[0].Labels, []string{"hourly"}) || paused[0].Number != 0 {
		t.Errorf("%+v", paused)
	}
}
