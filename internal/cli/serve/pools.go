package serve

import (
	"context"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/observe/measure"
)

// poolLoads returns how much of each pool is used, by all runs of the state directory. If the queue cannot be read, it
// returns none: a scrape must not report that everything is free.
func (s *server) poolLoads() []measure.Pool {
	pools := s.flags.Settings.Pools()
	if len(pools) == 0 {
		return nil
	}
	queue, err := s.store.Queue(context.Background())
	if err != nil {
		return nil
	}
	return loadsOf(pools, queue)
}

func loadsOf(pools map[string]history.Pool, queue history.Queue) (list []measure.Pool) {
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		p := measure.Pool{Name: name, Slots: pools[name].Slots}
		for _, q := range queue {
			for _, d := range q.Demands {
				switch {
				case d.Kind != history.DemandPool || d.Name != name:
				case q.Held:
					p.Used += max(d.Count, 1)
				default:
					p.Waiting++
				}
			}
		}
		list = append(list, p)
	}
	return list
}
