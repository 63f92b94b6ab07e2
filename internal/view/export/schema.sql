-- A recording as plimsoll view --format sqlite writes it. Amounts are bytes,
-- times microseconds since the epoch; NULL is what is not known. Addresses and
-- streams are unsigned numbers in SQLite's signed integers.

CREATE TABLE devices (
  device INTEGER PRIMARY KEY,
  from_event INTEGER NOT NULL, to_event INTEGER NOT NULL, -- the range: from_event <= event < to_event
  peak_event INTEGER NOT NULL,                            -- -1: before the first event
  peak_allocated_bytes INTEGER NOT NULL,
  peak_reserved_event INTEGER NOT NULL,
  peak_reserved_bytes INTEGER
);
CREATE TABLE frames (id INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL);
CREATE TABLE stacks (
  id INTEGER PRIMARY KEY,
  line TEXT NOT NULL -- the line of the user's program that the stack belongs to
);
CREATE TABLE stack_frames (
  stack INTEGER NOT NULL REFERENCES stacks(id), depth INTEGER NOT NULL, -- 0 is the innermost
  frame INTEGER NOT NULL REFERENCES frames(id),
  PRIMARY KEY (stack, depth)
) WITHOUT ROWID;
CREATE TABLE blocks (
  device INTEGER NOT NULL, id INTEGER NOT NULL,
  alloc_event INTEGER, -- NULL: before the first event of the recording
  free_event INTEGER,  -- NULL: still in use at its end
  alloc_us INTEGER, free_us INTEGER,
  requested_bytes INTEGER NOT NULL, bytes INTEGER NOT NULL, -- bytes: after rounding
  address INTEGER NOT NULL, stream INTEGER NOT NULL, category TEXT NOT NULL,
  stack INTEGER REFERENCES stacks(id),
  PRIMARY KEY (device, id)
) WITHOUT ROWID;
CREATE TABLE events (
  device INTEGER NOT NULL, event INTEGER NOT NULL, time_us INTEGER, action TEXT NOT NULL,
  block INTEGER, bytes INTEGER NOT NULL, address INTEGER NOT NULL, stack INTEGER REFERENCES stacks(id),
  allocated_bytes INTEGER NOT NULL, reserved_bytes INTEGER, -- right after the event
  PRIMARY KEY (device, event)
) WITHOUT ROWID;
CREATE TABLE segments (
  device INTEGER NOT NULL, from_event INTEGER, to_event INTEGER, -- NULL: before, or not in the range
  address INTEGER NOT NULL, bytes INTEGER NOT NULL, stream INTEGER NOT NULL, pool TEXT NOT NULL, -- '' is the default pool
  small INTEGER NOT NULL, expandable INTEGER NOT NULL, stack INTEGER REFERENCES stacks(id)
);
CREATE TABLE bands (device INTEGER NOT NULL, kind TEXT NOT NULL, from_event INTEGER NOT NULL, to_event INTEGER NOT NULL, name TEXT NOT NULL);

-- What was in use at the peak of each device.
CREATE VIEW peak_blocks AS
SELECT b.*, s.line FROM devices d JOIN blocks b ON b.device = d.device LEFT JOIN stacks s ON s.id = b.stack
WHERE coalesce(b.alloc_event, -1) <= d.peak_event AND (b.free_event IS NULL OR b.free_event > d.peak_event);
