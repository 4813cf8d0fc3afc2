// Package timetable reads all schedules, those of definitions and those added by command, and
// runs them in a service.
//
// Read answers the schedules with what is wrong with them. Start follows them while they
// change, claims slots in the history, and has the service begin their runs. Which slots
// there are is decided in internal/schedule.
package timetable
