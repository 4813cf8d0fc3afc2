// Package schedule starts tools at their scheduled times.
//
// # The model
//
// A [Schedule] is data: a cron expression, what it starts, and what happens at times that
// were missed or overlap a run. A scheduled time is identified by the time of the cron
// expression, even if it fires later.
//
// All decisions are pure functions: [Due] returns which scheduled times after the last one
// fire now, [Decide] what an active run means for the next one, [Satisfied] whether the
// work is already done. [Loop] combines them: it sleeps until the next time of all
// schedules, and then for each time
//
//	decide -> claim (Firings) -> start (Runs)
//
// The claim makes a scheduled time fire only once: the [Firings] accepts it from one
// service, and stores it together with the id of the future run. A service that is killed
// between claim and start leaves a claim without a run. The next service starts the run
// under that id; this is the responsibility of Runs.
//
// # Clocks
//
// Scheduled times are times of the wall clock, but sleeping uses the monotonic clock.
// Therefore the loop wakes at least once a minute and compares them. The cursor of a
// schedule is the last time that was handled; only later times are considered. When the
// wall clock jumps forward, the times in between are late, as if no service had been
// running. When it jumps back, the cursor moves back with it: times that already fired stay
// claimed and do not fire again, and times that did not fire are not lost.
package schedule
