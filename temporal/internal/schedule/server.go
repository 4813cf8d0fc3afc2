package schedule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
)

// stampKey is the field of the memo of an action that has the Stamp. It is in schedules, so it never
// changes.
const stampKey = "flowrun-schedule"

// IDPrefix returns the beginning of the ids of the schedules of a set. No two sets have a common
// beginning, so that each is changed without the others.
func IDPrefix(set string) string { return "flowrun:" + set + ":" }

// server is a Server at a Temporal service.
type server struct {
	client    client.ScheduleClient
	converter converter.DataConverter
	prefix    string
}

// At returns the schedules of a set at a Temporal service.
func At(c client.Client, dc converter.DataConverter, set string) Server {
	return &server{c.ScheduleClient(), dc, IDPrefix(set)}
}

// All returns the schedules of all sets.
func All(c client.Client, dc converter.DataConverter) Server {
	return &server{c.ScheduleClient(), dc, strings.TrimSuffix(IDPrefix(""), ":")}
}

// List implements Server. It reads the input of the schedules, so that a store does not count it as unused. A schedule that has the prefix and no Stamp was made by somebody else.
func (s *server) List(ctx context.Context) ([]Entry, error) {
	all, err := s.client.List(ctx, client.ScheduleListOptions{})
	if err != nil {
		return nil, err
	}
	var list []Entry
	for all.HasNext() {
		found, err := all.Next()
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(found.ID, s.prefix) {
			continue
		}
		e, err := s.describe(ctx, found.ID)
		if err != nil {
			return nil, fmt.Errorf("schedule %s: %w", found.ID, err)
		}
		list = append(list, e)
	}
	return list, nil
}

var errForeign = errors.New("it was not made by flowrun; rename it, or use another --set")

func (s *server) describe(ctx context.Context, id string) (e Entry, err error) {
	d, err := s.client.GetHandle(ctx, id).Describe(ctx)
	if err != nil {
		return e, err
	}
	action, ok := d.Schedule.Action.(*client.ScheduleWorkflowAction)
	if !ok {
		return e, errForeign
	}
	stamp, ok := action.Memo[stampKey].(*commonpb.Payload)
	if !ok {
		return e, errForeign
	}
	e = Entry{ID: id, Timing: Timing{*d.Schedule.Spec, d.Schedule.Policy.Overlap, d.Schedule.Policy.CatchupWindow}, Paused: d.Schedule.State.Paused}
	for _, arg := range action.Args {
		if p, ok := arg.(*commonpb.Payload); ok {
			err = errors.Join(err, s.converter.FromPayload(p, new(any)))
		}
	}
	return e, errors.Join(err, s.converter.FromPayload(stamp, &e.Stamp))
}

// action returns the action with the Stamp, which is encrypted as the input is.
func (s *server) action(e Entry) (*client.ScheduleWorkflowAction, error) {
	stamp, err := s.converter.ToPayload(e.Stamp)
	if err != nil {
		return nil, err
	}
	action := *e.Action
	action.Memo = maps.Clone(e.Action.Memo)
	action.Memo[stampKey] = stamp
	return &action, nil
}

// Create implements Server.
func (s *server) Create(ctx context.Context, e Entry) error {
	action, err := s.action(e)
	if err != nil {
		return err
	}
	_, err = s.client.Create(ctx, client.ScheduleOptions{ID: e.ID, Spec: e.Timing.Spec, Action: action, Overlap: e.Timing.Overlap,
		CatchupWindow: e.Timing.CatchUpWindow, Paused: e.Paused})
	return err
}

// Update implements Server.
func (s *server) Update(ctx context.Context, e Entry) error {
	action, err := s.action(e)
	if err != nil {
		return err
	}
	return s.client.GetHandle(ctx, e.ID).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			return &client.ScheduleUpdate{Schedule: &client.Schedule{Action: action, Spec: &e.Timing.Spec,
				Policy: &client.SchedulePolicies{Overlap: e.Timing.Overlap, CatchupWindow: e.Timing.CatchUpWindow},
				State:  &client.ScheduleState{Paused: e.Paused}}}, nil
		}})
}

// Delete implements Server.
func (s *server) Delete(ctx context.Context, id string) error {
	return s.client.GetHandle(ctx, id).Delete(ctx)
}
