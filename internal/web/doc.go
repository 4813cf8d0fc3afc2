// Package web is the service's door for programs: an HTTP API in JSON, streams of
// events, and webhooks.
//
// # The model
//
// One table (routes.go) says everything of a route: method, path, what it takes and what
// it answers. It registers the handlers and makes the OpenAPI document, so that neither
// can say what the other does not. A handler reads its request, asks the service.Surface
// and answers one document; it returns an error where it cannot, and problem.go alone
// decides what the caller is told of it.
//
// Every request passes the guard first (guard.go), in this order:
//
//	Host     a name the service goes by; other names are a page that had its name rebound
//	query    a token there would end up in logs: refused
//	Origin   pages of other sites change nothing; there are no CORS headers
//	route    404 and 405 are told after the token was seen
//	token    but on a Unix socket, whose file says who may come in, and where the table says open
//
// What kind of connection a request came by is read off the connection itself, so that
// one handler serves a Unix socket, the loopback interface and a network alike.
//
// Answers that go on (stream.go) end with the client, with the run, with the service, or
// when a write takes too long: a slow reader is dropped and holds up nobody. No request
// holds a run: what was started goes on when the caller has gone.
package web
