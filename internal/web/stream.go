package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/service"
)

// stream is an answer that goes on. Each write has a deadline: a reader that does not
// read is dropped.
type stream struct {
	w     http.ResponseWriter
	ctl   *http.ResponseController
	limit time.Duration // for one write
	buf   []byte
}

// begin begins the answer, so that the client hears of it at once.
func (d *door) begin(w http.ResponseWriter, media string) (*stream, error) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("X-Accel-Buffering", "no") // a proxy that collects would keep the stream to itself
	w.WriteHeader(http.StatusOK)
	s := &stream{w: w, ctl: http.NewResponseController(w), limit: d.write}
	return s, s.flush()
}

// Write sends bytes as they are.
func (s *stream) Write(b []byte) (int, error) {
	_ = s.ctl.SetWriteDeadline(time.Now().Add(s.limit))
	return s.w.Write(b)
}

func (s *stream) flush() error {
	_ = s.ctl.SetWriteDeadline(time.Now().Add(s.limit))
	return s.ctl.Flush()
}

// event sends one event of a run under a number. Where the machine keeps the logs is not
// told.
func (s *stream) event(id uint64, run string, e dag.Event) error {
	e.Run = run
	if e.Result != nil {
		r := *e.Result
		r.Message = outside(r.Reason, r.Message)
		r.Stdout, r.Stderr = nowhere(r.Stdout), nowhere(r.Stderr)
		e.Result = &r
	}
	b := append(s.buf[:0], "id: "...)
	b = strconv.AppendUint(b, id, 10)
	b = append(b, "\ndata: "...)
	b = e.AppendJSON(b)
	s.buf = append(b, "\n\n"...)
	_, err := s.Write(s.buf)
	return err
}

// nowhere is a step's output without the file it stands in.
func nowhere(o *dag.Output) *dag.Output {
	if o == nil || o.File == "" {
		return o
	}
	bare := *o
	bare.File = ""
	return &bare
}

// named sends a message about the stream itself.
func (s *stream) named(event string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if _, err := s.Write([]byte("event: " + event + "\ndata: " + string(b) + "\n\n")); err != nil {
		return err
	}
	return s.flush()
}

// beat sends a sign of life. The number moves on a client that was sent nothing because
// it filters, so that it does not ask again for what it does not want.
func (s *stream) beat(id uint64) error {
	b := ":\n\n"
	if id > 0 {
		b = ":\nid: " + strconv.FormatUint(id, 10) + "\n\n"
	}
	if _, err := s.Write([]byte(b)); err != nil {
		return err
	}
	return s.flush()
}

// position is the number of the last event that the client knows, 0 for none.
func position(r *http.Request) (uint64, error) {
	word := r.Header.Get("Last-Event-ID")
	if word == "" {
		word = r.URL.Query().Get("after")
	}
	if word == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(word, 10, 63)
	if err != nil {
		return 0, refuse(400, "wrong-position", "the number of the last event is not a whole number", "send the id of the last event you received, or omit it")
	}
	return n, nil
}

func (d *door) stopping() bool {
	select {
	case <-d.Stopping:
		return true
	default:
		return false
	}
}

// watch streams the events of all runs.
func (d *door) watch(w http.ResponseWriter, r *http.Request) error {
	at, err := position(r)
	if err != nil {
		return err
	}
	if d.stopping() {
		return service.ErrDraining
	}
	run, tool := r.URL.Query().Get("run"), r.URL.Query().Get("tool")
	updates, lost := d.Watch(r.Context(), at)
	s, err := d.begin(w, asStream)
	if err != nil || r.Method == http.MethodHead {
		return err
	}
	if lost {
		if err := s.named("reset", struct{}{}); err != nil {
			return err
		}
	}
	c, beat := known(r), time.NewTicker(d.beat)
	defer beat.Stop()
	skipped := uint64(0)
	for {
		select {
		case u, more := <-updates:
			if !more {
				return nil // the service has ended, or this reader was too slow
			}
			if !c.may(u.Tool) || run != "" && u.Run != run || tool != "" && u.Tool != tool {
				skipped = u.ID
				continue
			}
			skipped = 0
			if err := s.event(u.ID, u.Run, u.Event); err != nil {
				return err
			}
			if len(updates) == 0 { // else the next one is here already
				if err := s.flush(); err != nil {
					return err
				}
			}
		case <-beat.C:
			if err := s.beat(skipped); err != nil {
				return err
			}
		case <-d.Stopping:
			return nil
		case <-r.Context().Done():
			return nil
		}
	}
}

// runEvents streams the events of one run, from its history and then as they come. What
// is new is heard of from the feed, but the history has the last word: the feed may leave
// out what the history has.
func (d *door) runEvents(w http.ResponseWriter, r *http.Request) error {
	id, err := runID(r)
	if err != nil {
		return err
	}
	at, err := position(r)
	if err != nil {
		return err
	}
	if _, err := d.Info(r.Context(), id); err != nil {
		return err
	}
	s, err := d.begin(w, asStream)
	if err != nil || r.Method == http.MethodHead {
		return err
	}
	f := follower{door: d, stream: s, run: id, at: at}
	f.updates, _ = d.Watch(r.Context(), 0) // before the history is read, so that nothing falls between
	beat := time.NewTicker(d.beat)
	defer beat.Stop()
	for {
		info, err := d.Info(r.Context(), id) // before the events: what is written in between is a living run's
		if err != nil {
			return err
		}
		if err := f.history(r); err != nil {
			return err
		}
		f.ended = info.Status.Settled()
		if f.ended && info.PID == 0 { // else its owner is about to let go, or another has just taken it up
			return f.end(info)
		}
		if over, err := f.follow(r, beat.C); over || err != nil {
			return err
		}
	}
}

// follower is one reader of one run's events.
type follower struct {
	*door
	*stream
	run     string
	at      uint64   // the last that was sent
	kind    dag.Kind // of that
	ended   bool     // it was on record that the run had
	updates <-chan service.Update
}

// history sends what is on record and was not sent yet.
func (f *follower) history(r *http.Request) error {
	for {
		list, err := f.Events(r.Context(), f.run, f.at)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return f.flush()
		}
		for _, e := range list {
			if err := f.send(e); err != nil {
				return err
			}
		}
	}
}

func (f *follower) send(e dag.Event) error {
	f.at, f.kind = e.Seq, e.Kind
	return f.event(e.Seq, f.run, e)
}

// follow sends what the feed brings until the history is to be looked at again. over says
// that the stream is to end.
func (f *follower) follow(r *http.Request, beat <-chan time.Time) (over bool, err error) {
	var soon <-chan time.Time
	if f.ended || f.kind == dag.RunFinished { // the list of runs is about to say so too
		soon = time.After(f.look)
	}
	for {
		select {
		case u, more := <-f.updates:
			switch {
			case !more: // too slow for the feed, or the service stops
				f.updates, soon = nil, time.After(time.Second)
			case u.Run != f.run || u.Event.Seq <= f.at:
			case u.Event.Seq > f.at+1 || u.Event.Kind == dag.RunFinished:
				return false, nil
			default:
				if err := f.send(u.Event); err != nil {
					return true, err
				}
				if len(f.updates) == 0 {
					if err := f.flush(); err != nil {
						return true, err
					}
				}
			}
		case <-soon:
			if f.updates == nil {
				f.updates, _ = f.Watch(r.Context(), 0)
			}
			return false, nil
		case <-beat:
			return false, f.beat(0)
		case <-f.Stopping:
			return true, nil
		case <-r.Context().Done():
			return true, nil
		}
	}
}

// end tells that nothing more comes of the run by itself.
func (f *follower) end(info flowrun.RunInfo) error {
	return f.named("end", struct {
		Status dag.Status `json:"status"`
	}{info.Status})
}
