// Package pagefault counts the page faults of a program, and says in which parts of its memory they fall.
//
// A page fault is the first use of a page that is not mapped. Each interrupts the program, which on some virtual
// machines takes longer than everything else that a short command does. The kernel reports each fault with its address
// (perf_event_open(2), software event page-faults), and the headers of the program say what is at that address. Pages
// that the program asks for together, with madvise, are no faults: they are counted by getrusage, and not here.
package pagefault
