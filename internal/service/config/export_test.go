package config

// Table is the table of config.yaml, for the tests.
var Table = file
