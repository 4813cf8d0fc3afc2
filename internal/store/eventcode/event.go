package eventcode

import "github.com/flowrun/flowrun/dag"

func (c *coder) event(e *dag.Event) {
	rare := !e.Due.IsZero() || e.Reason != "" || len(e.Reset) > 0 || e.Items != 0 || len(e.Keys) > 0 || e.Digest != "" || e.Run != c.run
	result := e.Result != nil
	usage := result && e.Result.Usage != (dag.Usage{})
	outputs := result && e.Result.Outputs != nil
	kept := result && e.Result.Kept != nil
	refused := result && e.Result.Refused != 0
	noticed := len(e.Notices) > 0
	c.flags(&e.Outlasts, &rare, &result, &usage, &outputs, &kept, &refused, &noticed)
	number(c, &e.V)
	c.next(&e.Seq)
	c.word((*string)(&e.Kind))
	c.text((*string)(&e.Node))
	number(c, &e.Attempt)
	c.clock(&e.Time)
	number(c, &e.Queued)
	if rare {
		c.text(&e.Run)
		c.date(&e.Due)
		c.word(&e.Reason)
		texts(c, &e.Reset)
		number(c, &e.Items)
		texts(c, &e.Keys)
		c.text(&e.Digest)
	} else if c.reading {
		e.Run = c.run
	}
	if result {
		c.result(&e.Result)
	}
	if usage && e.Result != nil {
		c.usage(&e.Result.Usage)
	}
	if outputs && e.Result != nil {
		c.outputs(&e.Result.Outputs)
	}
	if kept && e.Result != nil {
		c.kept(&e.Result.Kept)
	}
	if refused && e.Result != nil {
		number(c, &e.Result.Refused)
	}
	if noticed {
		c.notices(&e.Notices)
	}
}

func (c *coder) notices(into *[]dag.Notice) {
	list := several(c, into)
	for i := range list {
		n := &list[i]
		c.word(&n.Code)
		c.text((*string)(&n.Step))
		c.text(&n.Message)
		processes := several(c, &n.Processes)
		for i := range processes {
			p := &processes[i]
			number(c, &p.PID)
			c.text(&p.Name)
			c.text((*string)(&p.Step))
		}
	}
}

// several codes the length of a list, and returns the list; reading, it makes one of that length.
func several[T any](c *coder, list *[]T) []T {
	n := len(*list)
	if !c.reading {
		number(c, &n)
	} else if n = c.size(); n > 0 {
		*list = make([]T, n)
	}
	return *list
}

func (c *coder) artifacts(into *[]dag.Artifact) {
	list := several(c, into)
	for i := range list {
		a := &list[i]
		c.text(&a.Name)
		c.text(&a.Path)
		texts(c, &a.Paths)
		number(c, &a.Files)
		number(c, &a.Size)
		c.text(&a.Digest)
		c.date(&a.Expires)
	}
}

func (c *coder) result(p **dag.Result) {
	r := target(c, p)
	rare := r.Message != "" || len(r.Notes) > 0 || r.Reason != ""
	stdout, stderr, problem, wait := r.Stdout != nil, r.Stderr != nil, r.Problem != nil, r.Wait != nil
	c.flags(&r.Fallback, &r.Tolerated, &r.Structured, &rare, &stdout, &stderr, &problem, &wait)
	c.status(&r.Status)
	number(c, &r.ExitCode)
	number(c, &r.Attempts)
	c.clock(&r.Started)
	c.clock(&r.Ended)
	if rare {
		c.word(&r.Reason)
		c.text(&r.Message)
		texts(c, &r.Notes)
	}
	if stdout {
		c.output(&r.Stdout)
	}
	if stderr {
		c.output(&r.Stderr)
	}
	if problem {
		c.problem(&r.Problem)
	}
	if wait {
		c.wait(&r.Wait)
	}
}

func (c *coder) output(p **dag.Output) {
	o := target(c, p)
	times := o.Times != ""
	c.flags(&o.Truncated, &o.Masked, &times)
	number(c, &o.Size)
	c.text(&o.Inline)
	c.text(&o.File)
	c.text(&o.Digest)
	if times {
		c.text(&o.Times)
	}
}

func (c *coder) problem(p **dag.Problem) {
	x := target(c, p)
	c.flags(&x.Retryable)
	c.word(&x.Code)
	c.word(&x.Category)
	c.text(&x.Solution)
	c.text(&x.Where)
}

func (c *coder) wait(p **dag.Wait) {
	w := target(c, p)
	then := w.Then != nil
	usage := then && w.Then.Usage != (dag.Usage{})
	outputs, kept, refused := then && w.Then.Outputs != nil, then && w.Then.Kept != nil, then && w.Then.Refused != 0
	c.flags(&w.Asks, &then, &usage, &outputs, &kept, &refused, &w.Hold)
	c.text(&w.Kind)
	c.date(&w.Until)
	c.text(&w.Prompt)
	form := string(w.Form)
	if c.text(&form); c.reading && form != "" {
		w.Form = []byte(form)
	}
	if then {
		c.result(&w.Then)
	}
	if usage && w.Then != nil {
		c.usage(&w.Then.Usage)
	}
	if outputs && w.Then != nil {
		c.outputs(&w.Then.Outputs)
	}
	if kept && w.Then != nil {
		c.kept(&w.Then.Kept)
	}
	if refused && w.Then != nil {
		number(c, &w.Then.Refused)
	}
}

func (c *coder) outputs(p **dag.Outputs) {
	o := target(c, p)
	c.flags(&o.Masked)
	values := string(o.Values)
	if c.text(&values); c.reading {
		o.Values = []byte(values)
	}
	c.text(&o.Digest)
}

func (c *coder) usage(u *dag.Usage) {
	number(c, &u.User)
	number(c, &u.System)
	number(c, &u.MaxRSS)
}

func (c *coder) kept(p **dag.Kept) {
	k := target(c, p)
	c.state(&k.State)
	c.artifacts(&k.Artifacts)
}

func (c *coder) state(into *[]dag.StateChange) {
	list := several(c, into)
	for i := range list {
		s := &list[i]
		value := string(s.Value)
		c.flags(&s.Step)
		c.text(&s.Tool)
		c.text(&s.File)
		c.text(&s.Key)
		c.text(&s.Merge)
		if c.text(&value); c.reading {
			s.Value = []byte(value)
		}
	}
}
