// Package drawing draws the graph of the steps of a tool, or of a run of it: as text, for
// Graphviz and Mermaid, as JSON, and as an SVG image. For the web page it computes where each
// step is drawn.
//
// # The model
//
// Boxes makes boxes of a plan: one for each step, with those of the steps inside it. Draw writes
// boxes in one of the forms. Place gives each box its place in a layered drawing
// (internal/screen/layout); the SVG image and the web page use it. It adds joins, where the edges of
// steps meet that wait for the same steps. In the other forms each step names the steps that it
// waits for. All show the direct dependencies of the plan and no others (plan.Plan.Direct).
package drawing
