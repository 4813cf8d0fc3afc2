// Package timetable reads all schedules, from definitions and from schedule add, and fires them in
// a service.
//
// Read returns the schedules and what is wrong with them. Start keeps the set of schedules up to
// date while they change, claims scheduled times in the history, and starts their runs in the
// service. Package internal/service/schedule computes the scheduled times.
package timetable
