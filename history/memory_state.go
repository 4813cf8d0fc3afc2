package history

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// State implements StateStore.
func (m *Memory) State(_ context.Context, id StateID) ([]StateValue, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.currentState(id), nil
}

// currentState returns the current values of a tool, or of all tools for the zero id.
func (m *Memory) currentState(id StateID) (list []StateValue) {
	for _, v := range m.state {
		if id == (StateID{}) || v.StateID == id {
			list = replaceState(list, v.copied())
		}
	}
	slices.SortFunc(list, func(a, b StateValue) int {
		return cmp.Or(strings.Compare(a.Tool, b.Tool), strings.Compare(a.File, b.File), strings.Compare(a.Key, b.Key))
	})
	return list
}

func (v StateValue) copied() StateValue {
	v.Value = bytes.Clone(v.Value)
	return v
}

// SetState implements StateStore.
func (m *Memory) SetState(ctx context.Context, changes []dag.StateChange) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	current := m.currentState(StateID{})
	next, err := NextState(changes, current, current)
	m.addState(next, "", cmp.Or(ActorOf(ctx), strconv.Itoa(os.Getuid())))
	return err
}

// addState adds new values, and returns them as they are then.
func (m *Memory) addState(values []StateValue, run, by string) []StateValue {
	for i := range values {
		v := &values[i]
		v.Run, v.By, v.At, v.Version = run, by, time.Now(), 1
		if n := len(m.state); n > 0 {
			v.Version = m.state[n-1].Version + 1
		}
		m.state = append(m.state, v.copied())
		if past := m.stateHistory(v.StateID, v.Key); len(past) > MaxStateHistory {
			oldest := past[len(past)-1].Version
			m.state = slices.DeleteFunc(m.state, func(o StateValue) bool { return o.Version == oldest })
		}
	}
	return values
}

// StateHistory implements StateStore.
func (m *Memory) StateHistory(_ context.Context, id StateID, key string) ([]StateValue, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stateHistory(id, key), nil
}

func (m *Memory) stateHistory(id StateID, key string) (list []StateValue) {
	for _, v := range slices.Backward(m.state) {
		if v.StateID == id && (key == "" || v.Key == key) {
			list = append(list, v.copied())
		}
	}
	return list
}

// ReadState implements Ledger.
func (l *memoryLedger) ReadState(_ context.Context, id StateID, from string) (list []StateValue, err error) {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	if l.run.owner != l {
		return nil, fmt.Errorf("cannot read the state for run %s: %w", l.run.info.ID, ErrFenced)
	}
	if !l.run.stateRead[id] {
		if l.run.stateRead == nil {
			l.run.stateRead = map[StateID]bool{}
		}
		l.run.stateRead[id] = true
		seen := l.memory.currentState(id)
		if other := l.memory.find(from); other != nil && other.stateRead[id] {
			seen = slices.DeleteFunc(slices.Clone(other.stateSeen), func(v StateValue) bool { return v.StateID != id })
		}
		l.run.stateSeen = append(l.run.stateSeen, seen...)
	}
	for _, v := range l.run.stateSeen {
		if v.StateID == id && v.Run != l.run.info.ID {
			list = replaceState(list, v.copied())
		}
	}
	return list, nil
}

// keepState keeps the values that the events set. The caller holds the lock.
func (l *memoryLedger) keepState(events []dag.Event) error {
	changes := StateChanges(events)
	if len(changes) == 0 {
		return nil
	}
	next, err := NextState(changes, l.memory.currentState(StateID{}), l.run.stateSeen)
	l.run.stateSeen = append(l.run.stateSeen, l.memory.addState(next, l.run.info.ID, "")...)
	return err
}
