package web

import (
	"net/http"
	"time"
)

// mcpHandlers pass requests on to the server of the Model Context Protocol.
type mcpHandlers struct {
	server    http.Handler
	streaming *streaming
}

// routes returns the routes. The messages are described by the protocol, not by the OpenAPI document.
func (h mcpHandlers) routes() []route {
	return []route{
		{method: "POST", path: "/mcp", id: "mcpSend", summary: "Send a message of the Model Context Protocol", anyBody: true,
			doc:     "The streamable HTTP transport of the protocol. A token that is limited to some tools is not accepted.",
			answers: []answer{{200, "The answer, or a stream of messages that ends with it.", asStream, ""}, {202, "The message was accepted.", "text/plain", ""}}, handle: h.serveMCP},
		{method: "GET", path: "/mcp", id: "mcpListen", summary: "Receive messages of the Model Context Protocol",
			answers: []answer{{200, "A stream of messages.", asStream, ""}}, handle: h.serveMCP},
		{method: "DELETE", path: "/mcp", id: "mcpEnd", summary: "End a session of the Model Context Protocol",
			answers: []answer{{204, "The session has ended.", "", ""}}, handle: h.serveMCP},
	}
}

// serveMCP passes a request on. The handler describes and calls all tools, so a token that is
// limited to some of them is refused.
func (h mcpHandlers) serveMCP(w http.ResponseWriter, r *http.Request) error {
	if !callerFrom(r).allTools() {
		return refuse(403, "limited-token", "the Model Context Protocol gives access to all tools, and this token is limited to some of them", "use a token without patterns")
	}
	ctl := http.NewResponseController(w)
	_ = ctl.SetWriteDeadline(time.Time{}) // replaced before each write
	h.server.ServeHTTP(&slowWriter{ResponseWriter: w, ctl: ctl, limit: h.streaming.writeTimeout}, r)
	return nil
}

// slowWriter sets a deadline for each write, so that a response can last for long, but a
// client that does not read is disconnected.
type slowWriter struct {
	http.ResponseWriter
	ctl   *http.ResponseController
	limit time.Duration
}

func (w *slowWriter) Write(b []byte) (int, error) {
	_ = w.ctl.SetWriteDeadline(time.Now().Add(w.limit))
	return w.ResponseWriter.Write(b)
}

// Flush sends what was written.
func (w *slowWriter) Flush() {
	_ = w.ctl.SetWriteDeadline(time.Now().Add(w.limit))
	_ = w.ctl.Flush() // the next write reports that the client is gone
}

// Unwrap returns the underlying writer for http.ResponseController.
func (w *slowWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
