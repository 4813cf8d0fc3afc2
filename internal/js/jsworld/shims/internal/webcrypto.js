// The global crypto.
exports.crypto = require('crypto').webcrypto
