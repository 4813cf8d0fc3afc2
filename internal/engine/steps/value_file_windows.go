package steps

// openNoFollow has no effect: creating a symbolic link needs a privilege.
const openNoFollow = 0
