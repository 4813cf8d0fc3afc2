// Package measure counts and measures runs for Prometheus. Package flowrun/metrics, which describes the
// model and the labels, offers it to other programs. The flowrun command uses it directly, because
// flowrun/metrics imports client_golang (see package series).
package measure
