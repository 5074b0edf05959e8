-- A store as version 1 wrote it: what `.dump` printed of it, and its two pragmas.
PRAGMA foreign_keys=OFF;
PRAGMA application_id=1348881771;
PRAGMA user_version=1;
BEGIN TRANSACTION;
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
INSERT INTO runs VALUES(1,'2025-10-09T08:53:20Z quick A CPU cbf29ce484222325',1760000000000000,1760000001000000,'node1','A CPU, 2 CPUs, 16 GiB','quick','0.0.9','/runs/one',1,1,0);
INSERT INTO runs VALUES(4,'2025-10-09T08:53:25Z quick A CPU cbf29ce484222325',1760000005000000,NULL,NULL,'A CPU, 2 CPUs, 16 GiB','default','0.0.9','/runs/four',1,0,1);
CREATE TABLE points (
         run INTEGER NOT NULL REFERENCES runs (id),
         kernel TEXT NOT NULL,
         params TEXT NOT NULL, -- JSON, sorted by knob
         unit TEXT NOT NULL,
         better TEXT NOT NULL,
         n INTEGER NOT NULL,
         median REAL NOT NULL,
         low REAL,
         high REAL,
         verdict TEXT NOT NULL,
         PRIMARY KEY (run, kernel, params)
     ) STRICT, WITHOUT ROWID;
INSERT INTO points VALUES(1,'cpu.flops','{"isa":"avx2","threads":1}','FLOP/s','higher',8,5.0e10,4.9e10,5.1e10,'suspect');
INSERT INTO points VALUES(1,'memory.latency','{"working_set":8192}','s','lower',5,1.25e-09,NULL,NULL,'valid');
INSERT INTO points VALUES(4,'cpu.flops','{"isa":"avx2","threads":1}','FLOP/s','higher',30,5.5e10,5.4e10,5.6e10,'valid');
COMMIT;
