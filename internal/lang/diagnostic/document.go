package diagnostic

import "encoding/json"

// MarshalDocument returns d as the JSON document flowrun/diagnostics.v1. It holds all of them; Reported returns fewer.
func (d Diagnostics) MarshalDocument() ([]byte, error) {
	doc := struct {
		Schema      string          `json:"schema"`
		Diagnostics []diagnosticDoc `json:"diagnostics"`
	}{"flowrun/diagnostics.v1", make([]diagnosticDoc, len(d))}
	for i, one := range d {
		doc.Diagnostics[i] = docOf(one)
	}
	return json.Marshal(doc)
}

// diagnosticDoc is a diagnostic in that document.
type diagnosticDoc struct {
	Code     string         `json:"code"`
	Severity Severity       `json:"severity"`
	File     string         `json:"file"`
	Line     int            `json:"line"`
	Col      int            `json:"col"`
	Length   int            `json:"length"` // characters
	Path     string         `json:"path"`
	Message  string         `json:"message"`
	Hint     string         `json:"hint"`
	More     int            `json:"more,omitempty"`
	Related  []relatedPlace `json:"related,omitempty"`
	Fix      []Edit         `json:"fix,omitempty"`
}

type relatedPlace struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Length  int    `json:"length"`
	Message string `json:"message"`
}

func docOf(d Diagnostic) diagnosticDoc {
	doc := diagnosticDoc{Code: d.Code, Severity: d.Severity, File: d.Pos.File, Line: d.Pos.Line, Col: d.Pos.Col, Length: max(1, d.Len),
		Path: d.Path, Message: d.Message, Hint: d.Hint, More: d.More, Fix: d.Fix}
	for _, p := range d.Related {
		doc.Related = append(doc.Related, relatedPlace{p.Pos.File, p.Pos.Line, p.Pos.Col, max(1, p.Len), p.Message})
	}
	return doc
}
