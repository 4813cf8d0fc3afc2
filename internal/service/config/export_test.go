package config

// Table is the table of config.yaml, and SharedTable that of settings.json, for the tests.
var Table, SharedTable = file, shared
