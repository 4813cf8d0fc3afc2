//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// table collects the samples of one workload and prints them.
type table struct {
	workload workload
	rows     []*row // the first is the limit
	out      []string
}

// row is the limit or one contender, with one sample per round.
type row struct {
	name    string
	prepare func(dir string) (command, error)
	samples []sample // the first is the warm-up; there are fewer if the row has settled
}

// newTable returns a table with rows for the limit, the flowrun at that path, and each available
// peer.
func newTable(w workload, flowrun string) *table {
	t := &table{workload: w}
	t.rows = []*row{{name: "limit", prepare: func(string) (command, error) { return w.limit, nil }}}
	in, out := available(w, flowrun)
	t.out = out
	for _, c := range in {
		t.rows = append(t.rows, &row{name: c.name, prepare: func(dir string) (command, error) { return c.prepare(w, dir) }})
	}
	return t
}

// round measures each row once, each in an empty dir, so that no files of earlier commands are
// left.
func (t *table) round(ctx context.Context, self, dir string) error {
	for i, r := range t.rows {
		if i > 0 && r.done() {
			continue
		}
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
			return fmt.Errorf("cannot make a fresh folder: %w", err)
		}
		c, err := r.prepare(dir)
		if err != nil {
			return err
		}
		c.Dir = dir
		if t.workload.warm {
			if _, err := takeSample(ctx, self, c); err != nil {
				return err
			}
		}
		s, err := takeSample(ctx, self, c)
		if err != nil {
			return err
		}
		if i == 0 && s.Fail != "" {
			return fmt.Errorf("cannot measure the limit: %s", s.Fail)
		}
		r.samples = append(r.samples, s)
	}
	return nil
}

// maxWarmUp is the longest warm-up after which a contender is measured again.
const maxWarmUp = 30 * time.Second

// done reports whether a row needs no more samples: it failed, or its warm-up took longer
// than patience.
func (r *row) done() bool {
	n := len(r.samples)
	return n > 0 && (r.samples[n-1].Fail != "" || n == 1 && r.samples[0].Wall > maxWarmUp)
}

func (t *table) print(w io.Writer) {
	fmt.Fprintf(w, "### %s\n\n%s\n\n", t.workload.title, t.workload.about)
	fmt.Fprint(w, "| | wall | x limit | spread | CPU x limit | peak RSS |\n|---|---:|---:|---:|---:|---:|\n")
	for _, r := range t.rows {
		fmt.Fprintln(w, r.line(t.rows[0].samples))
	}
	if len(t.out) > 0 {
		fmt.Fprintf(w, "\nNot in this table: %s.\n", strings.Join(t.out, ", "))
	}
	fmt.Fprintln(w)
}

// line formats the row as Markdown, with the medians over the rounds after the warm-up and the
// highest peak RSS.
func (r *row) line(limit []sample) string {
	samples, name := r.samples, r.name
	wallRatios := r.wallRatios(limit)
	if fail := samples[len(samples)-1].Fail; fail != "" {
		return fmt.Sprintf("| %s | failed: %s | | | | |", name, strings.ReplaceAll(fail, "|", `\|`))
	}
	if len(samples) > 1 {
		samples, limit = samples[1:], limit[1:]
	} else {
		name += " (1 run)"
	}
	var wall, rss, cpuRatio []float64
	for i, s := range samples {
		wall = append(wall, s.Wall.Seconds()*1000)
		rss = append(rss, float64(s.RSS)/(1<<20))
		cpuRatio = append(cpuRatio, ratio(s.CPU, limit[i].CPU))
	}
	return fmt.Sprintf("| %s | %.1f ms | %.2f | %.2f to %.2f | %.2f | %.1f MiB |", name, median(wall),
		median(wallRatios), slices.Min(wallRatios), slices.Max(wallRatios), median(cpuRatio), slices.Max(rss))
}

// wallRatios returns the ratio of the wall time to that of the limit for each round after the warm-up,
// or nil if the contender failed.
func (r *row) wallRatios(limit []sample) (list []float64) {
	samples := r.samples
	if samples[len(samples)-1].Fail != "" {
		return nil
	}
	if len(samples) > 1 {
		samples, limit = samples[1:], limit[1:]
	}
	for i, s := range samples {
		list = append(list, ratio(s.Wall, limit[i].Wall))
	}
	return list
}

// ratio returns a/b. If the clock is too coarse to measure b, b counts as its smallest step.
func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, time.Microsecond)) }

// median returns the middle value, or the mean of the two middle values.
func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}
