// Package schema has the tables of a history in SQLite, as the migrations that make them.
package schema

import "slices"

// ApplicationID marks the file as one of flowrun ("flow" in ASCII).
const ApplicationID = 0x666c6f77

// Migrations returns what brings the schema from one version to the next. The user_version of the file
// counts those that were applied.
func Migrations() []string { return slices.Clip(migrations) }

// Never change an entry; add new ones at the end.
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
-- Who began a run; '' is a person or program that runs it itself.
ALTER TABLE runs ADD COLUMN origin TEXT NOT NULL DEFAULT '';
`, `
CREATE INDEX runs_origin ON runs (origin) WHERE origin <> '';
CREATE INDEX runs_origin_status ON runs (origin, status) WHERE origin <> '';

-- What schedule add keeps; those in definitions are not here.
CREATE TABLE schedules (
	id      TEXT    PRIMARY KEY,
	name    TEXT    NOT NULL,
	tool    TEXT    NOT NULL,
	project TEXT    NOT NULL, -- the folder that has the tool; '' for user and global ones
	plan    TEXT    NOT NULL, -- JSON, the command line's own
	by      TEXT    NOT NULL,
	at      INTEGER NOT NULL  -- ns since 1970
) STRICT, WITHOUT ROWID;

-- Of both kinds.
CREATE TABLE pauses (
	schedule TEXT    PRIMARY KEY,
	by       TEXT    NOT NULL,
	at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Counts the changes of the two, for whoever has read them.
CREATE TABLE schedule_changes (n INTEGER NOT NULL) STRICT;
INSERT INTO schedule_changes (n) VALUES (0);

CREATE TABLE cursors (
	schedule TEXT    PRIMARY KEY,
	plan     TEXT    NOT NULL, -- what says when
	anchor   INTEGER NOT NULL, -- ns since 1970: since when it is looked at
	last     INTEGER NOT NULL  -- the last slot that was dealt with
) STRICT, WITHOUT ROWID;

-- One row for a slot that was dealt with, whoever did it.
CREATE TABLE firings (
	n        INTEGER PRIMARY KEY,
	schedule TEXT    NOT NULL,
	slot     INTEGER NOT NULL, -- ns since 1970
	at       INTEGER NOT NULL, -- when it was dealt with
	run      TEXT    NOT NULL, -- '' where it was left out
	reason   TEXT    NOT NULL, -- why
	open     INTEGER NOT NULL, -- 1 until the run has begun
	UNIQUE (schedule, slot)
) STRICT;
CREATE INDEX firings_open ON firings (run) WHERE open = 1;
CREATE INDEX firings_at ON firings (at);
`, `
-- Runs that hold locks, or a slot of their tool, and runs that are queued for them.
CREATE TABLE tickets (
	n     INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they asked
	run   INTEGER NOT NULL UNIQUE,
	epoch INTEGER NOT NULL, -- of the owner; another owner's run has left
	needs TEXT    NOT NULL, -- JSON of []history.Need
	held  INTEGER NOT NULL, -- 1: it was admitted
	since INTEGER NOT NULL  -- ns since 1970, of being admitted or of asking
) STRICT;
`, `
-- What people answered to questions of runs; a question is the number of its event.
CREATE TABLE answers (
	run    INTEGER NOT NULL,
	wait   INTEGER NOT NULL,
	answer TEXT    NOT NULL, -- JSON
	PRIMARY KEY (run, wait)
) STRICT, WITHOUT ROWID;
`, `
-- What to know of a run beside its status, a line for each.
ALTER TABLE runs ADD COLUMN notes TEXT NOT NULL DEFAULT '';
`, `
-- Counts transactions but those that only add turns; see last_commit.go.
CREATE TABLE commits (n INTEGER NOT NULL) STRICT;
INSERT INTO commits (n) VALUES (0);
`, `
-- From here on, the events in a new row of turns are not JSON lines any more (package eventcode),
-- and long texts are compressed.
ALTER TABLE definitions ADD COLUMN packed INTEGER NOT NULL DEFAULT 0;
`, `
-- From here on, the result of a step may have what it used (package eventcode).
`, `
-- From here on, the result of a step may have declared outputs (package eventcode).
`, `
-- Notifications that are sent together. Lines are kept until they were sent.
CREATE TABLE digests (
	rule    TEXT    PRIMARY KEY, -- JSON, the command line's own
	sent    INTEGER NOT NULL,    -- ns since 1970: when lines were last sent
	dropped INTEGER NOT NULL     -- lines that no longer fit
) STRICT, WITHOUT ROWID;
CREATE TABLE digest_lines ( -- at most 100 for a rule, so it has no index
	n     INTEGER PRIMARY KEY AUTOINCREMENT,
	rule  TEXT NOT NULL,
	run   TEXT NOT NULL,
	event TEXT NOT NULL,
	line  TEXT NOT NULL
) STRICT;
`, `
-- The values that tools keep between runs; the newest row of a key is its current value.
CREATE TABLE state (
	n     INTEGER PRIMARY KEY AUTOINCREMENT, -- the version of the value
	tool  TEXT    NOT NULL,
	file  TEXT    NOT NULL, -- of its definition
	key   TEXT    NOT NULL,
	value TEXT    NOT NULL, -- JSON
	run   TEXT    NOT NULL, -- id of the run that set it, '' for a person
	who   TEXT    NOT NULL, -- the person
	at    INTEGER NOT NULL  -- ns since 1970
) STRICT;
CREATE INDEX state_key ON state (tool, file, key, n);

-- What a run has read of a tool's state when it started, and what it has set itself since then.
CREATE TABLE state_seen (
	run  INTEGER NOT NULL,
	tool TEXT    NOT NULL,
	file TEXT    NOT NULL,
	seen TEXT    NOT NULL, -- JSON of []history.StateValue
	PRIMARY KEY (run, tool, file)
) STRICT, WITHOUT ROWID;

-- From here on, the result of a step may have values of state (package eventcode).
`, `
-- Steps have tickets too, while they wait for locks and slots of pools, and while they hold them.
CREATE TABLE newer (
	n        INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they asked
	run      INTEGER NOT NULL,
	step     TEXT    NOT NULL, -- its path; '' for the run itself
	epoch    INTEGER NOT NULL, -- of the owner; another owner's run has left
	priority INTEGER NOT NULL,
	needs    TEXT    NOT NULL, -- JSON of []history.LockDemand
	held     INTEGER NOT NULL, -- 1: it was admitted
	since    INTEGER NOT NULL, -- ns since 1970, of being admitted or of asking
	UNIQUE (run, step)
) STRICT;
INSERT INTO newer (n, run, step, epoch, priority, needs, held, since) SELECT n, run, '', epoch, 0, needs, held, since FROM tickets;
DROP TABLE tickets;
ALTER TABLE newer RENAME TO tickets;
-- The pools of which only so many slots can be taken in a time.
CREATE TABLE rates (
	pool TEXT    NOT NULL PRIMARY KEY,
	at   INTEGER NOT NULL -- ns since 1970, when it is as if nothing had ever started
) STRICT, WITHOUT ROWID;
`, `
-- From here on, the result of a step may have artifacts (package eventcode).
`, `
-- When the owner last renewed its lease or gave the run up; 0: not known, for it is an older row.
ALTER TABLE runs ADD COLUMN alive INTEGER NOT NULL DEFAULT 0; -- ns since 1970
`, `
-- The labels of a run, a JSON object; '' if it has none.
ALTER TABLE runs ADD COLUMN labels TEXT NOT NULL DEFAULT '';
`, `
-- Deadlines of scheduled times.
ALTER TABLE firings ADD COLUMN must_end INTEGER NOT NULL DEFAULT 0; -- ns since 1970; 0: there is none, or it has been checked
ALTER TABLE firings ADD COLUMN late INTEGER NOT NULL DEFAULT 0; -- 1: its run had not succeeded at the deadline
CREATE INDEX firings_must_end ON firings (must_end) WHERE must_end > 0;

-- Why a service has paused a schedule; '': a person paused it.
ALTER TABLE pauses ADD COLUMN reason TEXT NOT NULL DEFAULT '';
-- When the schedule was last resumed: the failures before do not count.
ALTER TABLE cursors ADD COLUMN resumed INTEGER NOT NULL DEFAULT 0; -- ns since 1970

-- From here on, a wait may hold the locks of its run (package eventcode).
`, `
-- Backfills that a service was asked for and has not finished.
CREATE TABLE backfills (
	schedule TEXT    PRIMARY KEY,
	first    INTEGER NOT NULL, -- ns since 1970, the first scheduled time
	until    INTEGER NOT NULL, -- ns since 1970, the end of the range
	parallel INTEGER NOT NULL  -- how many runs may be active at once
) STRICT, WITHOUT ROWID;

-- The labels of runs once more, so that those with a rare one are found without reading all runs.
CREATE TABLE run_labels (
	name  TEXT    NOT NULL,
	value TEXT    NOT NULL,
	run   INTEGER NOT NULL,
	PRIMARY KEY (name, value, run)
) STRICT, WITHOUT ROWID;
INSERT INTO run_labels (name, value, run) SELECT key, value, n FROM runs, json_each(labels) WHERE labels <> '';
CREATE TRIGGER runs_labelled AFTER INSERT ON runs WHEN new.labels <> '' BEGIN
	INSERT INTO run_labels (name, value, run) SELECT key, value, new.n FROM json_each(new.labels);
END;
CREATE TRIGGER runs_removed AFTER DELETE ON runs WHEN old.labels <> '' BEGIN
	DELETE FROM run_labels WHERE (name, value, run) IN (SELECT key, value, old.n FROM json_each(old.labels));
END;
`, `
-- When a run that has ended is retried automatically, as another run.
ALTER TABLE runs ADD COLUMN retry_at INTEGER NOT NULL DEFAULT 0; -- ns since 1970; 0: never, or it has been
CREATE INDEX runs_retry_at ON runs (retry_at) WHERE retry_at > 0;
`, `
-- Whether a step of the run has kept an artifact; 0 also for runs that ended before this was recorded.
ALTER TABLE runs ADD COLUMN artifacts INTEGER NOT NULL DEFAULT 0;
`, `
-- From here on, an output may have the times at which it was printed (package eventcode).
`}
