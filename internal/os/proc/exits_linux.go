package proc

import (
	"runtime"
	"sync"
	"syscall"
)

// exitQueue notices the ends of children: an epoll set of pidfds, which become readable when their
// processes have ended. All Groups share one. Its goroutine waits in a system call, so children
// that run hold no threads. The poller of Go could do the same, but then the whole scheduler would
// go to sleep while a step runs and wake up when it ends. For a short step that costs more than
// everything else that flowrun does.
type exitQueue struct {
	epoll int
	wake  int // an eventfd in the set, which ends the goroutine

	mu      sync.Mutex
	users   int                     // Groups that may have children
	last    int32                   // number of the last child
	waiting map[int32]chan struct{} // number of a child -> what to close when it has ended
}

// exits is the exitQueue of this process; nil while no Group may have children.
var exits struct {
	sync.Mutex
	queue *exitQueue
}

// openExits returns the exitQueue of this process. The caller must close it. Without the
// descriptors for one it returns nil, whose methods do nothing.
func openExits() *exitQueue {
	exits.Lock()
	defer exits.Unlock()
	if exits.queue == nil {
		exits.queue = newExitQueue()
	}
	if exits.queue != nil {
		exits.queue.users++
	}
	return exits.queue
}

func newExitQueue() *exitQueue {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	wake, _, errno := syscall.RawSyscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC, 0)
	if errno != 0 {
		syscall.Close(epoll)
		return nil
	}
	q := &exitQueue{epoll: epoll, wake: int(wake), waiting: map[int32]chan struct{}{}}
	if q.watch(q.wake, 0) != nil {
		q.closeFiles()
		return nil
	}
	go q.run()
	return q
}

// watch adds a descriptor to the set. It is reported once.
func (q *exitQueue) watch(fd int, number int32) error {
	const oneShot = 1 << 30
	return syscall.EpollCtl(q.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN | oneShot, Fd: number})
}

func (q *exitQueue) closeFiles() {
	syscall.Close(q.epoll)
	syscall.Close(q.wake)
}

// close ends the goroutine when every user has called it.
func (q *exitQueue) close() {
	if q == nil {
		return
	}
	exits.Lock()
	defer exits.Unlock()
	if q.users--; q.users == 0 {
		exits.queue = nil
		syscall.Write(q.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // the number 1, in any byte order not 0
	}
}

// add has ended closed when the process of a pidfd has ended. It returns a number for remove, or 0
// if the process cannot be watched.
func (q *exitQueue) add(pidfd int, ended chan struct{}) (number int32) {
	if q == nil || pidfd < 0 {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	number = q.last + 1
	if q.watch(pidfd, number) != nil {
		return 0
	}
	q.last, q.waiting[number] = number, ended
	return number
}

// remove forgets a child. Its pidfd may be closed then.
func (q *exitQueue) remove(number int32) {
	if number == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waiting, number)
}

// run notices the ends of children until the last user has closed the queue.
func (q *exitQueue) run() {
	defer q.closeFiles()
	var events [64]syscall.EpollEvent
	for {
		n, _ := syscall.EpollWait(q.epoll, events[:], -1) // an error means that a signal arrived
		for i := range max(n, 0) {
			if events[i].Fd == 0 {
				return
			}
			q.notice(events[i].Fd)
		}
		runtime.Gosched() // whoever waited for these children continues on this thread
	}
}

func (q *exitQueue) notice(number int32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ended := q.waiting[number]; ended != nil {
		close(ended)
		delete(q.waiting, number)
	}
}
