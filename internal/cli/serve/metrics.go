package serve

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/observe/measure"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/attention"
	"github.com/flowrun/flowrun/internal/service/catalog"
)

// measured returns what the metrics read at each scrape.
func (s *server) measured() measure.State {
	state := measure.State{Pools: s.poolLoads,
		Runs: func() (int, int) { return service.OpenRuns(s.store) },
		Attention: func() (list []measure.Attention) {
			for _, i := range s.attention.Items() {
				list = append(list, measure.Attention{Kind: i.Kind, Tool: i.Tool})
			}
			return list
		},
		Schedules: s.scheduleClocks}
	for _, k := range attention.Kinds() {
		state.AttentionKinds = append(state.AttentionKinds, k.Name)
	}
	return state
}

// scheduleClocks returns when the schedules fire, for the metrics. While the history cannot be read, there are none.
func (s *server) scheduleClocks() (list []measure.Schedule) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	clocks, _ := s.schedules.Load().Clocks(ctx)
	for _, c := range clocks {
		list = append(list, measure.Schedule{Name: c.Schedule, Tool: c.Tool, Next: c.Next, Previous: c.Previous})
		s.serviceMetrics.SchedulesMissed(c.Schedule, 0)
	}
	return list
}

// followTools makes the series of every tool as soon as the tool is known, so that a counter which is exported for the first
// time is 0, and its first failure is an increase. The time of the last success comes from the history. stop ends it.
func (s *server) followTools(ctx context.Context) (stop func()) {
	known, version := map[string]bool{}, uint64(0)
	look := func(ctx context.Context) {
		now := s.service.Tools.Version()
		if now == version {
			return
		}
		version = now
		tools := s.service.Tools.Tools()
		slices.SortStableFunc(tools, func(x, y catalog.Tool) int { // the others run when somebody looks
			switch {
			case x.Scheduled == y.Scheduled:
				return 0
			case x.Scheduled:
				return -1
			}
			return 1
		})
		for _, t := range tools {
			s.metrics.Known(t.Name, t.Steps)
			if !known[t.Name] {
				known[t.Name] = true
				s.restoreLastSuccess(ctx, t.Name)
			}
		}
	}
	look(ctx)
	return every(ctx, time.Second, look)
}

// auditInterrupted is the action in the audit log for a run whose process was killed.
const auditInterrupted = "interrupted"

// cutOff counts a run whose process was killed, whatever service finds it first: the metrics of that process are gone.
func (s *server) cutOff(ctx context.Context, run history.RunInfo) {
	first, err := s.store.Audit().AddOnce(ctx, auditInterrupted, run.ID, fmt.Sprintf("owner %d was killed", run.Epoch))
	if err != nil {
		s.log.Warn("cannot count an interrupted run", "run", run.ID, "error", err.Error())
	}
	if first {
		count := s.metrics.Run(run.Tool)
		count.Emit(dag.Event{Kind: dag.RunStarted, Time: time.Now()})
		count.Close()
	}
}

// restoreLastSuccess sets the metric of the last success of a tool from the history. It ignores errors; the metric is then
// missing.
func (s *server) restoreLastSuccess(ctx context.Context, tool string) {
	found, err := s.store.Runs(ctx, history.Query{Tool: tool, Status: []dag.Status{dag.Succeeded}, Limit: 1})
	if err == nil && len(found) > 0 {
		s.metrics.Succeeded(tool, found[0].Ended)
	}
}
