// Package cron parses cron lines and calculates when they fire. It also reads sets of days on which a
// line does not count ([Days]).
//
// # The lines
//
// Five fields, separated by spaces, are minute, hour, day of month, month and day of week. If there are
// six, the first is the second; with five the second is 0:
//
//	┌ second 0-59 (only if there are six fields)
//	│ ┌ minute 0-59
//	│ │ ┌ hour 0-23
//	│ │ │ ┌ day of month 1-31
//	│ │ │ │ ┌ month 1-12 or JAN-DEC
//	│ │ │ │ │ ┌ day of week 0-7 or SUN-SAT; 0 and 7 are Sunday
//	0 0 7 * * MON-FRI
//
// A field is * (any), a value, a range a-b, a step */n, a-b/n or a/n (from a on), or a list of these with
// commas. Letters may have any case. ? means * in the two day fields. A day of month may be L (the last),
// L-n (n days before the last), LW (the last weekday, Monday to Friday) or nW (the weekday nearest to
// day n in the same month; months without a day n are skipped). A day of week may be FRIL or 5L (the last
// Friday of the month), or FRI#3 or 5#3 (the third). Ranges that wrap around are rejected. SUN at the end
// of a range is 7, so that SAT-SUN is the weekend.
//
// If both day of month and day of week are restricted, a day matches if it meets EITHER of them. A field
// is restricted unless it is *, */1 or ?, or a list with one of them. */2 is a restriction.
//
// @hourly, @daily or @midnight, @weekly, @monthly, and @yearly or @annually are names for such lines.
// @every 1h30m fires each time the interval has passed since a start, see [Spec.From]. A line that begins
// with CRON_TZ=Zone or TZ=Zone is read in that time zone, otherwise in [Options].Zone.
//
// A line that can never fire (30 February) is rejected.
//
// # Daylight saving time and other clock changes
//
// Lines refer to the local time of their zone. These rules apply when the clocks change:
//
//   - A local time that is skipped fires once, at the first valid instant: 02:30 on a day on which 02:00
//     becomes 03:00 fires at 03:00. If several times of a line are skipped together, the line fires
//     once, also if it would fire at the first valid instant anyway.
//   - A local time that is repeated fires once, the first time.
//   - A line with a * or a step in the hour follows real time instead. It fires in both passes of a
//     repeated hour, and does not fire for a skipped hour. "Every 15 minutes" stays 15 minutes apart.
//   - @every does not depend on local time.
//
// The first two rules are one: such a line fires when the highest reading that the clock has shown so far
// reaches a matching time. That also covers shifts of 30 minutes, gaps at midnight and skipped days (see
// clock.go).
package cron
