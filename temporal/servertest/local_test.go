package servertest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/service/netclient"
)

// caseRunner runs a case in a folder and returns its run document.
type caseRunner interface {
	run(ctx context.Context, c *testCase, dir string) (document, error)
}

// document is a run document, flowrun/run.v1.
type document map[string]any

// pools are those that cases can use, with their slots. On Temporal, they are those of workers, except three.
var pools = map[string]int{"one": 1, "two": 2, "three": 3}

// countedPools are those that the settings have on Temporal, too.
var countedPools = map[string]history.Pool{"three": {Slots: 3}}

// local runs cases in this process.
type local struct{}

func (local) run(ctx context.Context, c *testCase, dir string) (document, error) {
	_, plan, err := c.compile(dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	go c.outside(dir, done, cancel)
	config := engine.Config{StateDir: filepath.Join(dir, "state"), Grace: time.Second, Fetch: netclient.Fetch}
	if len(plan.StepDemands())+len(plan.LockDemands()) > 0 || engine.KeepsState(plan) {
		config.Store, config.Pools = history.NewMemory(), map[string]history.Pool{}
		for name, slots := range pools {
			config.Pools[name] = history.Pool{Slots: slots}
		}
	}
	e := engine.New(config)
	res, err := e.Run(ctx, plan, c.Params, engine.WithRunEnv(runEnv(dir)), engine.WithApproval(c.approve))
	if err != nil {
		return nil, err
	}
	return documentOf(res)
}

// approve answers as the script says. Questions that it does not name stay open until their time is over.
func (c *testCase) approve(ctx context.Context, q history.Question) (history.Answer, error) {
	a, ok := c.Answers[q.Step]
	if !ok {
		<-ctx.Done()
		return history.Answer{}, ctx.Err()
	}
	return history.Answer{Approve: a.Approve, By: a.By, Comment: a.Comment, Values: a.Values}, nil
}

func runEnv(dir string) engine.RunEnv {
	return engine.RunEnv{Workspace: dir, Home: dir, Temp: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8"}}
}

func documentOf(res *runresult.Result) (d document, err error) {
	text, err := json.Marshal(res)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	return d, err
}
