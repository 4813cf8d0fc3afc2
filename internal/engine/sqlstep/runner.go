package sqlstep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/savedfile"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Runner asks a database. It is immutable.
type Runner struct {
	Def        *tool.SQL
	URL        *expr.Template
	Queries    []Query
	SaveAs     *expr.Template // nil: the rows are the output
	Limit      int64          // bytes of an output; 0: steps.DefaultLimit
	HostChosen bool           // somebody other than the definition's author may choose the host
}

// Query is a statement. Its parts are texts, and templates of one placeholder each.
type Query struct {
	Parts []*expr.Template
	Names []bool // by part: it is a name that the author lists, and becomes part of the text
	Reads bool   // it changes nothing, as far as its words tell
}

// Idempotent reports whether the step may run twice: no statement changes anything, as far as its words tell.
func (r *Runner) Idempotent() bool {
	for _, q := range r.Queries {
		if !q.Reads {
			return false
		}
	}
	return true
}

// ReasonQuery is the reason of a step whose database could not be asked, or did not do what it was asked.
const ReasonQuery = "sql"

// session is one attempt of a step.
type session struct {
	*Runner
	frame *call.Frame
	mask  *steps.Mask
	log   strings.Builder
	sc    expr.Scope
	out   bytes.Buffer // the rows, without save-as
	saved *savedfile.File
	rows  int64
}

// Run implements dag.Runner.
func (r *Runner) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	f := call.FrameOf(c.Args())
	if why := f.Plan.Unconfined(f.Confine, plan.WorkInQuery); why != "" {
		return dag.Result{Status: dag.Failed, ExitCode: 126, Reason: steps.ReasonStartFailed, Message: why, Permanent: true}, nil
	}
	s := &session{Runner: r, frame: f, mask: f.Session().Mask(), sc: f.Scope(c.View)}
	queries, err := s.render()
	if f.RunEnv.Database == nil {
		err = errors.New("cannot ask the database: this program connects to none for steps; set Config.Database")
	}
	if err == nil && r.SaveAs != nil {
		s.saved, err = savedfile.Create(f, c.Path.WithoutAttempts(), r.SaveAs, s.sc, "the rows")
	}
	if err != nil {
		return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Message: s.mask.String(err.Error()), Permanent: true}, nil
	}
	changed, err := s.ask(ctx, queries)
	res := dag.Result{Status: dag.Succeeded}
	if err == nil && s.saved != nil {
		err = s.saved.Publish()
	} else {
		s.saved.Discard()
	}
	if err != nil {
		s.line("! %v", err)
		why := known(err)
		res = dag.Result{Status: dag.Failed, ExitCode: 1, Reason: ReasonQuery, Message: s.mask.String(err.Error()), Permanent: !why.Again}
		if why.Unsure {
			res.Message += "; it is not known whether the statements were committed"
		}
	} else {
		if res.Outputs, err = f.Session().Outputs(map[string]any{"rows": s.rows, "changed": changed}); err != nil {
			return res, err
		}
		if res.Stdout, err = f.Session().Text(c.Path, c.Attempt, s.out.String()); err != nil {
			return res, err
		}
	}
	res.Stderr, err = f.Session().Stream(c.Path, c.Attempt, steps.Stderr, s.log.String())
	return res, err
}

// known returns what is known of an error.
func known(err error) call.DatabaseError {
	e, _ := errors.AsType[call.DatabaseError](err)
	return e
}

func (s *session) line(format string, args ...any) {
	s.log.WriteString(s.mask.String(fmt.Sprintf(format, args...)) + "\n")
}

// rendered is a statement with its values.
type rendered struct {
	parts  []string // the texts between the values
	values []any
	reads  bool
}

func (q rendered) text(sign byte) string {
	var b strings.Builder
	for i, part := range q.parts {
		if i > 0 {
			fmt.Fprintf(&b, "%c%d", sign, i)
		}
		b.WriteString(part)
	}
	return b.String()
}

func (s *session) render() (list []rendered, err error) {
	for _, q := range s.Queries {
		r := rendered{reads: q.Reads, parts: []string{""}}
		for i, p := range q.Parts {
			if p.Static() || q.Names[i] {
				text, err := p.Text(s.sc)
				if err != nil {
					return nil, err
				}
				r.parts[len(r.parts)-1] += text
				continue
			}
			v, err := p.Value(s.sc)
			if err != nil {
				return nil, err
			}
			r.values = append(r.values, v)
			r.parts = append(r.parts, "")
		}
		list = append(list, r)
	}
	return list, nil
}

// ask connects and runs the statements. It returns how many rows they have changed.
func (s *session) ask(ctx context.Context, queries []rendered) (changed int64, err error) {
	db, err := s.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	alone := len(queries) == 1
	if alone && queries[0].reads {
		return s.runAll(ctx, db, queries)
	}
	if err := db.Begin(ctx); err != nil {
		return 0, err
	}
	if changed, err = s.runAll(ctx, db, queries); err == nil {
		return changed, db.Commit(ctx)
	}
	db.Rollback()
	if alone && known(err).NoTransaction {
		return s.runAll(ctx, db, queries)
	}
	return 0, err
}

func (s *session) runAll(ctx context.Context, db call.Database, queries []rendered) (changed int64, err error) {
	for i, q := range queries {
		rows := &counted{table: discard{}}
		if i == len(queries)-1 {
			rows.table = newTable(s.Def.Format, s.writer())
		}
		s.line("> %s", strings.TrimSpace(q.text('$')))
		began := time.Now()
		n, err := db.Execute(ctx, q.text, q.values, rows)
		if err == nil && rows.names != nil {
			err = rows.end()
		}
		if err != nil {
			if len(queries) > 1 {
				err = fmt.Errorf("statement %d: %w", i+1, err)
			}
			return 0, err
		}
		s.line("< %d rows, %d changed, in %d ms", rows.n, n, time.Since(began).Milliseconds())
		s.rows, changed = rows.n, changed+n
	}
	return changed, nil
}

func (s *session) writer() io.Writer {
	if s.saved != nil {
		return s.saved
	}
	return limited{s}
}

// limited refuses an output that is too large, which would be no JSON without its end.
type limited struct{ *session }

func (l limited) Write(b []byte) (int, error) {
	limit := l.Limit
	if limit == 0 {
		limit = steps.DefaultLimit
	}
	if int64(l.out.Len()+len(b)) > limit {
		return 0, fmt.Errorf("the rows are larger than %d bytes; add a limit to the query, save them with save-as, or raise output.buffer-limit", limit)
	}
	return l.out.Write(b)
}

// connect opens the database that the step names.
func (s *session) connect(ctx context.Context) (call.Database, error) {
	address, err := s.URL.Text(s.sc)
	if err != nil {
		return nil, err
	}
	u, path, err := ParseURL(address)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return s.openFile(ctx, path)
	}
	if password, ok := u.User.Password(); ok {
		for _, form := range []string{password, escaped(password)} {
			if err := s.mask.Add(form); err != nil {
				return nil, fmt.Errorf("cannot mask the password: %w", err)
			}
		}
	}
	s.frame.Session().ObserveURL(u)
	return s.frame.RunEnv.Database(ctx, call.DatabaseRequest{URL: u, Dial: s.dial})
}

// dial connects to a server, if the permissions allow it: those of an enforced tool, and of one whose host somebody else
// chooses.
func (s *session) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	if !s.frame.Confine.Enforced && !s.HostChosen {
		return d.DialContext(ctx, network, address)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || network == "unix" {
		return nil, errors.New("permissions cannot allow a socket; write the host and the port of the database")
	}
	addresses, err := call.Grants(s.frame).Resolve(ctx, host, port)
	if err != nil {
		return nil, err
	}
	for _, a := range addresses {
		var conn net.Conn
		if conn, err = d.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// openFile opens a file of SQLite. Under enforced permissions it must be writable, and the statements reach no other one.
func (s *session) openFile(ctx context.Context, path string) (call.Database, error) {
	path = s.frame.Resolve(s.frame.Dir(), path)
	if s.frame.Confine.Enforced {
		path = permission.RealPath(path)
		if _, _, err := call.Grants(s.frame).Writable(path); err != nil {
			return nil, err
		}
	}
	return s.frame.RunEnv.Database(ctx, call.DatabaseRequest{Path: path, Alone: s.frame.Confine.Enforced})
}

// Describe shows the database and the statements in a dry run, with the values that they get.
func (r *Runner) Describe(show func(*expr.Template) string) string {
	var b strings.Builder
	b.WriteString(withoutPassword(show(r.URL)))
	for i, q := range r.Queries {
		b.WriteString(map[bool]string{true: "\n", false: ";\n"}[i == 0])
		for j, p := range q.Parts {
			switch {
			case p.Static(), q.Names[j]:
				b.WriteString(show(p))
			default:
				b.WriteString("«" + show(p) + "»")
			}
		}
	}
	if r.SaveAs != nil {
		b.WriteString("\nsaved as " + show(r.SaveAs))
	}
	return b.String()
}
