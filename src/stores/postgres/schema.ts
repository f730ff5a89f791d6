/**
 * What Headgate keeps in a PostgreSQL database: one schema with its tables and the functions that compare
 * and set, and forget. They only lock, compare and copy text; they decide nothing.
 */

/** A name as a part of statements. The store takes only such as have no quotes. */
export const quoted = (name: string): string => `"${name}"`

/** The calls of the functions below. */
export const commitCall = (schema: string): string =>
  `SELECT at, conflicts, kept FROM ${schema}.compare_and_set(${places(17)})`

export const sweepCall = (schema: string): string =>
  `SELECT last, lived FROM ${schema}.sweep(${places(4)})`

const places = (count: number): string =>
  Array.from({ length: count }, (_, i) => `$${i + 1}`).join(', ')

/** The state of SQL that means a fence. No other program has it. */
export const FENCED = 'HGF01'

/**
 * `FORMAT_STEPS[n]` leads from format n to n + 1. A step once released is never edited. One that older
 * servers must not write beside gives `compare_and_set` another name: they are then told to upgrade.
 */
const FORMAT_STEPS: readonly ((schema: string) => string)[] = [
  (schema) => `${tables(schema)}${compareAndSet(schema)}${sweep(schema)}${fence(schema)}`,
]

const tables = (schema: string): string => `
CREATE TABLE ${schema}.items (
  -- "C": pages are in byte order, whatever language the database speaks.
  key        text COLLATE "C" PRIMARY KEY,
  value      text NOT NULL,
  -- May be forgotten once the clock of the server has passed the first, and the database has also lived
  -- as long as the second says: a clock that leaps ahead and returns has then emptied nothing. Null: never.
  expires_at bigint,
  keep_until bigint
) WITH (fillfactor = 80);

CREATE TABLE ${schema}.entries (
  stream   text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  entry    text NOT NULL,
  PRIMARY KEY (stream, position)
);

-- The last position of each stream. Its row stays locked until the commit, so entries become visible
-- in the order of their positions.
CREATE TABLE ${schema}.streams (
  stream text COLLATE "C" PRIMARY KEY,
  last   bigint NOT NULL
) WITH (fillfactor = 50);

-- What is locked for a key that is not there. Rows, as advisory locks are few.
CREATE TABLE ${schema}.locks (id integer PRIMARY KEY);
INSERT INTO ${schema}.locks SELECT generate_series(0, 16383);

-- Keys that are kept for a server that lost them often, for a moment.
CREATE UNLOGGED TABLE ${schema}.claims (
  key    text COLLATE "C" PRIMARY KEY,
  holder text NOT NULL,
  until  bigint NOT NULL
);

-- How long servers have used the database, as told by those that swept it; and why it takes no calls.
CREATE TABLE ${schema}.life (lived bigint NOT NULL, fence text);

CREATE FUNCTION ${schema}.micros() RETURNS bigint LANGUAGE sql VOLATILE AS
  $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;
INSERT INTO ${schema}.life VALUES (0, NULL);

-- What is under way is on the disk before its answer, though the database does not wait by default.
CREATE FUNCTION ${schema}.durable() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END $$;
`

/**
 * Compares and applies parts, each alone. Each statement within sees what was committed before it began:
 * so the locks come first, all in one order, and the time and the values are read after them.
 */
const compareAndSet = (schema: string): string => `
CREATE FUNCTION ${schema}.compare_and_set(
  decided bigint, max_age bigint, who text, claim bigint,
  e_part integer[], e_key text[], e_value text[],
  g_part integer[], g_key text[],
  w_part integer[], w_key text[], w_value text[], w_life bigint[],
  a_part integer[], a_stream text[], a_entry text[],
  c_part integer[],
  OUT at bigint, OUT conflicts jsonb, OUT kept integer[]
) LANGUAGE plpgsql AS $$
DECLARE
  locked text[];
  bad integer[];
  so_far bigint;
  why text;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'headgate needs transactions that are read committed';
  END IF;
  PERFORM ${schema}.durable();
  PERFORM 1 FROM ${schema}.locks WHERE id IN (
    SELECT hashtext(k) & 16383 FROM unnest(e_key, e_value) AS e(k, v) WHERE v IS NULL
    UNION
    SELECT hashtext(k) & 16383 FROM unnest(w_key) AS w(k)
  ) ORDER BY id FOR UPDATE;
  SELECT coalesce(array_agg(key), '{}') INTO locked FROM (
    SELECT key FROM ${schema}.items WHERE key = ANY (e_key || w_key) ORDER BY key FOR UPDATE
  ) AS held;
  at := ${schema}.micros();
  SELECT lived, fence INTO so_far, why FROM ${schema}.life;
  IF why IS NOT NULL THEN RAISE EXCEPTION '%', why USING ERRCODE = '${FENCED}'; END IF;
  SELECT coalesce(array_agg(DISTINCT e.part), '{}') INTO kept
  FROM unnest(e_part, e_key) AS e(part, key) JOIN ${schema}.claims c ON c.key = e.key
  -- Not one of a time before the clock stepped back, which would keep the key for as long.
  WHERE c.holder <> who AND c.until > at AND c.until <= at + claim;
  IF decided IS NOT NULL AND (at < decided OR at - decided > max_age) THEN
    SELECT array_agg(DISTINCT p) INTO bad FROM unnest(e_part || w_part || a_part) AS p;
  ELSE
    SELECT array_agg(DISTINCT e.part) INTO bad
    FROM unnest(e_part, e_key, e_value) AS e(part, key, value)
    LEFT JOIN ${schema}.items i ON i.key = e.key
    WHERE i.value IS DISTINCT FROM e.value
       -- Deleted and written again since it was locked: not ours to trust.
       OR (e.value IS NOT NULL AND NOT (e.key = ANY (locked)));
  END IF;
  bad := coalesce(bad, '{}') || kept;

  INSERT INTO ${schema}.items AS i (key, value, expires_at, keep_until)
  SELECT w.key, w.value, at + w.life, so_far + w.life
  FROM unnest(w_part, w_key, w_value, w_life) AS w(part, key, value, life)
  WHERE w.value IS NOT NULL AND NOT (w.part = ANY (bad))
  ORDER BY w.key
  ON CONFLICT (key) DO UPDATE SET value = excluded.value,
    expires_at = excluded.expires_at, keep_until = excluded.keep_until;
  DELETE FROM ${schema}.items WHERE key IN (
    SELECT w.key FROM unnest(w_part, w_key, w_value) AS w(part, key, value)
    WHERE w.value IS NULL AND NOT (w.part = ANY (bad))
  );

  IF cardinality(a_part) > 0 THEN
    WITH ask AS (
      SELECT a.stream, a.entry, row_number() OVER (PARTITION BY a.stream ORDER BY a.ord) AS nth
      FROM unnest(a_part, a_stream, a_entry) WITH ORDINALITY AS a(part, stream, entry, ord)
      WHERE NOT (a.part = ANY (bad))
    ), counted AS (
      SELECT stream, count(*) AS n FROM ask GROUP BY stream
    ), turned AS (
      INSERT INTO ${schema}.streams AS s (stream, last)
      SELECT stream, n FROM counted ORDER BY stream
      ON CONFLICT (stream) DO UPDATE SET last = s.last + excluded.last
      RETURNING s.stream, s.last
    )
    INSERT INTO ${schema}.entries (stream, position, entry)
    SELECT ask.stream, turned.last - counted.n + ask.nth, ask.entry
    FROM ask JOIN turned USING (stream) JOIN counted USING (stream);
  END IF;

  IF EXISTS (SELECT 1 FROM ${schema}.claims WHERE holder = who) THEN
    DELETE FROM ${schema}.claims WHERE holder = who AND key IN (
      SELECT e.key FROM unnest(e_part, e_key) AS e(part, key) WHERE NOT (e.part = ANY (bad))
    );
  END IF;
  IF cardinality(c_part) > 0 THEN
    INSERT INTO ${schema}.claims (key, holder, until)
    SELECT DISTINCT e.key, who, at + claim FROM unnest(e_part, e_key) AS e(part, key)
    WHERE e.part = ANY (c_part) AND e.part = ANY (bad) AND NOT (e.part = ANY (kept))
    ORDER BY e.key
    ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, until = excluded.until;
  END IF;

  SELECT coalesce(jsonb_object_agg(part, shown), '{}') INTO conflicts FROM (
    SELECT c.part, jsonb_agg(i.value ORDER BY c.guessed, c.ord) AS shown
    FROM (
      SELECT e.part, e.key, false AS guessed, e.ord
      FROM unnest(e_part, e_key) WITH ORDINALITY AS e(part, key, ord)
      UNION ALL
      SELECT g.part, g.key, true, g.ord
      FROM unnest(g_part, g_key) WITH ORDINALITY AS g(part, key, ord)
    ) AS c
    LEFT JOIN ${schema}.items i ON i.key = c.key
    WHERE c.part = ANY (bad)
    GROUP BY c.part
  ) AS told;
  -- Parts that read nothing and came too late have nothing to show.
  SELECT conflicts || coalesce(jsonb_object_agg(p, '[]'::jsonb), '{}') INTO conflicts
  FROM unnest(bad) AS p WHERE NOT (conflicts ? p::text);
  -- Once more: what was guessed is not locked, and may have been written since the first time.
  at := ${schema}.micros();
END $$;
`

/**
 * Forgets what has expired among the next `count` keys, and tells the last of them; null: the round is
 * done. `known` is how long the database had lived when the asking server last heard, and `ran` how long
 * that server has run since: together they are no more than it has lived, whatever its clock says.
 */
const sweep = (schema: string): string => `
CREATE FUNCTION ${schema}.sweep(beyond text, count integer, known bigint, ran bigint,
  OUT last text, OUT gone integer, OUT lived bigint)
LANGUAGE plpgsql AS $$
DECLARE
  at bigint := ${schema}.micros();
  why text;
BEGIN
  UPDATE ${schema}.life AS l SET lived = greatest(l.lived, known + ran)
  RETURNING l.lived, l.fence INTO sweep.lived, why;
  IF why IS NOT NULL THEN RETURN; END IF;
  SELECT max(key) INTO last FROM (
    SELECT key FROM ${schema}.items WHERE key > beyond ORDER BY key LIMIT count
  ) AS page;
  WITH old AS (
    SELECT key FROM ${schema}.items
    WHERE key > beyond AND key <= last AND expires_at <= at AND keep_until <= sweep.lived
    ORDER BY key FOR UPDATE SKIP LOCKED
  ), forgotten AS (
    DELETE FROM ${schema}.items i USING old WHERE i.key = old.key RETURNING 1
  )
  SELECT count(*) INTO gone FROM forgotten;
  DELETE FROM ${schema}.claims WHERE until <= at;
END $$;
`

/**
 * Puts up a fence, or takes it away. Whoever commits has read that table, and so holds a lock on it to
 * the end of the transaction: once this has its own, none that did not see the fence is under way.
 */
const fence = (schema: string): string => `
CREATE FUNCTION ${schema}.fence(why text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ${schema}.durable();
  -- Others wait behind us: not for as long as somebody copies the database.
  PERFORM set_config('lock_timeout', '1500', true);
  LOCK TABLE ${schema}.life IN ACCESS EXCLUSIVE MODE;
  UPDATE ${schema}.life SET fence = why;
END $$;
`

/** What this version reads and writes. */
export const FORMAT = FORMAT_STEPS.length

/** One transaction, and one at a time: all of it is there, or nothing. */
export const migration = (name: string): string => {
  const schema = quoted(name)
  return `DO $do$
DECLARE found integer;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('headgate ${name}'));
  -- Not by IF NOT EXISTS: that trusts what this connection did not find before it waited.
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${name}') THEN
    CREATE SCHEMA ${schema};
  END IF;
  CREATE TABLE IF NOT EXISTS ${schema}.format (number integer NOT NULL);
  SELECT number INTO found FROM ${schema}.format;
  IF found IS NULL THEN
    INSERT INTO ${schema}.format VALUES (0);
    found := 0;
  END IF;
  ${FORMAT_STEPS.map((step, from) => `IF found = ${from} THEN ${step(schema)} found := ${from + 1}; END IF;`).join('\n')}
  UPDATE ${schema}.format SET number = found;
END $do$`
}
