package telemetry_test

import (
	"os"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/observe/telemetry"
)

// set sets these variables of OpenTelemetry, NAME=VALUE, and clears all others.
func set(t *testing.T, variables ...string) {
	t.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for _, kv := range variables {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv("OTEL_"+name, value)
	}
}

func TestSettings(t *testing.T) {
	const on = "EXPORTER_OTLP_ENDPOINT=http://host:4318"
	for name, c := range map[string]struct {
		variables []string
		endpoint  string // "" for off
		problems  []string
	}{
		"nothing is set":            {},
		"general":                   {variables: []string{on}, endpoint: "http://host:4318/v1/traces"},
		"with a path":               {variables: []string{"EXPORTER_OTLP_ENDPOINT=https://host/otlp/"}, endpoint: "https://host/otlp/v1/traces"},
		"for traces, as it is":      {variables: []string{on, "EXPORTER_OTLP_TRACES_ENDPOINT=http://other/x"}, endpoint: "http://other/x"},
		"a password is not shown":   {variables: []string{"EXPORTER_OTLP_TRACES_ENDPOINT=http://me:hidden@host/x?key=hidden"}, endpoint: "http://host/x"},
		"disabled":                  {variables: []string{on, "SDK_DISABLED=TRUE"}},
		"not disabled":              {variables: []string{on, "SDK_DISABLED=1"}, endpoint: "http://host:4318/v1/traces"},
		"exporter none":             {variables: []string{on, "TRACES_EXPORTER=none"}},
		"exporter otlp":             {variables: []string{on, "TRACES_EXPORTER=otlp"}, endpoint: "http://host:4318/v1/traces"},
		"protocol":                  {variables: []string{on, "EXPORTER_OTLP_PROTOCOL=http/protobuf"}, endpoint: "http://host:4318/v1/traces"},
		"protocol for traces wins":  {variables: []string{on, "EXPORTER_OTLP_PROTOCOL=grpc", "EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf"}, endpoint: "http://host:4318/v1/traces"},
		"no matter what is off":     {variables: []string{"EXPORTER_OTLP_PROTOCOL=grpc"}},
		"another exporter":          {variables: []string{on, "TRACES_EXPORTER=zipkin"}, problems: []string{`OTEL_TRACES_EXPORTER is "zipkin": only otlp and none are supported`}},
		"another protocol":          {variables: []string{on, "EXPORTER_OTLP_PROTOCOL=grpc"}, problems: []string{`OTEL_EXPORTER_OTLP_PROTOCOL is "grpc": only http/protobuf is supported`}},
		"not a valid URL":           {variables: []string{"EXPORTER_OTLP_ENDPOINT=hidden:4317"}, problems: []string{"OTEL_EXPORTER_OTLP_ENDPOINT is not a valid URL"}},
		"no URL for traces":         {variables: []string{on, "EXPORTER_OTLP_TRACES_ENDPOINT=hidden"}, problems: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not a valid URL"}},
		"headers that are none":     {variables: []string{on, "EXPORTER_OTLP_HEADERS=a=1,hidden,b c=2,d=x%0ahidden"}, problems: []string{"OTEL_EXPORTER_OTLP_HEADERS: entry 2 is not of the form", `"b c" or its value`, `"d" or its value`}},
		"attributes that are none":  {variables: []string{on, "RESOURCE_ATTRIBUTES=a=%zz"}, problems: []string{"OTEL_RESOURCE_ATTRIBUTES: entry 1 is not"}},
		"everything that is wrong":  {variables: []string{"EXPORTER_OTLP_ENDPOINT=host", "EXPORTER_OTLP_PROTOCOL=grpc", "EXPORTER_OTLP_HEADERS=x"}, problems: []string{"not a valid URL", "http/protobuf", "entry 1"}},
		"empty entries are nothing": {variables: []string{on, "EXPORTER_OTLP_HEADERS=,", "RESOURCE_ATTRIBUTES= ,"}, endpoint: "http://host:4318/v1/traces"},
	} {
		t.Run(name, func(t *testing.T) {
			set(t, c.variables...)
			s, err := telemetry.Read()
			switch {
			case len(c.problems) > 0:
				if err == nil {
					t.Fatal("there is no error")
				}
				for _, want := range c.problems {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the error does not say %q: %v", want, err)
					}
				}
				if strings.Contains(err.Error(), "hidden") {
					t.Errorf("the error quotes a value: %v", err)
				}
			case err != nil:
				t.Fatal(err)
			case (s != nil) != (c.endpoint != ""), s != nil && s.Endpoint() != c.endpoint:
				t.Errorf("settings %+v, want endpoint %q", s, c.endpoint)
			}
		})
	}
}

func TestContext(t *testing.T) {
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for text, want := range map[string]string{
		"00-" + trace + "-" + span + "-01":                    "00-" + trace + "-" + span + "-01",
		"00-" + trace + "-" + span + "-00":                    "00-" + trace + "-" + span + "-00",
		"00-" + trace + "-" + span + "-03":                    "00-" + trace + "-" + span + "-01",
		"cc-" + trace + "-" + span + "-01-what":               "00-" + trace + "-" + span + "-01", // of a later version
		"00-" + trace + "-" + span + "-01-what":               "",
		"ff-" + trace + "-" + span + "-01":                    "",
		"00-" + trace + "-" + span:                            "",
		"00-" + trace + "-" + span + "-0":                     "",
		"00-" + trace[1:] + "-" + span + "-01":                "",
		"00-0AF7651916CD43DD8448EB211C80319C-" + span + "-01": "",
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01":  "",
		"00-" + trace + "-0000000000000000-01":                "",
		"":                                                    "",
	} {
		c, ok := telemetry.Parse(text, "a=1")
		if ok != (want != "") || c.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, c, ok, want)
		}
		if !ok && c.State != "" {
			t.Errorf("%q has a state", text)
		}
	}
	if c, _ := telemetry.Parse("00-"+trace+"-"+span+"-01", strings.Repeat("x", 513)); c.State != "" {
		t.Error("a state that is too long is passed on")
	}
}

// FuzzParse checks that a valid context is formatted as it was, and that nothing panics.
func FuzzParse(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=1")
	f.Add("ff---", "")
	f.Fuzz(func(t *testing.T, parent, state string) {
		c, ok := telemetry.Parse(parent, state)
		again, same := telemetry.Parse(c.String(), c.State)
		if ok != (c.String() != "") || same != ok || again != c {
			t.Errorf("%q is %v, and that %v", parent, c, again)
		}
	})
}
