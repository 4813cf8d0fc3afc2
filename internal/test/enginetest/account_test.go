package enginetest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
)

// TestAccount: what a run says beside its status is recorded with it, also what is known only when its processes have been
// ended, and its status has the number.
func TestAccount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		codes []string
		notes []string
	}{
		"nothing":      {"bash: echo", nil, nil},
		"two":          {"run: echo {env.UNSET}\nresources: {cleanup: [{final-command: 'exit 3'}]}", []string{notice.Unset, notice.CleanupFailed}, []string{"cleanup failed", "1 notice"}},
		"a background": {"bash: sleep 300 &", []string{notice.Background}, []string{"1 notice"}},
		"a failure":    {"bash: exit 1\nresources: {cleanup: [{final-command: 'exit 3'}]}", []string{notice.CleanupFailed}, []string{"1 notice"}},
		"tolerated":    {"steps: [{name: a, bash: exit 1, continue-on-error: true}, {name: b, bash: exit 1}]", []string{notice.Tolerated}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a background" && runtime.GOOS == "windows" {
				t.Skip("it has no such processes")
			}
			h := newKeptRuns(t)
			var heard []notice.Notice
			res, err := engine.New(h.config).Run(t.Context(), h.compile(c.text+"\n"), nil, engine.WithRunEnv(h.world), engine.WithNotices(func(n notice.Notice) { heard = append(heard, n) }))
			if err != nil {
				t.Fatal(err)
			}
			var codes []string
			for _, n := range res.Notices {
				codes = append(codes, n.Code)
			}
			if !slices.Equal(codes, c.codes) || !slices.Equal(res.Notes, c.notes) {
				t.Errorf("codes %q, notes %q; want %q, %q", codes, res.Notes, c.codes, c.notes)
			}
			told := h.latest()
			if diff := cmp.Diff(res.Notices, told.Result().Notices); diff != "" || !slices.Equal(told.Info.Notes, res.Notes) {
				t.Errorf("history has the notes %q and other notices (-run +history):\n%s", told.Info.Notes, diff)
			}
			if diff := cmp.Diff(res.Notices, heard); diff != "" {
				t.Errorf("who listens heard (-run +heard):\n%s", diff)
			}
		})
	}
}

// TestManyNotices: a run keeps a limited number of notices, says how many there were more, and repeats none.
func TestManyNotices(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("steps:\n")
	for i := range 110 {
		fmt.Fprintf(&text, "  - {name: s%d, bash: 'exit 1', continue-on-error: true}\n", i)
	}
	text.WriteString("  - {name: reads, run: 'echo {env.UNSET}'}\n")
	res := newBed(t).run(t.Context(), text.String(), nil)
	if last := res.Notices[len(res.Notices)-1]; len(res.Notices) != 101 || last.Code != notice.More || last.Message != "11 more notices were not kept" {
		t.Errorf("%d notices, the last is %+v", len(res.Notices), last)
	}
}

// TestNoticesOfResume: a resumed run keeps what its earlier owner has noticed of the results that stay.
func TestNoticesOfResume(t *testing.T) {
	t.Parallel()
	h := newKeptRuns(t)
	p := h.compile("steps: [{name: a, bash: exit 1, continue-on-error: true}, {name: b, run: 'echo {env.UNSET}'}, {name: c, bash: '[ -e fixed ]', continue-on-error: false}]\n")
	res, err := engine.New(h.config).Run(t.Context(), p, nil, engine.WithRunEnv(h.world))
	if err != nil || res.Status != dag.Failed || len(res.Notices) != 2 {
		t.Fatal(res, err)
	}
	h.file("fixed", "")
	again := h.resume(engine.ResumeOptions{})
	if diff := cmp.Diff(res.Notices, again.Notices); diff != "" || again.Status != dag.Succeeded || !slices.Equal(again.Notes, []string{"1 tolerated", "1 notice"}) {
		t.Errorf("%s with notes %q (-before +after):\n%s", again.Status, again.Notes, diff)
	}
}
