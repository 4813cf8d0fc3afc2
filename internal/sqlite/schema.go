package sqlite

// applicationID marks the file as flowrun's ("flow" in ASCII).
const applicationID = 0x666c6f77

// migrations bring the schema from one version to the next; the file's
// user_version counts those that were applied. What stands here never changes, new
// ones are added at the end.
var migrations = []string{`
PRAGMA application_id = 1718382455;

-- Numbers are never used twice: a former owner must not write to a later run.
CREATE TABLE runs (
	n         INTEGER PRIMARY KEY AUTOINCREMENT,
	id        TEXT    NOT NULL UNIQUE,
	tool      TEXT    NOT NULL,
	retry_of  TEXT    NOT NULL,
	status    TEXT    NOT NULL, -- 'running' also for a run whose owner is gone
	exit_code INTEGER NOT NULL DEFAULT 0,
	reason    TEXT    NOT NULL DEFAULT '',
	message   TEXT    NOT NULL DEFAULT '',
	started   INTEGER NOT NULL, -- ns since 1970
	ended     INTEGER,          -- NULL while it has not
	epoch     INTEGER NOT NULL,
	owner     TEXT,             -- JSON of proc.Identity, NULL when given up
	boot      TEXT    NOT NULL, -- the last owner's
	lease     INTEGER NOT NULL, -- ns of that boot
	cancel    TEXT              -- the reason, NULL when nobody asked
) STRICT;
CREATE INDEX runs_tool ON runs (tool);
CREATE INDEX runs_status ON runs (status);
CREATE INDEX runs_tool_status ON runs (tool, status);

-- Apart from runs, whose rows are read in lists and renewed often.
CREATE TABLE records (
	run    INTEGER PRIMARY KEY,
	record TEXT NOT NULL
) STRICT;

CREATE TABLE definitions (
	digest TEXT PRIMARY KEY,
	text   BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE uses (
	digest TEXT    NOT NULL,
	run    INTEGER NOT NULL,
	PRIMARY KEY (digest, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX uses_run ON uses (run);

CREATE TABLE turns (
	n      INTEGER PRIMARY KEY, -- run << 32 | number of the last event
	events BLOB NOT NULL        -- JSON lines
) STRICT;

-- Runs that are removed while some of their turns are still there.
CREATE TABLE doomed (run INTEGER PRIMARY KEY) STRICT;

CREATE TABLE audit (
	n      INTEGER PRIMARY KEY AUTOINCREMENT,
	at     INTEGER NOT NULL, -- ns since 1970
	who    TEXT    NOT NULL,
	action TEXT    NOT NULL,
	run    TEXT    NOT NULL,
	detail TEXT    NOT NULL
) STRICT;
`, `
-- Runs that hold locks, or a turn of their tool, and runs that stand in line for them.
CREATE TABLE tickets (
	n     INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they asked
	run   INTEGER NOT NULL UNIQUE,
	epoch INTEGER NOT NULL, -- of the owner; another owner's run has left
	needs TEXT    NOT NULL, -- JSON of []flowrun.Need
	held  INTEGER NOT NULL, -- 1: it was admitted
	since INTEGER NOT NULL  -- ns since 1970, of being admitted or of asking
) STRICT;
`}
