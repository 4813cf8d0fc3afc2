// Package schedule fires tools at their times.
//
// A [Schedule] is data: a cron line, what it starts, and what becomes of slots that
// cannot be kept. A slot is a time at which a schedule is due; the time is its identity,
// whenever it is really started.
//
// Everything that is decided is decided by pure functions: [Due] says which of the slots
// since the last one fire now, [Decide] what a run that is still under way means for the
// next one, [Satisfied] whether the work is done already. [Loop] puts them together: it
// sleeps until the next slot of all schedules, and then for each slot
//
//	decide -> claim (Book) -> start (Runs)
//
// The claim is what makes a slot fire once: the [FiringStore] takes it from one service only,
// and keeps it together with the id of the run that is to be. A service that dies between
// claim and start leaves a claim without a run, which the next one starts under that id;
// that is the affair of Runs.
//
// # Clocks
//
// Slots are times of the wall clock, sleeping goes by the monotonic one; so the loop
// wakes at least once a minute and looks. The cursor of a schedule is the last slot that
// was dealt with, and only slots behind it are looked at. When the wall clock jumps
// forward, what lies between is late, as if no service had been there. When it jumps back,
// the cursor is drawn back with it: slots that fired in the future that was none remain
// claimed and do not fire again, and those that did not fire are not lost.
package schedule
