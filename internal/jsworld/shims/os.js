// os: what is the same for every tool. What describes the machine is not for tools that
// run in this world.
const { absent } = require('internal/absent')
const nothing = absent('os')
const here = { EOL: '\n', devNull: '/dev/null' }
module.exports = new Proxy(here, { get: (_, name) => name in here ? here[name] : nothing[name] })
