package web

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/docs"
)

// schemaFile holds the schemas of the documents that only the API uses. The schemas of the
// other documents are in package docs (docs.Schema).
//
//go:embed schemas.json
var schemaFile []byte

// object is a JSON object that is built by hand.
type object = map[string]any

// document makes the OpenAPI document of a table of routes.
func document(routes []route, version string) ([]byte, error) {
	schemas, err := components()
	if err != nil {
		return nil, err
	}
	paths := object{}
	for _, rt := range routes {
		if rt.signsIn {
			continue
		}
		item, ok := paths[rt.path].(object)
		if !ok {
			item = object{}
			paths[rt.path] = item
		}
		item[strings.ToLower(rt.method)] = rt.operation()
	}
	doc := object{
		"openapi": "3.1.0",
		"info": object{"title": "flowrun service", "version": version, "license": object{"name": "Apache License 2.0", "identifier": "Apache-2.0"},
			"description": "Start tools and follow their runs. Every route returns errors as the schema `error`. New fields may be added: ignore fields that you do not know."},
		"servers": []any{object{"url": "/"}},
		"paths":   paths,
		"components": object{"schemas": schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "The token given to flowrun serve. Not needed on its Unix socket."}},
			"responses":       object{"error": object{"description": "What went wrong, and what to do about it.", "content": content("", "error")}}},
		"security": []any{object{"token": []any{}}},
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(doc)
	return b.Bytes(), err
}

// operation describes the route in the OpenAPI document.
func (rt route) operation() object {
	op := object{"operationId": rt.id, "summary": rt.summary, "x-flowrun-role": string(rt.role())}
	if rt.doc != "" {
		op["description"] = rt.doc
	}
	switch rt.auth {
	case openToAll:
		op["security"] = []any{}
	case openOnLoopback: // no token, or the token
		op["security"] = []any{object{}, object{"token": []any{}}}
	}
	if list := rt.parameters(); len(list) > 0 {
		op["parameters"] = list
	}
	if rt.body != "" {
		op["requestBody"] = object{"required": rt.body == "start" || rt.body == "edited" || rt.body == "text", "content": content("", rt.body)}
	}
	if rt.anyBody {
		op["requestBody"] = object{"required": true, "content": object{"*/*": object{}}}
	}
	answers := object{"default": object{"$ref": "#/components/responses/error"}}
	for _, a := range rt.answers {
		one := object{"description": a.doc}
		if a.status != http.StatusNoContent {
			one["content"] = content(a.media, a.schema)
		}
		if a.schema == "started" {
			one["headers"] = object{"Location": object{"description": "The URL path of the run.", "schema": object{"type": "string"}}}
		}
		answers[strconv.Itoa(a.status)] = one
	}
	op["responses"] = answers
	return op
}

var inPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\w+)\}`) })

func (rt route) parameters() (list []any) {
	add := func(p param, in string) {
		schema := object{"type": p.kind}
		if p.enum != nil {
			schema["enum"] = p.enum
		}
		if p.many {
			schema = object{"type": "array", "items": schema}
		}
		list = append(list, object{"name": p.name, "in": in, "description": p.doc, "required": in == "path", "schema": schema})
	}
	docs := map[string]string{"id": "The complete id of the run.", "name": "The name, with / and # escaped as %2F and %23."}
	for _, m := range inPath().FindAllStringSubmatch(rt.path, -1) {
		add(param{name: m[1], kind: "string", doc: docs[m[1]]}, "path")
	}
	for _, p := range rt.query {
		add(p, "query")
	}
	for _, p := range rt.headers {
		add(p, "header")
	}
	return list
}

func content(media, schema string) object {
	if media == "" {
		media = "application/json"
	}
	if schema == "" {
		return object{media: object{"schema": object{"type": "string"}}}
	}
	return object{media: object{"schema": object{"$ref": "#/components/schemas/" + schema}}}
}

// components returns all schemas by name. A schema with references to its own parts gets
// references to their new places.
func components() (object, error) {
	all := object{}
	if err := json.Unmarshal(schemaFile, &all); err != nil {
		return nil, fmt.Errorf("cannot read the schemas of the API: %w", err)
	}
	for _, name := range []string{"audit", "diagnostics", "event", "plan", "ps", "run", "run-diff", "runs", "state", "stats"} {
		b, err := docs.Schema(name)
		if err != nil {
			return nil, err
		}
		b = bytes.ReplaceAll(b, []byte(`"#/$defs/`), []byte(`"#/components/schemas/`+name+`/$defs/`))
		s := object{}
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, fmt.Errorf("cannot read schema %s: %w", name, err)
		}
		delete(s, "$schema")
		all[name] = s
	}
	return all, nil
}
