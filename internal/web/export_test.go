package web

import (
	"net/http"
	"time"
)

// Hasten shortens how long a door waits for a request's body and for one write of a
// stream, and how often a stream gives a sign of life. It comes before the first request.
func Hasten(h http.Handler, body, write, beat time.Duration) {
	d := h.(*door)
	d.patience = patience{body: body, write: write, beat: beat, look: 10 * time.Millisecond}
}

// DerivedID is the id of a run that hangs on words.
var DerivedID = derivedID
