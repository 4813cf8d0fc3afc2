package telemetry

import (
	"strings"
	"time"

	"github.com/VictoriaMetrics/easyproto"
)

// otlpSpan is a span as it is sent.
type otlpSpan struct {
	trace      Context // Trace and State
	id, parent [8]byte // the parent is zero for the root of a trace
	name       string
	flags      uint32
	start, end time.Time
	failure    string // message of the status; "" if the span is not an error
	attributes []attribute
	events     []event
	links      []Context
}

// Flags of a span.
const (
	sampled      = 1
	knowsRemote  = 0x100 // remoteParent is set if the parent is of another program
	remoteParent = 0x200
)

// attribute is a name and a value: a string, an int64, a float64 or a bool.
type attribute struct {
	key   string
	value any
}

// event is a moment in a span.
type event struct {
	at         time.Time
	name       string
	attributes []attribute
}

// The numbers below are those of the fields and values of opentelemetry-proto.
const (
	kindInternal = 1
	statusError  = 2
)

// encode returns spans as a message of type TracesData.
func encode(resource []attribute, version string, spans []*otlpSpan) []byte {
	var m easyproto.Marshaler
	all := m.MessageMarshaler().AppendMessage(1)
	writeAttributes(all.AppendMessage(1), 1, resource)
	scoped := all.AppendMessage(2)
	scope := scoped.AppendMessage(1)
	scope.AppendString(1, "github.com/flowrun/flowrun")
	writeText(scope, 2, version)
	for _, s := range spans {
		s.write(scoped.AppendMessage(2))
	}
	return m.Marshal(nil)
}

func (s *otlpSpan) write(m *easyproto.MessageMarshaler) {
	m.AppendBytes(1, s.trace.Trace[:])
	m.AppendBytes(2, s.id[:])
	writeText(m, 3, s.trace.State)
	if s.parent != [8]byte{} {
		m.AppendBytes(4, s.parent[:])
	}
	writeText(m, 5, s.name)
	m.AppendInt32(6, kindInternal)
	m.AppendFixed64(7, uint64(s.start.UnixNano()))
	m.AppendFixed64(8, uint64(s.end.UnixNano()))
	writeAttributes(m, 9, s.attributes)
	for _, e := range s.events {
		message := m.AppendMessage(11)
		message.AppendFixed64(1, uint64(e.at.UnixNano()))
		writeText(message, 2, e.name)
		writeAttributes(message, 3, e.attributes)
	}
	for _, l := range s.links {
		message := m.AppendMessage(13)
		message.AppendBytes(1, l.Trace[:])
		message.AppendBytes(2, l.Span[:])
		writeText(message, 3, l.State)
	}
	if s.failure != "" {
		status := m.AppendMessage(15)
		writeText(status, 2, s.failure)
		status.AppendInt32(3, statusError)
	}
	m.AppendFixed32(16, s.flags)
}

func writeAttributes(m *easyproto.MessageMarshaler, field uint32, list []attribute) {
	for _, a := range list {
		message := m.AppendMessage(field)
		writeText(message, 1, a.key)
		value := message.AppendMessage(2)
		switch v := a.value.(type) {
		case string:
			writeText(value, 1, v)
		case bool:
			value.AppendBool(2, v)
		case int64:
			value.AppendInt64(3, v)
		case float64:
			value.AppendDouble(4, v)
		}
	}
}

// writeText writes a text as UTF-8, which protobuf requires.
func writeText(m *easyproto.MessageMarshaler, field uint32, s string) {
	m.AppendString(field, strings.ToValidUTF8(s, "\uFFFD"))
}
