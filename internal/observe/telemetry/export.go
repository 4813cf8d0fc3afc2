package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/VictoriaMetrics/easyproto"
)

const (
	maxQueued     = 8192             // spans that wait to be sent; a span is about half a kilobyte
	maxSent       = 512              // spans in a request
	batchDelay    = time.Second      // how long a span waits to be sent with others
	attemptTime   = 10 * time.Second // for one request
	deliveryLimit = time.Minute      // after that a batch is dropped
	firstPause    = time.Second      // before the second request for a batch; it doubles
	maxPause      = 30 * time.Second
	maxAnswer     = 64 << 10 // bytes read of a response
)

// sender sends spans in batches, from its own goroutine.
type sender struct {
	settings *Settings
	agent    string
	resource []attribute
	version  string // of flowrun
	client   *http.Client
	transfer context.Context // of all requests
	abort    context.CancelFunc

	mu    sync.Mutex
	queue []*otlpSpan

	full    chan struct{} // holds a token if there is a full batch
	closing chan struct{}
	done    chan struct{}
	once    sync.Once
	warn    func(error)
}

func newSender(s *Settings, o Options) *sender {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	x := &sender{settings: s, agent: "flowrun/" + o.Flowrun, resource: resource(s.resource, o),
		version: o.Flowrun,
		client: &http.Client{Transport: transport, Timeout: attemptTime, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the headers may contain a token, which is only for this address
		}},
		full: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}), warn: o.Warn}
	x.transfer, x.abort = context.WithCancel(context.Background())
	go x.work()
	return x
}

// resource describes the program that the spans come from. Attributes that the user sets
// override the others. The command line is not included, because it contains
// parameters.
func resource(userAttributes map[string]string, o Options) []attribute {
	all := map[string]string{"service.name": o.Service, "service.version": o.Version, "telemetry.sdk.language": "go", "telemetry.sdk.name": "flowrun",
		"telemetry.sdk.version": o.Flowrun, "os.type": runtime.GOOS}
	if program, err := os.Executable(); err == nil {
		all["process.executable.name"] = filepath.Base(program)
	}
	if host, err := os.Hostname(); err == nil {
		all["host.name"] = host
	}
	maps.Copy(all, userAttributes)
	var list []attribute
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, text(key, all[key]))
	}
	if _, given := userAttributes["process.pid"]; !given {
		list = append(list, number("process.pid", os.Getpid()))
	}
	return list
}

// add queues a span. It never blocks.
func (x *sender) add(s *otlpSpan) {
	x.mu.Lock()
	n := len(x.queue)
	if n < maxQueued {
		x.queue = append(x.queue, s)
	}
	x.mu.Unlock()
	switch {
	case n >= maxQueued:
		x.reportLoss(fmt.Errorf("%s is too slow: some spans were dropped", x.settings.Endpoint()))
	case n+1 >= maxSent:
		select {
		case x.full <- struct{}{}:
		default:
		}
	}
}

// reportLoss calls warn for the first loss of spans.
func (x *sender) reportLoss(err error) {
	x.once.Do(func() {
		if x.warn != nil {
			x.warn(err)
		}
	})
}

// close sends the remaining spans, until ctx ends.
func (x *sender) close(ctx context.Context) {
	close(x.closing)
	select {
	case <-x.done:
	case <-ctx.Done():
		x.abort()
		<-x.done
	}
	x.abort()
	x.client.CloseIdleConnections()
}

// work sends batches until close is called.
func (x *sender) work() {
	defer close(x.done)
	tick := time.NewTicker(batchDelay)
	defer tick.Stop()
	for last := false; !last; {
		select {
		case <-x.full:
		case <-tick.C:
		case <-x.closing:
			last = true
		}
		for batch := x.next(); len(batch) > 0; batch = x.next() {
			if err := x.deliver(batch); err != nil {
				x.reportLoss(err)
			}
			if x.transfer.Err() != nil {
				return
			}
		}
	}
}

// next removes a batch from the queue.
func (x *sender) next() []*otlpSpan {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := min(len(x.queue), maxSent)
	batch := slices.Clone(x.queue[:n])
	x.queue = slices.Delete(x.queue, 0, n)
	return batch
}

// deliveryError describes why a batch was not delivered.
type deliveryError struct {
	error
	retryable bool          // a later attempt may succeed
	busy      bool          // the collector responded that it is busy
	pause     time.Duration // requested by the collector, 0 for none
}

// deliver sends a batch, and repeats the request while that may help and there is time.
// While the program exits, only a collector that responded is asked again.
func (x *sender) deliver(batch []*otlpSpan) error {
	body := encode(x.resource, x.version, batch)
	pause, closing := firstPause, x.closing
	for end := time.Now().Add(deliveryLimit); ; pause = min(2*pause, maxPause) {
		no := x.post(body)
		if no == nil {
			return nil
		}
		failed := fmt.Errorf("cannot send spans to %s: %w", x.settings.Endpoint(), no.error)
		wait := max(pause, min(no.pause, maxPause))
		if !no.retryable || time.Now().Add(wait).After(end) || closing == nil && !no.busy {
			return failed
		}
		select {
		case <-time.After(wait):
		case <-closing:
			closing = nil // one more attempt at once
		case <-x.transfer.Done():
			return failed
		}
	}
}

// post makes one request.
func (x *sender) post(body []byte) *deliveryError {
	req, err := http.NewRequestWithContext(x.transfer, http.MethodPost, x.settings.endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return &deliveryError{error: errors.New("the endpoint is not a valid URL")}
	}
	for name, values := range x.settings.headers {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", x.agent)
	resp, err := x.client.Do(req)
	if err != nil {
		var outer *url.Error // its text contains the complete URL
		if errors.As(err, &outer) {
			err = outer.Err
		}
		if x.transfer.Err() != nil {
			err = errors.New("no response in time")
		}
		return &deliveryError{error: err, retryable: true}
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		if n := rejected(answer); n > 0 {
			x.reportLoss(fmt.Errorf("%s rejected %d spans", x.settings.Endpoint(), n))
		}
		return nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return &deliveryError{error: answered(resp.StatusCode), retryable: true, busy: true, pause: time.Duration(min(max(after, 0), 3600)) * time.Second}
	}
	return &deliveryError{error: answered(resp.StatusCode)}
}

func answered(code int) error { return fmt.Errorf("it answered %d %s", code, http.StatusText(code)) }

// rejected returns how many spans the collector rejected: partial_success and its
// rejected_spans, both of them field 1.
func rejected(answer []byte) int64 {
	partial, _, _ := easyproto.GetMessageData(answer, 1)
	count, _, _ := easyproto.GetInt64(partial, 1)
	return count
}
