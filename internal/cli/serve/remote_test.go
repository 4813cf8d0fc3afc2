package serve

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/history"
)

// failing is a Store that cannot list its runs for some calls.
type failing struct {
	history.Store
	times, calls int
}

func (f *failing) Runs(context.Context, history.Query) ([]history.RunInfo, error) {
	if f.calls++; f.calls <= f.times {
		return nil, errors.New("nobody answers")
	}
	return []history.RunInfo{{ID: "a"}}, nil
}

// TestRemoteUnavailable: runs that cannot be listed are left out, the log says why, and they are asked for again later.
func TestRemoteUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		store := &failing{times: 1}
		r := &remoteRuns{Store: store, log: slog.New(slog.NewTextHandler(&log, nil))}
		for range 3 {
			if list, err := r.Runs(t.Context(), history.Query{}); len(list) != 0 || err != nil {
				t.Errorf("%v, %v", list, err)
			}
		}
		if store.calls != 1 || strings.Count(log.String(), "nobody answers") != 1 {
			t.Errorf("asked %d times: %s", store.calls, log.String())
		}
		time.Sleep(listAgainAfter)
		if list, err := r.Runs(t.Context(), history.Query{}); len(list) != 1 || err != nil {
			t.Errorf("%v, %v", list, err)
		}
	})
}
