package storetest

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// A list says of a run that a step has kept an artifact: from then on, also after its end and when it is resumed.
func testArtifacts(t *testing.T, s history.Store) {
	l := begin(t, s, record("keeps", "deploy"))
	begin(t, s, record("keeps-not", "deploy"))
	ended := func(seq uint64, artifacts ...dag.Artifact) dag.Event {
		r := dag.Result{Status: dag.Succeeded}
		r.SetArtifacts(artifacts)
		return dag.Event{V: 1, Seq: seq, Run: "keeps", Kind: dag.StepFinished, Node: "a", Time: runStart, Result: &r}
	}
	kept := func(want bool) {
		t.Helper()
		list, err := s.Runs(context.Background(), history.Query{Prefix: "keeps"})
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		for _, i := range list {
			if want := want && i.ID == "keeps"; i.Artifacts != want || info(t, s, i.ID).Artifacts != want {
				t.Errorf("run %s: artifacts %v, want %v", i.ID, i.Artifacts, want)
			}
		}
	}
	appendAll(t, l, ended(1))
	kept(false)
	appendAll(t, l, ended(2, dag.Artifact{Name: "report", Digest: "sha256:00"}))
	kept(true)
	appendAll(t, l, ended(3), end("keeps", 4, dag.Failed))
	kept(true)
	l.Close()
	appendAll(t, claim(t, s, "keeps", 4), dag.Event{V: 1, Seq: 5, Run: "keeps", Kind: dag.RunResumed, Time: runStart})
	kept(true)
}
