package flowrun_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/flowrun/flowrun"

// cellar is the floor below the first: what stands there uses the standard library
// alone, and knows nothing of flowrun.
const cellar = -1

// house is the architecture: for every package, its floor, the packages of this
// module it may import and the outside libraries that have their one room there.
// Imports point down only. The table is the diagram; docs/dev/architecture.md tells
// the story. A fraction is the floor of a package that serves one part of the house alone.
var house = map[string]struct {
	floor     float64
	uses      []string
	libraries []string
}{
	"dag":                   {0, nil, nil},
	"internal/procid":       {-0.9, nil, nil},
	"internal/systrace":     {cellar, nil, nil},
	"internal/confine":      {-0.6, []string{"internal/procid", "internal/systrace", "internal/vfork"}, nil},
	"internal/cgroup":       {-0.3, []string{"internal/confine", "internal/procid"}, nil},
	"internal/proc":         {0, []string{"internal/cgroup", "internal/confine", "internal/procid", "internal/vfork"}, nil},
	"internal/vfork":        {cellar, nil, nil},
	"internal/dotenv":       {0, nil, nil},
	"internal/cache":        {1, []string{"internal/atomicfile", "internal/filestamp", "internal/procid", "internal/ownership"}, []string{"github.com/bmatcuk/doublestar/v4"}},
	"expr":                  {0, []string{"internal/codeenv", "internal/diagnostic"}, []string{"github.com/expr-lang/expr", "mvdan.cc/sh/v3"}},
	"internal/diagnostic":   {-0.6, nil, nil},
	"internal/duration":     {-0.6, nil, nil},
	"internal/keytable":     {-0.3, []string{"internal/diagnostic", "internal/duration"}, []string{"gopkg.in/yaml.v3"}},
	"internal/schemaparams": {-0.3, []string{"internal/diagnostic"}, []string{"gopkg.in/yaml.v3"}},
	"tool":                  {0, []string{"internal/diagnostic", "internal/jsonschema", "internal/keytable", "internal/schemaparams"}, []string{"gopkg.in/yaml.v3", "golang.org/x/mod"}},
	"library":               {0.05, []string{"internal/atomicfile", "internal/diagnostic", "internal/filestamp", "internal/home", "internal/keytable", "internal/ownership", "tool"}, nil},
	"internal/jscheck":      {0.2, []string{"tool"}, []string{"github.com/dop251/goja", "github.com/go-sourcemap/sourcemap"}},
	"internal/jsnative":     {0.2, nil, nil},
	"internal/jsworld":      {0.5, []string{"internal/jscheck", "internal/jsnative", "tool"}, []string{"github.com/dop251/goja"}},
	"hooks":                 {1, []string{"internal/atomicfile", "tool", "internal/jscheck", "internal/jsworld", "internal/ownership"}, nil},
	"internal/mask":         {cellar, nil, nil},
	"internal/stepfile":     {cellar, nil, nil},
	"internal/sshcommand":   {0.1, []string{"internal/privatenet", "internal/stepfile"}, nil},
	"internal/requesturl":   {0.1, []string{"expr", "internal/privatenet"}, nil},
	"internal/startup":      {cellar, nil, nil},
	"internal/netclient":    {3, []string{"", "internal/httpstep", "internal/privatenet"}, nil},
	"egress":                {3, []string{"", "internal/privatenet"}, nil},
	"internal/netns":        {cellar, nil, nil},
	"steps":                 {1, []string{"dag", "expr", "internal/atomicfile", "internal/codeenv", "internal/dotenv", "internal/mask", "internal/netns", "internal/proc", "internal/procid", "internal/confine", "internal/cgroup", "internal/permission", "internal/privatenet", "internal/requesturl", "internal/sshcommand", "internal/stepfile", "internal/systrace", "internal/ownership"}, []string{"github.com/creack/pty"}},
	"internal/supervisor":   {1, []string{"internal/proc", "internal/procid", "internal/confine"}, nil},
	"internal/series":       {0, nil, []string{"github.com/VictoriaMetrics/easyproto", "github.com/munnerz/goautoneg", "golang.org/x/sys"}},
	"internal/measure":      {1, []string{"dag", "history", "internal/atomicfile", "internal/buildinfo", "internal/series"}, nil},
	"metrics":               {1.1, []string{"internal/measure", "internal/series"}, []string{"github.com/prometheus", "google.golang.org/protobuf"}},

	// Below the root package: what a definition becomes and how a call of it is carried out.
	"internal/value":        {0.1, []string{"expr", "tool"}, nil},
	"history":               {0.2, []string{"dag", "tool", "internal/value"}, nil},
	"internal/permission":   {0.1, []string{"tool", "internal/codeenv", "internal/privatenet"}, nil},
	"internal/permtrace":    {0.2, []string{"internal/atomicfile", "internal/confine", "internal/permission", "internal/privatenet", "internal/systrace", "internal/ownership"}, nil},
	"internal/toolstate":    {1.1, []string{"tool", "internal/atomicfile", "internal/dotenv", "internal/mask", "internal/permission", "internal/value", "internal/ownership"}, nil},
	"internal/plan":         {1.2, []string{"library", "dag", "expr", "hooks", "steps", "tool", "internal/stepfile", "internal/value"}, nil},
	"internal/sharedfiles":  {1.1, []string{"internal/cache"}, nil},
	"internal/call":         {1.3, []string{"dag", "expr", "hooks", "steps", "tool", "internal/artifact", "internal/cache", "internal/sharedfiles", "internal/dotenv", "internal/home", "internal/mask", "internal/ownership", "internal/permission", "internal/plan", "internal/toolstate", "internal/value", "history", "internal/stepfile"}, nil},
	"internal/script":       {1.4, []string{"dag", "expr", "hooks", "steps", "tool", "internal/call", "internal/permission", "internal/plan", "internal/stepfile", "internal/systrace", "internal/toolstate", "internal/value"}, nil},
	"internal/resultcache":  {1.4, []string{"dag", "expr", "steps", "internal/cache", "internal/call", "internal/plan", "internal/proc", "internal/sharedfiles", "internal/value", "internal/ownership"}, nil},
	"internal/artifact":     {1.1, []string{"dag", "steps", "internal/atomicfile", "internal/cache", "internal/ownership"}, nil},
	"internal/artifactstep": {1.45, []string{"dag", "steps", "internal/artifact", "internal/cache", "internal/call", "internal/plan", "internal/sharedfiles"}, nil},
	"internal/keptstate":    {1.4, []string{"dag", "history", "steps", "internal/call", "internal/plan", "internal/value"}, nil},
	"internal/httpstep":     {1.4, []string{"dag", "expr", "steps", "tool", "internal/cache", "internal/sharedfiles", "internal/call", "internal/permission", "internal/plan", "internal/privatenet", "internal/requesturl", "internal/value"}, nil},
	"internal/waiting":      {1.4, []string{"dag", "expr", "steps", "tool", "history", "internal/call", "internal/requesturl", "internal/value"}, nil},
	"internal/gostep":       {1.4, []string{"dag", "expr", "steps", "tool", "internal/call", "internal/mask", "internal/plan", "internal/stepfile", "internal/value"}, nil},
	"internal/graph":        {1.5, []string{"dag", "expr", "steps", "tool", "internal/artifactstep", "internal/call", "internal/plan", "internal/resultcache", "internal/stepfile", "internal/value", "internal/keptstate"}, nil},
	"internal/compile":      {1.6, []string{"library", "dag", "expr", "hooks", "steps", "tool", "internal/cache", "internal/call", "internal/codeenv", "internal/cron", "internal/diagnostic", "internal/gostep", "internal/graph", "internal/mask", "internal/permission", "internal/plan", "internal/script", "internal/shellsign", "internal/sshcommand", "internal/stepfile", "internal/value", "internal/waiting", "internal/httpstep", "internal/requesturl"}, nil},
	"internal/preview":      {1.6, []string{"dag", "expr", "hooks", "steps", "tool", "history", "internal/cache", "internal/call", "internal/codeenv", "internal/gostep", "internal/graph", "internal/permission", "internal/plan", "internal/resultcache", "internal/value"}, nil},
	"internal/outcome":      {1.7, []string{"library", "dag", "history", "tool", "internal/call", "internal/diagnostic", "internal/mask", "internal/plan", "internal/preview", "internal/value"}, nil},
	"":                      {2, []string{"library", "dag", "expr", "tool", "steps", "hooks", "history", "internal/artifact", "internal/buildinfo", "internal/cache", "internal/call", "internal/compile", "internal/gostep", "internal/graph", "internal/supervisor", "internal/home", "internal/outcome", "internal/permission", "internal/permtrace", "internal/plan", "internal/preview", "internal/proc", "internal/procid", "internal/resultcache", "internal/sharedfiles", "internal/script", "internal/systrace", "internal/toolstate", "internal/value", "internal/waiting", "internal/locale", "internal/keptstate"}, nil},

	"flowruntest":                {3, []string{"", "dag", "hooks", "steps", "internal/storetest"}, nil},
	"internal/fold":              {1, []string{"dag"}, nil},
	"internal/console":           {3, []string{"dag", "internal/fold", "internal/findings"}, []string{"github.com/clipperhouse/displaywidth"}},
	"internal/drawing":           {3.2, []string{"", "dag", "internal/console", "internal/layout"}, nil},
	"internal/watch":             {3, []string{"internal/cache"}, nil},
	"internal/importer":          {3, []string{"expr", "tool", "internal/diagnostic", "internal/keytable"}, nil},
	"internal/importer/cron":     {3.1, []string{"internal/cron", "internal/importer"}, nil},
	"internal/importer/dagu":     {3.1, []string{"internal/cron", "internal/importer"}, nil},
	"internal/importer/github":   {3.1, []string{"internal/cron", "internal/importer"}, nil},
	"internal/importer/just":     {3.1, []string{"internal/importer"}, nil},
	"internal/importer/makefile": {3.1, []string{"internal/importer"}, nil},
	"internal/importer/taskfile": {3.1, []string{"internal/importer"}, nil},
	"internal/scaffold":          {3, []string{"internal/atomicfile"}, nil},
	"internal/eventcode":         {0.5, []string{"dag"}, nil},
	"internal/sqlite":            {1, []string{"dag", "history", "tool", "internal/atomicfile", "internal/eventcode", "internal/procid", "internal/ownership"}, []string{"modernc.org/sqlite"}},
	"store/sqlite":               {2, []string{"history", "internal/sqlite"}, nil},
	"internal/tooltest":          {3, []string{"library", "", "dag", "hooks", "tool", "internal/atomicfile", "internal/outcome", "internal/value"}, nil},
	"internal/toolfiles":         {3, []string{"library", "", "tool"}, nil},
	"internal/privatenet":        {0, nil, nil},
	"internal/argparse":          {0, nil, nil},
	"internal/notify":            {3, []string{"", "dag", "expr", "tool", "internal/proc", "internal/procid", "internal/confine"}, nil},
	"internal/policy":            {3, nil, nil},
	"internal/users":             {0, []string{"internal/atomicfile", "internal/ownership"}, nil},
	"internal/service":           {3.1, []string{"library", "", "dag", "history", "tool", "internal/atomicfile", "internal/filestamp", "internal/home", "internal/outcome", "internal/toolfiles"}, nil},
	"internal/runstats":          {3, []string{"dag", "history", "internal/fold"}, nil},
	"internal/rundocs":           {3, []string{"dag", "history", "internal/value"}, nil},
	"internal/runlog":            {3, []string{"", "dag", "steps", "internal/ownership"}, nil},
	"internal/config":            {3, []string{"library", "tool", "dag", "history", "internal/atomicfile", "internal/duration", "internal/editedfile", "internal/home", "internal/keytable", "internal/ownership"}, nil},
	"internal/web": {4, []string{
		"library",
		"",
		"dag",
		"history",
		"internal/artifact",
		"internal/config",
		"internal/console",
		"internal/docpages",
		"internal/drawing",
		"internal/funcschema",
		"internal/layout",
		"internal/outcome",
		"internal/policy",
		"internal/rundocs",
		"internal/runlog",
		"internal/runstats",
		"internal/service",
		"internal/ui",
		"internal/users",
		"internal/value",
		"steps",
		"tool",
		"internal/tooltest",
	}, nil},
	"internal/ui":           {3, nil, nil},
	"internal/docsite":      {3, []string{"docs"}, []string{"github.com/yuin/goldmark"}},
	"internal/docsite/site": {4, []string{"docs", "internal/docsite"}, nil},
	"internal/ui/bundle":    {3, nil, []string{"github.com/evanw/esbuild"}},
	"internal/editedfile":   {1, []string{"internal/atomicfile"}, nil},
	"internal/clientconfig": {3, nil, []string{"github.com/pelletier/go-toml", "github.com/tailscale/hujson"}},
	"internal/mcp":          {3.5, []string{"library", "", "dag", "history", "internal/console", "internal/funcschema", "internal/rundocs", "internal/runlog", "internal/users", "registry", "steps", "tool"}, []string{"github.com/modelcontextprotocol/go-sdk", "github.com/yosida95/uritemplate"}},
	"internal/mcpclient":    {3.5, []string{"library", "", "internal/atomicfile", "internal/privatenet", "internal/proc", "internal/procid", "internal/sampling", "internal/value", "tool", "internal/ownership"}, []string{"github.com/modelcontextprotocol/go-sdk", "golang.org/x/oauth2"}},
	"cmd/flowrun":           {9, []string{"", "internal/startup", "internal/cli", "internal/cli/serve", "internal/proc", "internal/service", "internal/web", "internal/confine"}, nil},

	// The command line. Families of commands (floor 7) do not import each other.
	"internal/cli/ui":             {4, []string{"library", "", "dag", "expr", "hooks", "internal/autofix", "internal/toolfiles", "internal/buildinfo", "internal/builtin", "internal/bundle", "internal/config", "internal/console", "internal/discovery", "internal/duration", "internal/mcpclient", "internal/netclient", "internal/home", "internal/outcome", "internal/ownership", "internal/policy", "internal/sampling", "internal/sqlite", "tool", "internal/locale"}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	"internal/cli/keyboard":       {5, []string{"", "dag", "internal/cli/ui", "internal/console", "tool"}, nil},
	"internal/cli/launch":         {5, []string{"library", "", "dag", "internal/artifact", "internal/builtin", "internal/cli/ui", "internal/config", "internal/console", "internal/diagnostic", "egress", "internal/keytable", "internal/lint", "internal/netclient", "internal/mask", "internal/home", "internal/locale", "internal/notify", "internal/policy", "internal/service", "internal/sqlite", "internal/telemetry", "internal/tooltest", "internal/measure", "registry", "steps", "tool", "internal/procid"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/timetable":      {5, []string{"library", "", "dag", "internal/cli/ui", "internal/cron", "internal/home", "internal/schedule", "internal/trigger", "internal/service", "internal/sqlite", "internal/measure", "tool"}, nil},
	"internal/cli/tools/addition": {5, []string{"internal/toolfiles", "internal/cli/ui", "internal/keytable", "tool"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/tools/npm":      {6, []string{"library", "", "hooks", "internal/atomicfile", "internal/bundle", "internal/cli/tools/page", "internal/cli/ui", "internal/console", "internal/outcome", "internal/proc", "internal/sqlite", "tool", "internal/ownership"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/tools/page":     {5, []string{"library", "internal/cli/ui", "tool"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/completion":     {5, nil, nil},
	"internal/cli/runview":        {6, []string{"", "dag", "internal/cli/keyboard", "internal/cli/ui", "internal/console", "internal/drawing", "internal/rundocs", "internal/sqlite", "steps", "tool"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/toolset":        {6.5, []string{"library", "", "dag", "internal/atomicfile", "internal/cli/runview", "internal/console", "internal/drawing", "internal/rundocs", "internal/runlog", "internal/textdiff", "internal/toolfiles", "steps", "tool"}, nil},
	"internal/cli/author":         {7, []string{"", "internal/cli/runview", "internal/cli/ui", "internal/config", "internal/console", "internal/drawing", "internal/explain", "internal/sqlite", "internal/scaffold", "tool", "internal/atomicfile", "internal/outcome", "internal/importer", "internal/importer/cron", "internal/importer/dagu", "internal/importer/github", "internal/importer/just", "internal/importer/makefile", "internal/importer/taskfile", "internal/docpages"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/doctor":         {7, []string{"library", "", "dag", "internal/cli/timetable", "internal/cli/ui", "internal/console", "internal/ownership", "internal/permission", "internal/proc", "steps", "internal/sqlite", "internal/telemetry", "tool", "internal/cgroup", "internal/outcome"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/models":         {7, []string{"library", "", "dag", "internal/cli/keyboard", "internal/cli/launch", "internal/cli/runview", "internal/cli/ui", "internal/console", "internal/outcome", "internal/policy", "internal/argparse", "internal/sqlite", "registry", "tool"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/past":           {7, []string{"", "dag", "internal/artifact", "internal/atomicfile", "internal/cli/launch", "internal/cli/runview", "internal/cli/ui", "internal/config", "internal/console", "internal/proc", "internal/rundocs", "internal/runlog", "internal/runstats", "internal/sqlite", "steps"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/state":          {7, []string{"", "dag", "internal/cli/ui", "internal/console", "internal/rundocs", "internal/sqlite", "internal/stepfile", "tool"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/runs":           {7, []string{"", "dag", "internal/cli/keyboard", "internal/cli/launch", "internal/cli/runview", "internal/cli/ui", "internal/console", "internal/outcome", "internal/service", "internal/sqlite", "internal/scaffold", "internal/watch", "tool"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/schedules":      {7, []string{"library", "", "internal/atomicfile", "internal/cli/launch", "internal/cli/timetable", "internal/cli/ui", "internal/config", "internal/console", "internal/cron", "internal/home", "internal/proc", "internal/schedule", "internal/service", "internal/sqlite", "tool"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/serve":          {7, []string{"library", "", "dag", "internal/atomicfile", "internal/cli/launch", "internal/cli/timetable", "internal/cli/toolset", "internal/cli/ui", "internal/clientconfig", "internal/config", "internal/confine", "internal/console", "internal/editedfile", "internal/home", "internal/mcp", "internal/ownership", "internal/policy", "internal/proc", "internal/service", "internal/sqlite", "internal/users", "internal/watch", "internal/measure", "registry", "tool"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/servers":        {7, []string{"internal/cli/ui", "internal/config", "internal/console", "internal/editedfile", "internal/mcpclient", "internal/outcome"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/settings":       {7, []string{"library", "internal/cli/ui", "internal/config", "internal/console", "internal/ownership", "internal/textdiff", "tool"}, []string{"github.com/spf13/cobra"}},
	"internal/cli/tools":          {7, []string{"library", "", "internal/lint", "internal/atomicfile", "internal/buildinfo", "internal/bundle", "internal/toolfiles", "internal/cli/launch", "internal/cli/tools/addition", "internal/cli/tools/npm", "internal/cli/tools/page", "internal/cli/ui", "internal/console", "internal/netclient", "internal/findings", "internal/funcschema", "internal/autofix", "internal/outcome", "internal/permtrace", "internal/textdiff", "internal/tooltest", "tool"}, []string{"github.com/spf13/cobra"}},
	"internal/cli":                {8, []string{"", "internal/cli/author", "internal/cli/completion", "internal/cli/doctor", "internal/cli/models", "internal/cli/past", "internal/cli/runs", "internal/cli/schedules", "internal/cli/serve", "internal/cli/servers", "internal/cli/settings", "internal/cli/state", "internal/cli/tools", "internal/cli/ui", "internal/config", "internal/ownership", "internal/proc", "tool"}, []string{"github.com/spf13/cobra"}},

	"registry":            {3, []string{"library", "", "dag", "tool", "internal/funcschema", "internal/outcome", "internal/argparse", "steps"}, nil},
	"internal/builtin":    {3, []string{"library", "", "expr", "tool", "internal/atomicfile", "internal/cache", "internal/editedfile", "internal/home", "internal/privatenet", "internal/proc", "internal/textdiff"}, nil},
	"internal/program":    {0.5, []string{"internal/proc", "internal/procid"}, nil},
	"internal/sampling":   {1, []string{"expr", "internal/program"}, nil},
	"internal/discovery":  {1, []string{"expr", "tool", "internal/program"}, nil},
	"telemetry":           {4, []string{"dag", "history", "internal/buildinfo", "internal/telemetry"}, nil},
	"internal/telemetry":  {3, []string{"dag", "history", "internal/fold"}, []string{"github.com/VictoriaMetrics/easyproto"}},
	"internal/funcschema": {1, []string{"tool"}, nil},
	"internal/atomicfile": {cellar, nil, nil},
	"internal/cron":       {0, []string{"internal/duration"}, nil},
	"internal/home":       {cellar, nil, nil},
	"internal/buildinfo":  {cellar, nil, nil},
	"internal/jsonschema": {cellar, nil, nil},
	"internal/layout":     {cellar, nil, nil},
	"internal/codeenv":    {cellar, nil, nil},
	"internal/shellsign":  {cellar, nil, nil},
	"internal/ownership":  {cellar, nil, nil},
	"internal/locale":     {cellar, nil, nil},
	"internal/filestamp":  {cellar, nil, nil},
	"internal/schedule":   {3, []string{"internal/cron"}, nil},
	"internal/trigger":    {3.5, []string{"internal/cache", "internal/filestamp", "internal/schedule"}, nil},
	"internal/textdiff":   {0, nil, []string{"github.com/rogpeppe/go-internal"}},
	"internal/release":    {0, []string{"internal/atomicfile"}, nil},
	"internal/explain":    {0, nil, nil},
	"docs":                {0, nil, nil},
	"internal/docpages":   {0, nil, nil},
	"internal/findings":   {1, []string{"tool", "internal/explain"}, nil},
	"internal/lint":       {1, []string{"expr", "tool"}, nil},
	"internal/bundle":     {3, []string{"internal/atomicfile", "tool", "internal/ownership"}, []string{"github.com/evanw/esbuild"}},
	"internal/autofix":    {3, []string{"tool", "internal/lint"}, nil},

	// The module for Temporal, which has the libraries of its go.mod to itself.
	"temporal/cmd/flowrun-temporal": {9, []string{"", "internal/confine", "internal/proc", "temporal/internal/command"}, nil},
	"temporal/internal/command": {8, []string{"", "dag", "internal/cli/launch", "internal/cli/past", "internal/cli/runs", "internal/cli/runview", "internal/cli/timetable", "internal/cli/ui", "internal/config", "internal/measure", "internal/ownership", "internal/sqlite", "steps",
		"temporal/internal/activity", "temporal/internal/codec", "temporal/internal/datastore", "temporal/internal/interpreter", "temporal/internal/remote", "temporal/internal/schedule"}, []string{"github.com/spf13/cobra", "go.temporal.io", "google.golang.org/grpc"}},
	"temporal/internal/remote":      {5, []string{"library", "", "dag", "history", "tool", "temporal/internal/interpreter"}, []string{"go.temporal.io"}},
	"temporal/internal/activity":    {5, []string{"library", "", "dag", "history", "steps", "tool", "internal/atomicfile", "temporal/internal/interpreter"}, []string{"go.temporal.io", "google.golang.org/protobuf"}},
	"temporal/internal/interpreter": {4, []string{"library", "", "dag", "history", "tool", "internal/eventcode"}, []string{"go.temporal.io"}},
	"temporal/internal/schedule":    {4, []string{"internal/cron", "internal/schedule"}, []string{"go.temporal.io"}},
	"temporal/internal/codec":       {0, nil, []string{"go.temporal.io", "google.golang.org/protobuf"}},
	"temporal/internal/datastore":   {0, []string{"internal/atomicfile"}, []string{"github.com/minio/minio-go", "go.temporal.io", "google.golang.org/protobuf"}},
}

// shared are the libraries of more than one package: what the table of keys reads, tool
// checks node by node. A protocol has two sides. Metrics and spans are sent as protobuf.
// The web pages are bundled when flowrun is built, the tools of its users when it runs.
var shared = map[string][]string{
	"github.com/evanw/esbuild/pkg/api":               {"internal/bundle", "internal/ui/bundle"},
	"github.com/VictoriaMetrics/easyproto":           {"internal/series", "internal/telemetry"},
	"gopkg.in/yaml.v3":                               {"internal/keytable", "internal/schemaparams", "tool"},
	"github.com/modelcontextprotocol/go-sdk/mcp":     {"internal/mcp", "internal/mcpclient"},
	"github.com/modelcontextprotocol/go-sdk/jsonrpc": {"internal/mcp", "internal/mcpclient"},
}

// TestHouse holds every import of the code (tests left out) against the table.
func TestHouse(t *testing.T) {
	rooms := map[string]string{} // library -> package
	for pkg, files := range sources(t) {
		room, known := house[pkg]
		if !known {
			t.Errorf("package %q has no place in the house: add it to the table", pkg)
			continue
		}
		for _, file := range files {
			for _, path := range imports(t, file) {
				inner, ours := strings.CutPrefix(path, module)
				inner = strings.TrimPrefix(inner, "/")
				switch {
				case ours && !slices.Contains(room.uses, inner):
					t.Errorf("%s imports %q, which %q may not", file, inner, pkg)
				case ours && house[inner].floor >= room.floor:
					t.Errorf("%s imports %q, which is not below it", file, inner)
				case ours || !strings.Contains(strings.Split(path, "/")[0], "."):
				case strings.HasPrefix(path, "golang.org/x/") && room.floor > 0:
				case !slices.ContainsFunc(room.libraries, func(l string) bool { return path == l || strings.HasPrefix(path, l+"/") }):
					t.Errorf("%s imports %s, which may not enter %q", file, path, pkg)
				default:
					where := pkg
					switch { // one room, in several packages
					case strings.HasPrefix(pkg, "internal/cli/"):
						where = "internal/cli"
					case strings.HasPrefix(pkg, "temporal/"):
						continue
					}
					if other := rooms[path]; other != "" && other != where && !(slices.Contains(shared[path], pkg) && slices.Contains(shared[path], other)) {
						t.Errorf("%s enters both %q and %q", path, pkg, other)
					}
					rooms[path] = where
				}
			}
		}
	}
}

// TestCommandLine bounds the packages of the command line, and the state that commands share.
func TestCommandLine(t *testing.T) {
	const maxLines, maxMethods = 3400, 60
	method := regexp.MustCompile(`(?m)^func \(env \*Env\)`)
	methods := 0
	for pkg, files := range sources(t) {
		if pkg != "internal/cli" && !strings.HasPrefix(pkg, "internal/cli/") {
			continue
		}
		lines, commands := 0, false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
			commands = commands || bytes.Contains(text, []byte("\nfunc Commands("))
			methods += len(method.FindAll(text, -1))
		}
		if lines > maxLines {
			t.Errorf("%s has %d lines, more than %d", pkg, lines, maxLines)
		}
		if family := house[pkg].floor == house["internal/cli/runs"].floor; family != commands {
			t.Errorf("%s: a family of commands is %v, has a function Commands is %v", pkg, family, commands)
		}
	}
	if methods == 0 || methods > maxMethods {
		t.Errorf("Env has %d methods, want 1 to %d", methods, maxMethods)
	}
}

// TestStepKinds keeps what a kind of step is in two places: package tool, which reads it, and
// one file of package compile. All others ask for a step's body, or for what its plan says.
func TestStepKinds(t *testing.T) {
	body, err := os.ReadFile("tool/body.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+) +Kind = "`).FindAllSubmatch(body, -1) {
		names = append(names, string(m[1]))
	}
	if len(names) == 0 {
		t.Fatal("tool/body.go declares no kinds")
	}
	use := regexp.MustCompile(`\btool\.(` + strings.Join(names, "|") + `)\b`)
	for _, files := range sources(t) {
		for _, file := range files {
			if ok, _ := filepath.Match("internal/compile/kind_*.go", filepath.ToSlash(file)); ok {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := use.Find(text); found != nil {
				t.Errorf("%s uses %s: ask for the step's body, or for what its plan says", file, found)
			}
		}
	}
}

// sources are the Go files of each package that has a place in the product.
func sources(t *testing.T) map[string][]string {
	list := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || path == "bench" ||
			(strings.HasPrefix(path, "internal/") || strings.HasPrefix(path, "temporal/")) && strings.HasSuffix(path, "test")) { // for tests of other packages
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			dir := filepath.ToSlash(filepath.Dir(path))
			if dir == "." {
				dir = ""
			}
			list[dir] = append(list[dir], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func imports(t *testing.T, file string) []string {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, s := range f.Imports {
		path, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, path)
	}
	return list
}

// TestEmbeddingStaysLight keeps what an embedding program does not need out of
// the root package's dependencies.
func TestEmbeddingStaysLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module).Output()
	if err != nil {
		t.Skipf("go list does not run here: %v", err)
	}
	allowed := []string{"github.com/dlclark/regexp2", "github.com/dop251/goja", "github.com/go-sourcemap/sourcemap", "github.com/google/pprof/profile", "github.com/bmatcuk/doublestar/v4", "github.com/creack/pty", "github.com/expr-lang/expr", "mvdan.cc/sh/v3", "gopkg.in/yaml.v3"}
	for _, dep := range strings.Fields(string(out)) {
		inner, ours := strings.CutPrefix(dep, module)
		standard := !strings.Contains(strings.Split(dep, "/")[0], ".") && dep != "net/http"
		switch {
		case ours && house[strings.TrimPrefix(inner, "/")].floor <= 2, standard, strings.HasPrefix(dep, "golang.org/x/"):
		case slices.ContainsFunc(allowed, func(l string) bool { return dep == l || strings.HasPrefix(dep, l+"/") }):
		default:
			t.Errorf("the root package depends on %s", dep)
		}
	}
}
