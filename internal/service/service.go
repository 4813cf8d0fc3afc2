// Package service runs tools on behalf of others: of schedules, of callers over the
// network, of people who hand a run over and go away.
package service
