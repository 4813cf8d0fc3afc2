package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Upper bounds of the classic buckets, in seconds. Steps and runs take milliseconds to an
// hour, a journal microseconds to seconds.
var (
	workBuckets    = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
	journalBuckets = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5}
)

// families holds the series by name; docs/metrics.md describes them.
type families struct {
	runs        *prometheus.CounterVec   // tool, status
	runDuration *prometheus.HistogramVec // tool
	runsRunning *prometheus.GaugeVec     // tool
	lastSuccess *prometheus.GaugeVec     // tool
	queueWait   *prometheus.HistogramVec // tool

	steps        *prometheus.CounterVec   // tool, step, status
	stepDuration *prometheus.HistogramVec // tool, step, like all below
	retries      *prometheus.CounterVec
	fallbacks    *prometheus.CounterVec
	timeouts     *prometheus.CounterVec
	cacheHits    *prometheus.CounterVec
	truncated    *prometheus.CounterVec

	journalAppend prometheus.Histogram
	journalSync   prometheus.Histogram
}

func newFamilies() families {
	return families{
		runs:        counter("flowrun_runs_total", "Runs that have ended, by final status.", "tool", "status"),
		runDuration: histogram("flowrun_run_duration_seconds", "Duration of runs; of a resumed run, since it was resumed.", "tool"),
		runsRunning: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "flowrun_runs_running", Help: "Active runs."}, []string{"tool"}),
		lastSuccess: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "flowrun_last_success_timestamp_seconds", Help: "Time of the tool's last successful run, in seconds since 1970."}, []string{"tool"}),
		queueWait:   histogram("flowrun_step_queue_wait_seconds", "How long attempts of steps that were ready to run waited for a slot.", "tool"),

		steps:        counter("flowrun_steps_total", "Steps that have ended, by final status.", "tool", "step", "status"),
		stepDuration: histogram("flowrun_step_duration_seconds", "Duration of steps that ran, from the start of the first attempt to the end of the last.", "tool", "step"),
		retries:      counter("flowrun_step_retries_total", "Failed attempts that were followed by another attempt.", "tool", "step"),
		fallbacks:    counter("flowrun_step_fallbacks_total", "Fallbacks that were started after the last attempt.", "tool", "step"),
		timeouts:     counter("flowrun_step_timeouts_total", "Attempts and fallbacks that timed out.", "tool", "step"),
		cacheHits:    counter("flowrun_step_cache_hits_total", "Steps that did not run because their result was cached.", "tool", "step"),
		truncated:    counter("flowrun_output_truncated_total", "Output streams of attempts that were cut at the step's buffer-limit.", "tool", "step"),

		journalAppend: prometheus.NewHistogram(histogramOpts("flowrun_journal_append_seconds", "Time to record the events of one turn of a run's loop.", journalBuckets)),
		journalSync:   prometheus.NewHistogram(histogramOpts("flowrun_journal_sync_seconds", "Time to make recorded events durable, when a run waited for it.", journalBuckets)),
	}
}

func (f *families) all() []prometheus.Collector {
	return []prometheus.Collector{f.runs, f.runDuration, f.runsRunning, f.lastSuccess, f.queueWait,
		f.steps, f.stepDuration, f.retries, f.fallbacks, f.timeouts, f.cacheHits, f.truncated,
		f.journalAppend, f.journalSync}
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(histogramOpts(name, help, workBuckets), labels)
}

// histogramOpts requests classic buckets, which every server understands, and native ones,
// which are finer and which a server may request.
func histogramOpts(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour}
}
