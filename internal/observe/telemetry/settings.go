package telemetry

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
)

// Settings say where spans are sent, and how they describe this program.
type Settings struct {
	endpoint *url.URL // including the path for traces
	headers  http.Header
	resource map[string]string // attributes set by the user
}

// Endpoint returns the URL to which spans are sent, without parts that may be secret.
func (s *Settings) Endpoint() string {
	u := *s.endpoint
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Read reads the settings from OpenTelemetry's standard variables. It returns nil if spans
// are not to be sent: no endpoint is set, or OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER
// disables it. A variable for traces overrides the general one. The error lists all
// problems and contains no value of a header.
func Read() (*Settings, error) {
	if strings.EqualFold(strings.TrimSpace(os.Getenv("OTEL_SDK_DISABLED")), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	s := &Settings{headers: http.Header{}}
	traces, general := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	if traces == "" && general == "" {
		return nil, nil
	}
	var wrong problems
	wrong.add(exporter(os.Getenv("OTEL_TRACES_EXPORTER")))
	if own := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"); own != "" {
		wrong.add(protocol("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", own))
	} else {
		wrong.add(protocol("OTEL_EXPORTER_OTLP_PROTOCOL", os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL")))
	}
	wrong.add(s.setEndpoint(traces, general))
	if own := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS"); own != "" {
		s.setHeaders(&wrong, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", own)
	} else {
		s.setHeaders(&wrong, "OTEL_EXPORTER_OTLP_HEADERS", os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
	}
	s.resource = pairs(&wrong, "OTEL_RESOURCE_ATTRIBUTES", os.Getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if name := os.Getenv("OTEL_SERVICE_NAME"); name != "" {
		s.resource["service.name"] = name
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return s, nil
}

// problems lists everything that is wrong with the settings, on one line.
type problems []string

func (p *problems) add(err error) {
	if err != nil {
		*p = append(*p, err.Error())
	}
}

func (p problems) Error() string { return strings.Join(p, "; ") }

func exporter(name string) error {
	if name == "" || name == "otlp" {
		return nil
	}
	return fmt.Errorf("OTEL_TRACES_EXPORTER is %q: only otlp and none are supported", name)
}

func protocol(variable, value string) error {
	if value == "" || value == "http/protobuf" {
		return nil
	}
	return fmt.Errorf("%s is %q: only http/protobuf is supported; set it, and an endpoint for it (most collectors use port 4318)", variable, value)
}

// setEndpoint uses the URL for traces unchanged, and adds the path for traces to the
// general one.
func (s *Settings) setEndpoint(traces, general string) error {
	variable := "OTEL_EXPORTER_OTLP_ENDPOINT"
	if traces != "" {
		variable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	}
	u, err := url.Parse(cmp.Or(traces, general))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s is not a valid URL; write http://HOST:4318 or https://HOST", variable) // the URL may contain a password
	}
	if traces == "" {
		u = u.JoinPath("v1", "traces")
	}
	s.endpoint = u
	return nil
}

func (s *Settings) setHeaders(wrong *problems, variable, text string) {
	list := pairs(wrong, variable, text)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		value := list[name]
		if !isToken(name) || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			wrong.add(fmt.Errorf("%s: %q or its value is not valid in an HTTP header", variable, name))
			continue
		}
		s.headers.Set(name, value)
	}
}

// isToken reports whether name is valid as the name of an HTTP header.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, c)
	})
}

// pairs parses K=V,K=V with percent escapes as in URLs. Errors do not quote the text, which
// may be a secret.
func pairs(wrong *problems, variable, text string) map[string]string {
	list := map[string]string{}
	for n, pair := range strings.Split(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, found := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || key == "" || err != nil {
			wrong.add(fmt.Errorf("%s: entry %d is not of the form KEY=VALUE; write a comma in the value as %%2C", variable, n+1))
			continue
		}
		list[key] = value
	}
	return list
}
