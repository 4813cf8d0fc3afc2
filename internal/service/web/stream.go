package web

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/service/feed"
)

// streaming holds what all streams have in common.
type streaming struct {
	stopping          <-chan struct{} // closed when the service begins to stop
	writeTimeout      time.Duration   // for one write of a stream; a whole document has answerTime
	keepAliveInterval time.Duration   // between keep-alive comments of a stream
	pollInterval      time.Duration   // between polls of the logs of a live run
}

// stream is a response that is sent in parts. Each write has a deadline: a client that does
// not read is disconnected.
type stream struct {
	slowWriter
	buf []byte       // what was not written yet
	zip *gzip.Writer // what compresses it; nil where more may come later
}

// maxUnwritten bounds the events that are written at once. A system call for each event and reader
// would cost more than a run of many short steps itself.
const maxUnwritten = 32 << 10

// begin sends the header of the response, so that the client receives it at once.
func (o *streaming) begin(w http.ResponseWriter, media string) (*stream, error) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("X-Accel-Buffering", "no") // a buffering proxy would hold back the stream
	w.WriteHeader(http.StatusOK)
	s := &stream{slowWriter: slowWriter{w, http.NewResponseController(w), o.writeTimeout}}
	return s, s.flush()
}

// beginWhole is begin for a stream whose events are all there: it is compressed for a client that can read that.
func (o *streaming) beginWhole(w http.ResponseWriter, r *http.Request, media string) (*stream, error) {
	w.Header().Set("Vary", "Accept-Encoding")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return o.begin(w, media)
	}
	w.Header().Set("Content-Encoding", "gzip")
	s, err := o.begin(w, media)
	if err == nil {
		s.zip = gzip.NewWriter(&s.slowWriter)
	}
	return s, err
}

// event sends an encoded event with the next flush, or before.
func (s *stream) event(id uint64, data []byte) error {
	s.buf = strconv.AppendUint(append(s.buf, "id: "...), id, 10)
	s.buf = append(append(s.buf, "\ndata: "...), data...)
	s.buf = append(s.buf, "\n\n"...)
	if len(s.buf) < maxUnwritten {
		return nil
	}
	return s.flush()
}

// flush sends everything now.
func (s *stream) flush() error {
	to := io.Writer(&s.slowWriter)
	if s.zip != nil {
		to = s.zip
	}
	_, err := to.Write(s.buf)
	s.buf = s.buf[:0]
	if err == nil && s.zip != nil {
		err = s.zip.Flush()
	}
	if err != nil {
		return err
	}
	return s.ctl.Flush()
}

// close ends a compressed stream.
func (s *stream) close() error {
	if s.zip == nil {
		return nil
	}
	return errors.Join(s.zip.Close(), s.ctl.Flush())
}

// encodeUpdate encodes the event of an update for callers.
func encodeUpdate(u *feed.Update) []byte { return encodeEvent(u.Run, u.Event) }

// encodeEvent encodes an event of a run for callers: without the paths of log files.
func encodeEvent(run string, e dag.Event) []byte {
	e.Run = run
	if e.Result != nil {
		r := *e.Result
		r.Message = publicMessage(r.Reason, r.Message)
		r.Stdout, r.Stderr = withoutFile(r.Stdout), withoutFile(r.Stderr)
		e.Result = &r
	}
	e = artifact.EncodedEvent(e)
	return e.AppendJSON(make([]byte, 0, 512))
}

// withoutFile returns a step's output without the path of its file.
func withoutFile(o *dag.Output) *dag.Output {
	if o == nil || o.File == "" {
		return o
	}
	bare := *o
	bare.File = ""
	return &bare
}

// control sends a message about the stream itself.
func (s *stream) control(event string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	s.buf = append(s.buf, "event: "+event+"\ndata: "+string(b)+"\n\n"...)
	return s.flush()
}

// keepAlive sends a comment that keeps the connection alive. A positive id advances the position
// of a client whose filter skipped events, so that a reconnect does not repeat them.
func (s *stream) keepAlive(id uint64) error {
	b := ":\n\n"
	if id > 0 {
		b = ":\nid: " + strconv.FormatUint(id, 10) + "\n\n"
	}
	s.buf = []byte(b) // and frees the memory of many events
	return s.flush()
}

// eventHandlers answer requests to follow events.
type eventHandlers struct {
	history   History
	feed      Feed
	streaming *streaming
}

func (h eventHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/runs/{id}/events", id: "runEvents", summary: "Follow the events of one run",
			doc: "Server-sent events, each with its number within the run in `id` and a flowrun/event.v1 document in `data`: all past events, or those after `after`, then new ones. " +
				"The last event is `event: end` with the run's status; close the connection then, or the client connects once more.",
			query:   []param{after, {name: "past", kind: "string", doc: "With 1, the stream ends after the past events, and has `event: end` only if the run has ended.", enum: []string{"0", "1"}}},
			headers: []param{lastID},
			answers: []answer{{200, "The stream. It ends when the run has ended or is interrupted, and continues while the run is waiting for an answer.", asStream, "event"},
				{204, "The run has ended, and `Last-Event-ID` is its last event.", "", ""}}, handle: h.runEvents},
		{method: "GET", path: "/api/v1/events", id: "watch", summary: "Follow the events of all runs",
			doc: "Server-sent events, each with a number in `id` and a flowrun/event.v1 document in `data`. Numbers increase, also across restarts of the service. " +
				"Without `after` and `Last-Event-ID` the stream starts with the next event. `event: reset` means that events are missing: read the state again. " +
				"Each answer to GET has in `Last-Event-ID` the number of the last event before it was made: read a state, follow after that number, and nothing is missed.",
			query: []param{after, {name: "run", kind: "string", doc: "Only events of this run. May be repeated.", many: true}, {name: "tool", kind: "string", doc: "Only events of runs of this tool."}}, headers: []param{lastID},
			answers: []answer{{200, "The stream. It ends when the service stops or the client does not read it.", asStream, "event"}}, handle: h.watch},
	}
}

// position returns the number of the last event that the client has, 0 for none.
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

// stopped reports whether the service has begun to stop.
func (o *streaming) stopped() bool {
	select {
	case <-o.stopping:
		return true
	default:
		return false
	}
}

// watch streams the events of all runs.
func (h eventHandlers) watch(w http.ResponseWriter, r *http.Request) error {
	at, err := position(r)
	if err != nil {
		return err
	}
	if h.streaming.stopped() {
		return outcome.ErrDraining
	}
	runs, tool := r.URL.Query()["run"], r.URL.Query().Get("tool")
	updates, lost := h.feed.Watch(r.Context(), at)
	s, err := h.streaming.begin(w, asStream)
	if err != nil || r.Method == http.MethodHead {
		return err
	}
	if lost {
		if err := s.control("reset", struct{}{}); err != nil {
			return err
		}
	}
	c, beat := callerFrom(r), time.NewTicker(h.streaming.keepAliveInterval)
	defer beat.Stop()
	skipped := uint64(0)
	for {
		select {
		case batch, more := <-updates:
			if !more {
				return nil // the service has stopped, or this reader was too slow
			}
			for _, u := range batch {
				if !c.mayUse(u.Tool) || len(runs) > 0 && !slices.Contains(runs, u.Run) || tool != "" && u.Tool != tool {
					skipped = u.ID
					continue
				}
				skipped = 0
				if err := s.event(u.ID, u.Encoded(encodeUpdate)); err != nil {
					return err
				}
			}
			if err := s.flush(); err != nil {
				return err
			}
		case <-beat.C:
			if err := s.keepAlive(skipped); err != nil {
				return err
			}
		case <-h.streaming.stopping:
			return nil
		case <-r.Context().Done():
			return nil
		}
	}
}

// runEvents streams the events of one run: those in its history, then new ones. New events
// arrive from the feed, but the history decides, because the feed may omit events.
func (h eventHandlers) runEvents(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	at, err := position(r)
	if err != nil {
		return err
	}
	info, err := h.history.Info(r.Context(), id)
	if err != nil {
		return err
	}
	if r.Header.Get("Last-Event-ID") != "" && info.Status.Settled() && info.PID == 0 {
		list, err := h.history.Events(r.Context(), id, at)
		if err != nil {
			return err
		}
		if len(list) == 0 { // a browser that has everything and connects again stops then
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	past := r.URL.Query().Get("past") == "1"
	begin := func() (*stream, error) { return h.streaming.begin(w, asStream) }
	if past || info.Status.Settled() && info.PID == 0 {
		begin = func() (*stream, error) { return h.streaming.beginWhole(w, r, asStream) }
	}
	s, err := begin()
	if err != nil || r.Method == http.MethodHead {
		return err
	}
	f := follower{stream: s, store: h.history, feed: h.feed, streaming: h.streaming, run: id, at: at}
	f.updates, _ = h.feed.Watch(r.Context(), 0) // before the history is read, so that no event is missed
	beat := time.NewTicker(h.streaming.keepAliveInterval)
	defer beat.Stop()
	for {
		info, err := h.history.Info(r.Context(), id) // before the events: the run was live when those in between were written
		if err != nil {
			return err
		}
		if err := f.history(r); err != nil {
			return err
		}
		f.ended, f.remote = info.Status.Settled(), info.Engine != ""
		if f.ended && info.PID == 0 { // otherwise its owner is about to release it, or another has just resumed it
			return f.end(info)
		}
		if past && f.kind != dag.RunFinished { // otherwise the Store is about to record the end too
			return f.close()
		}
		if over, err := f.follow(r, beat.C); over || err != nil {
			return err
		}
	}
}

// follower sends the events of one run to one client.
type follower struct {
	*stream
	store     History
	feed      Feed
	streaming *streaming
	run       string
	at        uint64   // number of the last event sent
	kind      dag.Kind // kind of that event
	ended     bool     // the run had ended according to the Store
	remote    bool     // the run is of another engine, whose events the feed does not have
	updates   <-chan []*feed.Update
}

// history sends the recorded events that were not sent yet.
func (f *follower) history(r *http.Request) error {
	for {
		list, err := f.store.Events(r.Context(), f.run, f.at)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return f.flush()
		}
		for _, e := range list {
			if err := f.send(e, encodeEvent(f.run, e)); err != nil {
				return err
			}
		}
	}
}

// send sends an event and what it is encoded as.
func (f *follower) send(e dag.Event, encoded []byte) error {
	f.at, f.kind = e.Seq, e.Kind
	return f.event(e.Seq, encoded)
}

// sendNew sends the events of the run among updates. It reports false if the history must be read
// before the rest.
func (f *follower) sendNew(updates []*feed.Update) (all bool, err error) {
	for _, u := range updates {
		switch {
		case u.Run != f.run || u.Event.Seq <= f.at:
		case u.Event.Seq > f.at+1 || u.Event.Kind == dag.RunFinished:
			return false, nil
		default:
			if err := f.send(u.Event, u.Encoded(encodeUpdate)); err != nil {
				return false, err
			}
		}
	}
	return true, f.flush()
}

// follow sends the events of the feed until the history must be read again. over reports
// that the stream ends.
func (f *follower) follow(r *http.Request, beat <-chan time.Time) (over bool, err error) {
	var soon <-chan time.Time
	switch {
	case f.ended || f.kind == dag.RunFinished: // the Store is about to record the end too
		soon = time.After(f.streaming.pollInterval)
	case f.remote:
		soon = time.After(time.Second)
	}
	for {
		select {
		case batch, more := <-f.updates:
			if !more { // too slow for the feed, or the service is stopping
				f.updates, soon = nil, time.After(time.Second)
				continue
			}
			if all, err := f.sendNew(batch); !all || err != nil {
				return err != nil, err
			}
		case <-soon:
			if f.updates == nil {
				f.updates, _ = f.feed.Watch(r.Context(), 0)
			}
			return false, nil
		case <-beat:
			return false, f.keepAlive(0)
		case <-f.streaming.stopping:
			return true, nil
		case <-r.Context().Done():
			return true, nil
		}
	}
}

// end reports that no more events will come unless the run is resumed.
func (f *follower) end(info history.RunInfo) error {
	return errors.Join(f.control("end", map[string]dag.Status{"status": info.Status}), f.close())
}
