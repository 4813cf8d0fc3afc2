package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// StepDemands returns what attempts of steps hold while they run, each thing once: locks and slots of pools. The Slots
// of a pool are 0, because the settings say how many it has.
func (p *Plan) StepDemands() []history.LockDemand { return stepDemands(p.compiled) }

// demandsOf returns what a claim demands.
func demandsOf(c *plan.Claim, pools map[string]history.Pool) []history.LockDemand {
	var list []history.LockDemand
	for _, l := range c.Locks {
		list = append(list, history.LockDemand{Kind: history.DemandLock, Name: l.Name.S, Slots: max(l.Slots, 1)})
	}
	if c.Pool != "" {
		list = append(list, history.LockDemand{Kind: history.DemandPool, Name: c.Pool, Slots: pools[c.Pool].Slots, Count: c.Slots, Rate: pools[c.Pool].Rate})
	}
	return list
}

// AdmissionOf returns what an attempt of a step queues for, for programs that share a run and have these pools. A pool
// that they do not have is left out: the caller has steps wait for its slots. Without Demands, there is nothing to wait for.
func AdmissionOf(p *Plan, step string, pools map[string]history.Pool) history.Admission {
	_, s := p.compiled.Find(dag.ID(step))
	if s == nil || s.Claim == nil {
		return history.Admission{}
	}
	a := history.Admission{Step: step, Demands: demandsOf(s.Claim, pools), Priority: s.Claim.Priority}
	a.Demands = slices.DeleteFunc(a.Demands, func(d history.LockDemand) bool { return d.Kind == history.DemandPool && d.Slots == 0 })
	return a
}

// Queues reports whether a step of the plan has something to wait for, see AdmissionOf.
func Queues(p *Plan, pools map[string]history.Pool) bool {
	return slices.ContainsFunc(p.compiled.Claims, func(c *plan.Claim) bool { return len(c.Locks) > 0 || pools[c.Pool].Slots > 0 })
}

// KeepsState reports whether the tool of a plan, or one that it uses, keeps values between its runs.
func KeepsState(p *Plan) bool { return p.compiled.KeepsState }

func stepDemands(p *plan.Plan) (list []history.LockDemand) {
	for _, c := range p.Claims {
		for _, d := range demandsOf(c, nil) {
			if !slices.ContainsFunc(list, d.Same) {
				list = append(list, d)
			}
		}
	}
	return list
}

// CheckAlone returns a *outcome.NoQueueError for a plan whose runs must see those of other processes, which needs a Store:
// they take locks or slots, or are limited in number.
func CheckAlone(p *Plan) error {
	if needs := append(p.LockDemands(), p.StepDemands()...); len(needs) > 0 {
		return &outcome.NoQueueError{Tool: p.Name(), Needs: needs}
	}
	return nil
}

// PoolError returns the first step that could never start with these pools: it uses one that is not there, or more slots
// than it has. It returns nil if there is none.
func (p *Plan) PoolError(pools map[string]history.Pool) *outcome.PoolError {
	return poolError(p.compiled, pools)
}

func poolError(p *plan.Plan, pools map[string]history.Pool) *outcome.PoolError {
	for _, c := range p.Claims {
		if has := pools[c.Pool].Slots; c.Pool != "" && has < c.Slots {
			return &outcome.PoolError{Tool: p.Name(), Step: c.Path, Pool: c.Pool, Wants: c.Slots, Has: has, Pools: slices.Sorted(maps.Keys(pools))}
		}
	}
	return nil
}

// acquirer returns the function that has steps wait for what they claim, nil for a run without claims.
func (e *Engine) acquirer(j *job) func(context.Context, dag.ID, any) (func(), error) {
	if len(j.plan.Claims) == 0 {
		return nil
	}
	return func(ctx context.Context, path dag.ID, claim any) (func(), error) {
		c := claim.(*plan.Claim)
		err := j.admitStep(ctx, history.Admission{Step: string(path), Demands: demandsOf(c, e.config.Pools), Priority: c.Priority})
		if err != nil {
			return nil, err
		}
		release := func() { _ = j.place.Leave(string(path)) } // if it fails, the end of the run gives it back
		if err := e.sweep(ctx); err != nil {
			release()
			return nil, err
		}
		return release, nil
	}
}

// admitStep waits until a step may hold what it demands, and reports each change of its queue position to WithQueue.
func (j *job) admitStep(ctx context.Context, a history.Admission) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	outer := j.args.RunEnv.Vars[procid.MarkRun]
	var since time.Time
	a.Notify = func(q history.QueuePosition) {
		if outer != "" && slices.ContainsFunc(q.Obstacles, func(o history.Obstacle) bool { return heldOnlyBy(o, outer) }) {
			giveUp(fmt.Errorf("it would wait forever: a step of run %s started this run, and that run holds what the step waits for (%s)", outer, q.Obstacles[0].Title()))
			return
		}
		since = q.Since
		j.reportQueued(q)
	}
	err := j.place.Admit(ctx, a)
	if !since.IsZero() && err == nil {
		j.reportQueued(history.QueuePosition{Run: j.id, Step: a.Step, Since: since})
	}
	if err != nil && !errors.Is(err, history.ErrFenced) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// reportQueued calls WithQueue; steps wait in goroutines of their own.
func (j *job) reportQueued(q history.QueuePosition) {
	if j.queued == nil {
		return
	}
	j.queuedMu.Lock()
	defer j.queuedMu.Unlock()
	j.queued(q)
}

// heldOnlyBy reports whether all that keeps a step waiting is held by one run.
func heldOnlyBy(o history.Obstacle, run string) bool {
	return len(o.Holders) > 0 && !slices.ContainsFunc(o.Holders, func(h history.Holder) bool { return h.Run != run })
}

// PoolsForTests returns pools that are large enough for every step of the plan, for programs that test tools.
func (p *Plan) PoolsForTests() map[string]history.Pool {
	pools := map[string]history.Pool{}
	for _, c := range p.compiled.Claims {
		pools[c.Pool] = history.Pool{Slots: 1 << 20}
	}
	return pools
}
