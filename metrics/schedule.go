package metrics

import "time"

// SlotFired counts a slot of a schedule that was fired, lag after its time.
func (m *Metrics) SlotFired(lag time.Duration) { m.families.slotLag.Observe(lag.Seconds()) }

// SlotsMissed counts slots of a schedule that came too late to be fired.
func (m *Metrics) SlotsMissed(schedule string, n int) {
	m.mu.Lock()
	if !m.schedules[schedule] && len(m.schedules) >= m.limit {
		schedule = Other
	}
	m.schedules[schedule] = true
	m.mu.Unlock()
	m.families.slotsMissed.WithLabelValues(schedule).Add(float64(n))
}
