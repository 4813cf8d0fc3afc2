-- A history of version 7, in which a run has failed. Its pages were 4 KiB.
PRAGMA page_size = 4096;
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA application_id = 1718382455;
PRAGMA user_version = 7;
BEGIN TRANSACTION;
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
, origin TEXT NOT NULL DEFAULT '', notes TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO runs VALUES(1,'1m83y4r0sp322','greet','','failed',3,'exit','step broken failed',1795428605977270089,1795428605987448496,1,NULL,'00000000-0000-4000-8000-000000000000',0,NULL,'','');
CREATE TABLE records (
	run    INTEGER PRIMARY KEY,
	record TEXT NOT NULL
) STRICT;
INSERT INTO records VALUES(1,'{"id":"1m83y4r0sp322","tool":"greet","created":"2026-11-23T10:10:05.977270089Z","params":{},"given":{},"world":{"workspace":"/srv/example","home":"/srv/example","temp":"/tmp","time":"2026-11-23T10:10:05.954238895Z"},"sources":[{"name":"greet.yaml","file":"/srv/example/greet.yaml","scope":"file","digest":"sha256:c7890543e7c768fa45380e4f7d8f754b0445d124bb4dfe4838bb505bd91c9e58"}]}');
CREATE TABLE definitions (
	digest TEXT PRIMARY KEY,
	text   BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO definitions VALUES('sha256:c7890543e7c768fa45380e4f7d8f754b0445d124bb4dfe4838bb505bd91c9e58',CAST('name: greet
description: Greets, and fails
steps:
  - name: hello
    bash: echo hello; echo err >&2
  - name: broken
    bash: exit 3
' AS BLOB));
CREATE TABLE uses (
	digest TEXT    NOT NULL,
	run    INTEGER NOT NULL,
	PRIMARY KEY (digest, run)
) STRICT, WITHOUT ROWID;
INSERT INTO uses VALUES('sha256:c7890543e7c768fa45380e4f7d8f754b0445d124bb4dfe4838bb505bd91c9e58',1);
CREATE TABLE turns (
	n      INTEGER PRIMARY KEY, -- run << 32 | number of the last event
	events BLOB NOT NULL        -- JSON lines
) STRICT;
INSERT INTO turns VALUES(4294967298,CAST('{"v":1,"seq":1,"run":"1m83y4r0sp322","kind":"run.started","time":"2026-11-23T10:10:05.979909502Z"}
{"v":1,"seq":2,"run":"1m83y4r0sp322","kind":"step.started","node":"hello","attempt":1,"time":"2026-11-23T10:10:05.979909502Z"}
' AS BLOB));
INSERT INTO turns VALUES(4294967300,CAST('{"v":1,"seq":3,"run":"1m83y4r0sp322","kind":"step.finished","node":"hello","attempt":1,"time":"2026-11-23T10:10:05.984744941Z","result":{"status":"succeeded","exit_code":0,"attempts":1,"started":"2026-11-23T10:10:05.980091929Z","ended":"2026-11-23T10:10:05.984738913Z","stdout":{"size":6,"inline":"hello\n","file":"/srv/example/state/runs/1m83y4r0sp322/logs/hello.out"},"stderr":{"size":4,"inline":"err\n","file":"/srv/example/state/runs/1m83y4r0sp322/logs/hello.err"}}}
{"v":1,"seq":4,"run":"1m83y4r0sp322","kind":"step.started","node":"broken","attempt":1,"time":"2026-11-23T10:10:05.984744941Z"}
' AS BLOB));
INSERT INTO turns VALUES(4294967302,CAST('{"v":1,"seq":5,"run":"1m83y4r0sp322","kind":"step.finished","node":"broken","attempt":1,"time":"2026-11-23T10:10:05.987448496Z","reason":"exit","result":{"status":"failed","exit_code":3,"reason":"exit","attempts":1,"started":"2026-11-23T10:10:05.984836306Z","ended":"2026-11-23T10:10:05.987445841Z"}}
{"v":1,"seq":6,"run":"1m83y4r0sp322","kind":"run.finished","time":"2026-11-23T10:10:05.987448496Z","reason":"exit","result":{"status":"failed","exit_code":3,"reason":"exit","message":"step broken failed","started":"2026-11-23T10:10:05.979909502Z","ended":"2026-11-23T10:10:05.987448496Z"}}
' AS BLOB));
CREATE TABLE doomed (run INTEGER PRIMARY KEY) STRICT;
CREATE TABLE audit (
	n      INTEGER PRIMARY KEY AUTOINCREMENT,
	at     INTEGER NOT NULL, -- ns since 1970
	who    TEXT    NOT NULL,
	action TEXT    NOT NULL,
	run    TEXT    NOT NULL,
	detail TEXT    NOT NULL
) STRICT;
CREATE TABLE schedules (
	id      TEXT    PRIMARY KEY,
	name    TEXT    NOT NULL,
	tool    TEXT    NOT NULL,
	project TEXT    NOT NULL, -- the folder that has the tool; '' for user and global ones
	plan    TEXT    NOT NULL, -- JSON, the command line's own
	by      TEXT    NOT NULL,
	at      INTEGER NOT NULL  -- ns since 1970
) STRICT, WITHOUT ROWID;
CREATE TABLE pauses (
	schedule TEXT    PRIMARY KEY,
	by       TEXT    NOT NULL,
	at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE schedule_changes (n INTEGER NOT NULL) STRICT;
INSERT INTO schedule_changes VALUES(0);
CREATE TABLE cursors (
	schedule TEXT    PRIMARY KEY,
	plan     TEXT    NOT NULL, -- what says when
	anchor   INTEGER NOT NULL, -- ns since 1970: since when it is looked at
	last     INTEGER NOT NULL  -- the last slot that was dealt with
) STRICT, WITHOUT ROWID;
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
CREATE TABLE tickets (
	n     INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they asked
	run   INTEGER NOT NULL UNIQUE,
	epoch INTEGER NOT NULL, -- of the owner; another owner's run has left
	needs TEXT    NOT NULL, -- JSON of []history.Need
	held  INTEGER NOT NULL, -- 1: it was admitted
	since INTEGER NOT NULL  -- ns since 1970, of being admitted or of asking
) STRICT;
CREATE TABLE answers (
	run    INTEGER NOT NULL,
	wait   INTEGER NOT NULL,
	answer TEXT    NOT NULL, -- JSON
	PRIMARY KEY (run, wait)
) STRICT, WITHOUT ROWID;
CREATE TABLE commits (n INTEGER NOT NULL) STRICT;
INSERT INTO commits VALUES(3);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('runs',1);
CREATE INDEX runs_tool ON runs (tool);
CREATE INDEX runs_status ON runs (status);
CREATE INDEX runs_tool_status ON runs (tool, status);
CREATE INDEX uses_run ON uses (run);
CREATE INDEX runs_origin ON runs (origin) WHERE origin <> '';
CREATE INDEX runs_origin_status ON runs (origin, status) WHERE origin <> '';
CREATE INDEX firings_open ON firings (run) WHERE open = 1;
CREATE INDEX firings_at ON firings (at);
COMMIT;
