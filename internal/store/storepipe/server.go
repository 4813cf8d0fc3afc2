package storepipe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/store/eventcode"
)

// Greet writes the first line of a server. It is written before the Store is opened, which can take time or fail.
func Greet(out io.Writer) error { return json.NewEncoder(out).Encode(greeting{protocol}) }

// Serve answers requests until in ends. Requests overlap, so the Store must be safe for concurrent use. artifact makes an artifact
// of the Store one of this machine.
func Serve(ctx context.Context, s history.Store, artifact func(dag.Artifact) (dag.Artifact, error), in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	var writing sync.Mutex
	encoder, decoder := json.NewEncoder(out), json.NewDecoder(bufio.NewReader(in))
	encoder.SetEscapeHTML(false)
	decoder.UseNumber()
	for {
		var q request
		if err := decoder.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("cannot read a request: %w", err)
		}
		work.Go(func() {
			r := reply{Number: q.Number}
			var err error
			if q.Method == artifactMethod {
				var here dag.Artifact
				here, err = artifact(*q.Artifact)
				r.Artifact = &here
			} else {
				err = r.fill(ctx, s, q)
			}
			if err != nil {
				r = reply{Number: q.Number}
				r.setError(err)
			}
			writing.Lock()
			defer writing.Unlock()
			_ = encoder.Encode(r) // if nobody reads it, in ends, too
		})
	}
}

// fill calls a method of the Store.
func (r *reply) fill(ctx context.Context, s history.Store, q request) (err error) {
	switch q.Method {
	case recordMethod:
		if r.Record, err = s.Record(ctx, q.Run); err == nil {
			for _, source := range r.Record.Sources {
				r.Texts = append(r.Texts, source.Text)
			}
		}
	case infoMethod:
		r.Runs = make([]history.RunInfo, 1)
		r.Runs[0], err = s.Info(ctx, q.Run)
	case eventsMethod:
		var events []dag.Event
		if events, err = s.Events(ctx, q.Run, q.After); len(events) > 0 {
			r.Events = eventcode.Append(nil, q.Run, events)
		}
	case runsMethod:
		r.Runs, err = s.Runs(ctx, *q.Query)
	case answerMethod:
		err = s.Answer(ctx, q.Run, *q.Answer)
	case cancelMethod:
		err = s.Cancel(ctx, q.Run, q.Reason)
	case queueMethod:
		r.Queue, err = s.Queue(ctx)
	default:
		err = fmt.Errorf("unknown method %q", q.Method)
	}
	for i := range r.Runs {
		r.Runs[i].Params = rawtext.EncodeMap(r.Runs[i].Params)
	}
	return err
}
