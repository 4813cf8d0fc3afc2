package builtin

// nonblocking is 0 on Windows: named pipes have paths of their own there.
const nonblocking = 0
