// Package cron reads cron lines and says when they fire.
//
// # The lines
//
// Five fields, separated by blanks, say minute, hour, day of month, month and day of
// week; with six the first is the second (with five it is 0):
//
//	┌ second 0-59 (only where there are six)
//	│ ┌ minute 0-59
//	│ │ ┌ hour 0-23
//	│ │ │ ┌ day of month 1-31
//	│ │ │ │ ┌ month 1-12 or JAN-DEC
//	│ │ │ │ │ ┌ day of week 0-7 or SUN-SAT; 0 and 7 are Sunday
//	0 0 7 * * MON-FRI
//
// A field is * (any), a value, a range a-b, a step */n, a-b/n or a/n (from a on), or a
// list of these with commas. Letters may be of any case. ? is * in the two day fields.
// A day of month may be L (the last), L-n (n days before the last), LW (the last
// weekday, Monday to Friday) or nW (the weekday nearest to day n, in the same month; a
// month that has no day n is left out). A day of week may be FRIL or 5L (the last
// Friday of the month) or FRI#3 or 5#3 (the third). Ranges that wrap around are refused;
// SUN at the end of a range is 7, so that SAT-SUN is the weekend.
//
// Where day of month and day of week are both restricted, a day matches that meets
// EITHER of them. A field is restricted unless it is *, */1 or ?, or lists one of them;
// */2 is a restriction.
//
// @hourly, @daily or @midnight, @weekly, @monthly, and @yearly or @annually stand for
// such fields. @every 1h30m fires each time the interval has passed since a start, see
// [Spec.From]. A line that begins with CRON_TZ=Zone or TZ=Zone is read in that time
// zone; otherwise the zone is [Options].Zone.
//
// A line that can never fire (30 February) is refused.
//
// # Daylight saving time and other jumps of the clock on the wall
//
// Lines are about the clock on the wall of their zone. Where somebody turns it:
//
//   - A local time that is skipped fires once, at the first valid instant: 02:30 on the
//     day on which 02:00 becomes 03:00 is due at 03:00. If several local times of a line
//     are skipped together, that is one firing, and so it is if the first valid instant
//     is due anyway.
//   - A local time that is repeated fires once, in its first pass.
//   - A line with a * or a step in the hour follows real time instead: it fires in both
//     passes of a repeated hour and adds nothing for a skipped one, so that "every 15
//     minutes" stays 15 minutes apart.
//   - @every knows no clock on the wall.
//
// The first two rules are one: such a line fires when the highest reading that the clock
// has shown so far reaches a matching time. That covers shifts of 30 minutes, gaps at
// midnight and skipped days as well, see clock.go.
package cron
