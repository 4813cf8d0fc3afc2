package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/internal/observe/runlog"
)

// runsURI is the list of runs. Everything about one run is below it.
const runsURI = "flowrun://runs"

const (
	// maxPart limits the text of one answer, in bytes. A longer text is read in parts, by offset.
	maxPart = 256 << 10
	// maxListed is how many runs the list has.
	maxListed = 100
)

// addResources offers the recorded runs of the tools that are offered.
func (s *Server) addResources() {
	if s.config.Store == nil {
		return
	}
	s.sdk.AddResource(&mcp.Resource{URI: runsURI, Name: "runs", Title: "Recent runs", MIMEType: "application/json",
		Description: "the newest runs of these tools, as a document flowrun/runs.v1"}, s.read(s.readRuns))
	for _, t := range []struct {
		template, name, title, mime, doc string
		read                             reader
	}{
		{"/{run}", "run", "A run", "application/json", "a run with its steps, as a document flowrun/run.v1", s.readRun},
		{"/{run}/output{?offset}", "output", "The output of a run", "text/plain", "the output of a run, from the offset in bytes", s.readOutput},
		{"/{run}/log{?step,offset}", "log", "The log of a run", "text/plain", "what the steps of a run printed, or one step with the steps inside it", s.readLog},
	} {
		s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: runsURI + t.template, Name: t.name, Title: t.title, MIMEType: t.mime, Description: t.doc}, s.read(t.read))
	}
}

// reader reads one resource.
type reader func(context.Context, resourceURI) (*mcp.ResourceContents, error)

// resourceURI is a parsed URI of a resource.
type resourceURI struct {
	text      string
	run, step string
	offset    int
}

// errNoResource reports that there is no such resource, or that it belongs to a tool that is not
// offered.
var errNoResource = errors.New("no such resource")

// parseURI parses the URI of a resource.
func parseURI(text string) (resourceURI, error) {
	u := resourceURI{text: text}
	parsed, err := url.Parse(text)
	if err != nil {
		return u, errNoResource
	}
	u.run, _, _ = strings.Cut(strings.TrimPrefix(parsed.Path, "/"), "/")
	u.step = parsed.Query().Get("step")
	if o := parsed.Query().Get("offset"); o != "" {
		if u.offset, err = strconv.Atoi(o); err != nil || u.offset < 0 {
			return u, errNoResource
		}
	}
	return u, nil
}

// read returns the handler of a resource.
func (s *Server) read(read reader) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		u, err := parseURI(req.Params.URI)
		var c *mcp.ResourceContents
		if err == nil {
			c, err = read(ctx, u)
		}
		if errors.Is(err, errNoResource) || errors.Is(err, history.ErrNoRun) {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		if err != nil {
			return nil, err
		}
		c.URI = req.Params.URI
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
	}
}

// readRuns returns the list of runs.
func (s *Server) readRuns(ctx context.Context, _ resourceURI) (*mcp.ResourceContents, error) {
	list, err := s.config.Store.Runs(ctx, history.Query{Limit: 10 * maxListed})
	if err != nil {
		return nil, err
	}
	var shown []history.RunInfo
	for _, r := range list {
		if len(shown) < maxListed && s.Shows(ctx, r) {
			shown = append(shown, r)
		}
	}
	return document(rundocs.RunsOf(shown, time.Now()))
}

// Shows reports whether clients can see a run: its tool is offered, and it ran the definition in the
// same file. The history has the runs of all projects, whose tools can have the same names. A tool
// without a file must have run in the same folder.
func (s *Server) Shows(ctx context.Context, info history.RunInfo) bool {
	t, offered := s.offerOf(info.Tool)
	if !offered {
		return false
	}
	r, err := s.config.Store.Record(ctx, info.ID)
	if err != nil {
		return false
	}
	if t.file == "" {
		return r.RunEnv.Workspace == t.workspace
	}
	return len(r.Sources) > 0 && r.Sources[0].File == t.file
}

// document returns a JSON document.
func document(v any) (*mcp.ResourceContents, error) {
	text, err := json.Marshal(v)
	return &mcp.ResourceContents{MIMEType: "application/json", Text: string(text)}, err
}

// load reads a run of an offered tool.
func (s *Server) load(ctx context.Context, id string) (*engine.RecordedRun, error) {
	info, err := s.config.Store.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	if !s.Shows(ctx, info) {
		return nil, errNoResource
	}
	return engine.LoadRun(ctx, s.config.Store, s.config.Library, id)
}

// readRun returns the document of one run.
func (s *Server) readRun(ctx context.Context, u resourceURI) (*mcp.ResourceContents, error) {
	run, err := s.load(ctx, u.run)
	if err != nil {
		return nil, err
	}
	return document(run.Result())
}

// readOutput returns a part of the output of a run.
func (s *Server) readOutput(ctx context.Context, u resourceURI) (*mcp.ResourceContents, error) {
	run, err := s.load(ctx, u.run)
	if err != nil {
		return nil, err
	}
	return part(u, strings.NewReader(run.Result().Output))
}

// readLog returns a part of what the steps of a run printed.
func (s *Server) readLog(ctx context.Context, u resourceURI) (*mcp.ResourceContents, error) {
	run, err := s.load(ctx, u.run)
	if err != nil {
		return nil, err
	}
	log := runlog.New(rundir.LogFolder(s.config.StateDir, u.run), run.Plan, u.step)
	steps := run.Result().Steps
	if u.step != "" && !slices.ContainsFunc(steps, func(r runresult.StepResult) bool { return log.Wants(r.ID) }) {
		return nil, errNoResource
	}
	text, end := io.Pipe()
	defer text.Close()
	go func() {
		end.CloseWithError(log.Copy(run.Events, runlog.Labelled(end)))
	}()
	return part(u, text)
}

// part returns the text from the offset on, at most maxPart bytes. The metadata has the URI of the
// next part.
func part(u resourceURI, text io.Reader) (*mcp.ResourceContents, error) {
	if _, err := io.CopyN(io.Discard, text, int64(u.offset)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(text, maxPart+1))
	if err != nil {
		return nil, err
	}
	c := &mcp.ResourceContents{MIMEType: "text/plain"}
	if len(b) > maxPart {
		b = b[:wholeRunes(b[:maxPart])]
		c.Meta = mcp.Meta{"flowrun/next": nextPart(u, u.offset+len(b))}
	}
	c.Text = string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
	return c, nil
}

// wholeRunes returns how many bytes to keep so that no character is cut. Bytes that are not
// UTF-8 are kept.
func wholeRunes(b []byte) int {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

// nextPart returns the URI of the part at an offset.
func nextPart(u resourceURI, offset int) string {
	base, _, _ := strings.Cut(u.text, "?")
	q := url.Values{"offset": {strconv.Itoa(offset)}}
	if u.step != "" {
		q.Set("step", u.step)
	}
	return base + "?" + q.Encode()
}
