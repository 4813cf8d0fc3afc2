package toolset

// Own are the names of all tools.
var Own = own
