package rundocs_test

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
)

// joining is a history in which a run joins the queue just before its runs are listed.
type joining struct{ joined bool }

func (s *joining) Runs(context.Context, history.Query) ([]history.RunInfo, error) {
	s.joined = true
	return []history.RunInfo{{ID: "two", Tool: "db", Status: dag.Pending}, {ID: "one", Tool: "db", Status: dag.Running}}, nil
}

func (s *joining) Queue(context.Context) (history.Queue, error) {
	lock := []history.LockDemand{{Kind: history.DemandLock, Name: "db", Slots: 1}}
	queue := history.Queue{{Run: "one", Demands: lock, Held: true}}
	if s.joined {
		queue = append(queue, history.QueueEntry{Run: "two", Demands: lock})
	}
	return queue, nil
}

// TestReadPs: a run that is listed as pending is among those that wait for the lock.
func TestReadPs(t *testing.T) {
	doc, err := rundocs.ReadPs(t.Context(), new(joining), nil)
	if err != nil || len(doc.Locks) != 1 || len(doc.Locks[0].Waiting) != 1 || doc.Locks[0].Waiting[0] != "two" {
		t.Errorf("%+v %v", doc, err)
	}
	doc, err = rundocs.ReadPs(t.Context(), new(joining), func(tool string) bool { return tool != "db" })
	if err != nil || len(doc.Runs)+len(doc.Locks) != 0 {
		t.Errorf("%+v %v", doc, err)
	}
}
