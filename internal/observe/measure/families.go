package measure

import "github.com/flowrun/flowrun/internal/observe/series"

// Upper bounds of the classic buckets, in seconds. Steps and runs take milliseconds to an
// hour, a journal microseconds to seconds.
var (
	workBuckets    = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
	journalBuckets = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5}
	memoryBuckets  = []float64{16 << 20, 32 << 20, 64 << 20, 128 << 20, 256 << 20, 512 << 20, 1 << 30, 2 << 30, 4 << 30, 8 << 30, 16 << 30, 64 << 30} // bytes
)

// families holds the series by name; docs/reference/metrics.md describes them.
type families struct {
	runs        *series.Vec[series.Counter]   // tool, status
	runDuration *series.Vec[series.Histogram] // tool
	runsRunning *series.Vec[series.Gauge]     // tool
	lastSuccess *series.Vec[series.Gauge]     // tool
	queueWait   *series.Vec[series.Histogram] // tool

	steps        *series.Vec[series.Counter]   // tool, step, status
	stepDuration *series.Vec[series.Histogram] // tool, step, like all below
	retries      *series.Vec[series.Counter]
	fallbacks    *series.Vec[series.Counter]
	timeouts     *series.Vec[series.Counter]
	cacheHits    *series.Vec[series.Counter]
	truncated    *series.Vec[series.Counter]
	cpu          *series.Vec[series.Counter] // tool, step, mode
	maxRSS       *series.Vec[series.Histogram]
	refused      *series.Vec[series.Counter]

	journalAppend *series.Vec[series.Histogram]
	journalSync   *series.Vec[series.Histogram]
}

func newFamilies() families {
	return families{
		runs:        series.NewCounter("flowrun_runs_total", "Runs that have ended, by final status.", "tool", "status"),
		runDuration: series.NewHistogram("flowrun_run_duration_seconds", "How long runs took, from their creation to their end, as flowrun runs shows it.", workBuckets, "tool"),
		runsRunning: series.NewGauge("flowrun_runs_running", "Active runs.", "tool"),
		lastSuccess: series.NewGauge("flowrun_last_success_timestamp_seconds", "Time of the tool's last successful run, in seconds since 1970.", "tool"),
		queueWait:   series.NewHistogram("flowrun_step_queue_wait_seconds", "How long attempts of steps that were ready to run waited for a slot.", workBuckets, "tool"),

		steps:        series.NewCounter("flowrun_steps_total", "Steps that have ended, by final status.", "tool", "step", "status"),
		stepDuration: series.NewHistogram("flowrun_step_duration_seconds", "Duration of steps that ran, from the start of the first attempt to the end of the last.", workBuckets, "tool", "step"),
		retries:      series.NewCounter("flowrun_step_retries_total", "Failed attempts that were followed by another attempt.", "tool", "step"),
		fallbacks:    series.NewCounter("flowrun_step_fallbacks_total", "Fallbacks that were started after the last attempt.", "tool", "step"),
		timeouts:     series.NewCounter("flowrun_step_timeouts_total", "Attempts and fallbacks that timed out.", "tool", "step"),
		cacheHits:    series.NewCounter("flowrun_step_cache_hits_total", "Steps that did not run because their result was cached.", "tool", "step"),
		truncated:    series.NewCounter("flowrun_output_truncated_total", "Output streams of attempts that were cut at the step's buffer-limit.", "tool", "step"),

		cpu:     series.NewCounter("flowrun_step_cpu_seconds_total", "CPU time of the processes of steps, in their programs (user) and in the kernel (system).", "tool", "step", "mode"),
		maxRSS:  series.NewHistogram("flowrun_step_max_rss_bytes", "Peak memory of attempts of steps, where it is known.", memoryBuckets, "tool", "step"),
		refused: series.NewCounter("flowrun_step_connections_refused_total", "Connections of attempts that were refused, because the permissions of the tool do not grant them.", "tool", "step"),

		journalAppend: series.NewHistogram("flowrun_journal_append_seconds", "Time to record the events of one turn of a run's loop.", journalBuckets),
		journalSync:   series.NewHistogram("flowrun_journal_sync_seconds", "Time to make recorded events durable, when a run waited for it.", journalBuckets),
	}
}

func (f *families) all() []series.Family {
	return []series.Family{f.runs.Family(), f.runDuration.Family(), f.runsRunning.Family(), f.lastSuccess.Family(), f.queueWait.Family(),
		f.steps.Family(), f.stepDuration.Family(), f.retries.Family(), f.fallbacks.Family(), f.timeouts.Family(), f.cacheHits.Family(),
		f.truncated.Family(), f.cpu.Family(), f.maxRSS.Family(), f.refused.Family(), f.journalAppend.Family(), f.journalSync.Family()}
}
