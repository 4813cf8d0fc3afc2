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
	d := h.(*server)
	d.timeouts = timeouts{bodyTimeout: body, writeTimeout: write, keepAliveInterval: beat, pollInterval: 10 * time.Millisecond}
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
func BriefEncodings(h http.Handler) int { return len(h.(*server).briefRuns.docs) }

// Streams returns the requests, each a method and a path, whose responses are streams. A route is one if any of
// its responses is.
func Streams(h http.Handler) (list []string) {
	for _, rt := range h.(*server).routes() {
		switch {
		case slices.ContainsFunc(rt.answers, func(a answer) bool { return a.media == asStream }):
			list = append(list, rt.method+" "+rt.path)
		case slices.ContainsFunc(rt.query, func(p param) bool { return p.name == follow }):
			list = append(list, rt.method+" "+rt.path+"?follow=1")
		}
	}
	return list
}
