-- A store as version 2 wrote it: what `.dump` printed of it, and its two pragmas.
PRAGMA foreign_keys=OFF;
PRAGMA application_id=1348881771;
PRAGMA user_version=2;
BEGIN TRANSACTION;
CREATE TABLE measured (
         id INTEGER PRIMARY KEY,
         kernel TEXT NOT NULL,
         params TEXT NOT NULL, -- JSON, sorted by knob
         unit TEXT NOT NULL,
         better TEXT NOT NULL,
         UNIQUE (kernel, params, unit, better)
     ) STRICT;
INSERT INTO "measured" VALUES(1,'cpu.flops','{"isa":"avx2","threads":1}','FLOP/s','higher');
INSERT INTO "measured" VALUES(2,'memory.latency','{"working_set":8192}','s','lower');
CREATE TABLE numbers (
         measured INTEGER NOT NULL REFERENCES measured (id),
         started INTEGER NOT NULL, -- that of the run
         run INTEGER NOT NULL REFERENCES runs (id),
         n INTEGER NOT NULL,
         median REAL NOT NULL,
         low REAL,
         high REAL,
         efficiency REAL,
         verdict TEXT NOT NULL,
         PRIMARY KEY (measured, started, run)
     ) STRICT, WITHOUT ROWID;
INSERT INTO "numbers" VALUES(1,1760000000000000,1,8,50000000000.0,49000000000.0,51000000000.0,NULL,'suspect');
INSERT INTO "numbers" VALUES(1,1760000005000000,4,30,55000000000.0,54000000000.0,56000000000.0,NULL,'valid');
INSERT INTO "numbers" VALUES(1,1760000010000000,5,600,45000000000.0,44000000000.0,46000000000.0,0.8,'valid');
INSERT INTO "numbers" VALUES(1,1760000015000000,6,8,52000000000.0,51000000000.0,53000000000.0,0.9,'valid');
INSERT INTO "numbers" VALUES(2,1760000000000000,1,5,1.25e-09,NULL,NULL,NULL,'valid');
CREATE TABLE runs (
         id INTEGER PRIMARY KEY,
         identity TEXT NOT NULL UNIQUE,
         started INTEGER NOT NULL, -- microseconds since 1970
         ended INTEGER,
         host TEXT,
         machine TEXT NOT NULL,
         profile TEXT NOT NULL,
         version TEXT NOT NULL,
         path TEXT NOT NULL,
         valid INTEGER NOT NULL,
         suspect INTEGER NOT NULL,
         invalid INTEGER NOT NULL
     ) STRICT;
INSERT INTO "runs" VALUES(1,'2025-10-09T08:53:20Z quick A CPU cbf29ce484222325',1760000000000000,1760000001000000,'node1','A CPU, 2 CPUs, 16 GiB','quick','0.0.9','/runs/one',1,1,0);
INSERT INTO "runs" VALUES(4,'2025-10-09T08:53:25Z quick A CPU cbf29ce484222325',1760000005000000,NULL,NULL,'A CPU, 2 CPUs, 16 GiB','default','0.0.9','/runs/four',1,0,1);
INSERT INTO "runs" VALUES(5,'2025-10-09T08:53:30Z endure A CPU cbf29ce484222325',1760000010000000,1760000610000000,'node1','A CPU, 2 CPUs, 16 GiB','endure','0.1.0','/runs/five',1,0,0);
INSERT INTO "runs" VALUES(6,'2025-10-09T08:53:35Z quick A CPU cbf29ce484222325',1760000015000000,1760000016000000,'node1','A CPU, 2 CPUs, 16 GiB','quick','0.1.0','/runs/six',1,0,0);
CREATE INDEX numbers_of_run ON numbers (run, measured);
CREATE INDEX runs_by_start ON runs (started);
COMMIT;
