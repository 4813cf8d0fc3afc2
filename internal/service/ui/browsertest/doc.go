// Package browsertest tests the web UI with a real browser against a real flowrun serve, built from
// this tree. It is a module of its own, so that programs that use flowrun do not get the modules of
// the browser driver.
//
// Run it with go test in this folder. It needs Chromium or Chrome: the program in
// FLOWRUN_E2E_BROWSER, or chromium, chromium-browser or google-chrome. Without one the tests are
// skipped, and with CI=true they fail.
//
// With FLOWRUN_TESTS=long, in .ci/long, the pages are slow: a quarter of the processor, and frames and
// answers come late.
//
// Screenshots of all pages are written to the folder in FLOWRUN_SCREENSHOTS, if it is set.
package browsertest
