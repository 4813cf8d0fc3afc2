package builtin

// nonblocking is nothing here: named pipes have paths of their own.
const nonblocking = 0
