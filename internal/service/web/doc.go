// Package web is the HTTP entry point of the service: an API in JSON, streams of events,
// and webhooks.
//
// # The model
//
// One table (routes.go) describes every route: method, path, request and responses. The
// handlers and the OpenAPI document are made from it, so that they cannot differ. Each group
// of handlers has its rows of the table, and only those parts of the Service and of the
// Options that it uses (newGroups). A handler reads its request, calls the service and responds
// with one document. If it fails, it returns an error, and problem.go alone decides what the
// caller learns about it.
//
// Every request passes these checks first (guard.go), in this order:
//
//	Host     must be a name of the service; another name may belong to a web page that rebinds it (DNS rebinding)
//	query    must not contain a token, because URLs are logged
//	Origin   pages of other sites cannot change anything; there are no CORS headers
//	route    404 and 405 are sent only after the token was checked
//	token    not needed on a Unix socket, whose file permissions admit the caller, nor where the table says open
//
// The kind of connection is read from the connection itself, so that one handler serves a
// Unix socket, the loopback interface and a network alike.
//
// A streamed response (stream.go) ends with the client, the run or the service, or when a
// write takes too long: a slow reader is disconnected and delays nobody. A run does not
// depend on the request that started it: it continues when the caller disconnects.
package web
