package web

import (
	"context"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/catalog"
	"github.com/flowrun/flowrun/internal/service/feed"
)

// Service is what the handlers need of a service, one part each. The parts of a service.Service
// say what their methods do.
type Service struct {
	Starter Starter
	Control Control
	History History
	Runs    Runs
	Feed    Feed
	Tools   Tools
	Editor  Editor
	Health  func() service.Health
}

// ServiceOf returns the parts of a service; nil of nil.
func ServiceOf(s *service.Service) *Service {
	if s == nil {
		return nil
	}
	return &Service{s.Starter, s.Control, s.History, s.Runs, s.Feed, s.Tools, s.Editor, s.Health}
}

// Starter starts runs, see service.Starter.
type Starter interface {
	Start(ctx context.Context, r service.Request) (id string, err error)
	Failed(ctx context.Context, r service.Request, why error)
	Preview(ctx context.Context, plan *engine.Plan, params map[string]any) (*preview.Preview, error)
}

// Control changes what happens to runs, see service.Control.
type Control interface {
	Cancel(ctx context.Context, id, reason string) error
	Resume(ctx context.Context, id string) error
	Retry(ctx context.Context, id string, from []string) (retry string, err error)
	PreviewResume(ctx context.Context, id string) (*engine.Continuation, error)
	PreviewRetry(ctx context.Context, id string, from []string) (*engine.Continuation, error)
	Answer(ctx context.Context, id, step string, a service.Answer) error
}

// History reads what is recorded, see history.Store.
type History interface {
	Info(ctx context.Context, id string) (history.RunInfo, error)
	Record(ctx context.Context, id string) (*history.Record, error)
	Events(ctx context.Context, id string, after uint64) ([]dag.Event, error)
	Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error)
	Queue(ctx context.Context) (history.Queue, error)
	State(ctx context.Context, id history.StateID) ([]history.StateValue, error)
}

// Runs reads runs with their definitions, live or not, see recorded.Runs.
type Runs interface {
	RecordedRun(ctx context.Context, id string) (*engine.RecordedRun, error)
}

// Feed subscribes to the events of all runs, see feed.Feed.
type Feed interface {
	Watch(ctx context.Context, after uint64) (updates <-chan []*feed.Update, lost bool)
	Last() uint64
}

// Tools reads the tools that are offered to callers over the network, see catalog.Catalog.
type Tools interface {
	Tools() []catalog.Tool
	Plan(name string) (*engine.Plan, error)
	Offered(past *engine.RecordedRun) error
}

// Editor reads, checks and saves definitions, see catalog.Editor.
type Editor interface {
	Source(name string) (*catalog.Source, error)
	Check(name, kind string, text []byte) (*engine.Plan, tool.Diagnostics, error)
	Save(name, digest string, text []byte) (*catalog.Source, error)
}
