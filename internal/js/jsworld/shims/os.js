// The parts of os that are the same for every tool. A tool in this world gets no description of
// the machine.
const { absent } = require('internal/absent')
const nothing = absent('os')
const here = { EOL: '\n', devNull: '/dev/null' }
module.exports = new Proxy(here, { get: (_, name) => name in here ? here[name] : nothing[name] })
