// Package netns makes network namespaces that contain only a loopback interface. A process in such a
// namespace reaches no other machine and no service of this one, but for what listens in the
// namespace. [Open] also returns listeners there, whose connections this process accepts from
// outside.
//
// # How it works
//
// Root, or rather CAP_SYS_ADMIN, may make a network namespace. Other users may make one together
// with a user namespace of their own, in which only a process with a single thread can be. So this
// program is executed again under another name, which this package notices while the program is
// initialized. The new process starts in the new namespaces, maps its user and its group to themselves, activates the
// loopback interface, opens the sockets, sends their descriptors and those of the namespaces, and
// exits. The namespaces live as long as a descriptor is open or a process is in them, so nothing of
// them is left when this process is killed.
//
// A process enters the namespaces when it is started: see proc.Spec.
package netns
