package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
	"github.com/flowrun/flowrun/temporal/internal/values"
)

// State implements history.StateStore, for the tools of the task queue. A worker answers.
func (s *Store) State(ctx context.Context, id history.StateID) (list []history.StateValue, err error) {
	if err := ask(ctx, s.client, values.ID(interpreter.QueueName(s.queue)), values.ValuesQuery, &list); err != nil {
		return nil, fmt.Errorf("cannot read the values of task queue %s: %w", interpreter.QueueName(s.queue), err)
	}
	return slices.DeleteFunc(list, func(v history.StateValue) bool { return id != history.StateID{} && v.StateID != id }), nil
}

// SetState implements history.StateStore. A worker does it.
func (s *Store) SetState(ctx context.Context, changes []dag.StateChange) error {
	by := cmp.Or(history.ActorOf(ctx), strconv.Itoa(os.Getuid()))
	reply, err := values.Send(ctx, s.client, interpreter.QueueName(s.queue), s.queue, values.Request{By: by, Changes: changes})
	switch {
	case err != nil:
		return fmt.Errorf("cannot set values of task queue %s: %w", interpreter.QueueName(s.queue), err)
	case reply.Refused != nil:
		return reply.Refused
	case reply.Set == 0:
		return errors.New("the workers are of a version that cannot set values; upgrade them")
	}
	return nil
}

// StateHistory implements history.StateStore: the service has only current values.
func (s *Store) StateHistory(context.Context, history.StateID, string) ([]history.StateValue, error) {
	return nil, errors.New("who set earlier values is not kept on Temporal")
}
