package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// Hasten shortens the timeouts for a request's body and for one write of a stream, and the
// interval of keep-alive comments. Call it before the first request.
func Hasten(h http.Handler, body, write, beat time.Duration) {
	h.(*server).bodies.timeout = body
	s := groupOf[eventHandlers](h).streaming
	s.writeTimeout, s.keepAliveInterval, s.pollInterval = write, beat, 10*time.Millisecond
}

// groupOf returns the group of a type.
func groupOf[T group](h http.Handler) (found T) {
	for _, g := range h.(*server).groups {
		if g, is := g.(T); is {
			found = g
		}
	}
	return found
}

// Decode reads a body; Plain does it with the library alone.
var Decode = decode

func Plain(b []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// DerivedID is the id of a run that hangs on words.
var DerivedID = derivedID

// BriefEncodings returns how many brief documents of runs were encoded.
func BriefEncodings(h http.Handler) int { return len(groupOf[*runHandlers](h).brief.docs) }

// Streams returns the requests, each a method and a path, whose responses are streams. A route is one if any of
// its responses is.
func Streams(h http.Handler) (list []string) {
	for _, rt := range tableOf(h.(*server).groups) {
		switch {
		case slices.ContainsFunc(rt.answers, func(a answer) bool { return a.media == asStream }):
			list = append(list, rt.method+" "+rt.path)
		case slices.ContainsFunc(rt.query, func(p param) bool { return p.name == follow }):
			list = append(list, rt.method+" "+rt.path+"?follow=1")
		}
	}
	return list
}
