/**
 * Tables of a Conversation. Its transcript is one table, and its rows are appended, never changed. Their `seq` is one counter
 * over everything that a client can miss: messages, settled calls and finished turns; it is the `id:` of the SSE events, which
 * are read from these rows, so there is no table of events.
 */
import type { Migration } from "../../migrate.ts";

export const CONVERSATION_MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    sql: `
      -- A message of a person and everything until its answer. Unfinished turns run in the order of n.
      CREATE TABLE turn (
        n             INTEGER PRIMARY KEY,
        id            TEXT NOT NULL,
        idempotency   TEXT, -- the caller's Idempotency-Key: a repeat is the same turn
        origin        TEXT NOT NULL, -- JSON: who asked, over which channel, where the answer goes
        status        TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed', 'cancelled')),
        attempts      INTEGER NOT NULL DEFAULT 0, -- at the current step; counted before each try
        not_before    INTEGER NOT NULL DEFAULT 0, -- epoch ms: a retry waits until then
        answer        TEXT,
        error         TEXT, -- code of a failure
        model         TEXT,
        input_tokens  INTEGER NOT NULL DEFAULT 0,
        output_tokens INTEGER NOT NULL DEFAULT 0,
        created_at    INTEGER NOT NULL,
        finished_at   INTEGER,
        finished_seq  INTEGER
      ) STRICT;

      -- What the person and the model said. The transcript is the program counter of the turn.
      CREATE TABLE message (
        seq    INTEGER PRIMARY KEY,
        turn   INTEGER NOT NULL,
        role   TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'note')), -- note: of the gateway, to the model
        text   TEXT NOT NULL,
        images TEXT -- JSON: addresses of the person's pictures
      ) STRICT;

      -- One invocation of a tool, stored with its UUID before anything is sent.
      CREATE TABLE call (
        id            TEXT PRIMARY KEY,
        turn          INTEGER NOT NULL,
        message       INTEGER NOT NULL, -- seq of the assistant's message that asked for it
        position      INTEGER NOT NULL, -- its place in that message
        model_call_id TEXT NOT NULL,
        name          TEXT NOT NULL,
        args          TEXT NOT NULL, -- JSON
        problem       TEXT, -- why the arguments could not be read
        submitted_at  INTEGER, -- epoch ms: Home has said that it knows the call
        deadline      INTEGER, -- epoch ms: when Home will have settled it at the latest
        outcome       TEXT, -- JSON; null = unanswered
        settled_at    INTEGER, -- epoch ms
        settled_seq   INTEGER
      ) STRICT, WITHOUT ROWID;

      -- An answer that has to be sent somewhere (a chat app), with its own attempts.
      CREATE TABLE reply (
        turn       INTEGER PRIMARY KEY,
        address    TEXT NOT NULL, -- JSON, the channel's own
        text       TEXT NOT NULL,
        attempts   INTEGER NOT NULL DEFAULT 0,
        not_before INTEGER NOT NULL DEFAULT 0,
        sent_at    INTEGER
      ) STRICT;
    `,
  },
  {
    version: 2,
    sql: `
      -- What Home has of a call is Home's to know: an object that was rebuilt asks it.
      ALTER TABLE call DROP COLUMN deadline;

      -- Shown beside the turn; Home has the question itself and decides who may answer it.
      CREATE TABLE question (
        id          TEXT PRIMARY KEY,
        turn        INTEGER NOT NULL,
        call        TEXT NOT NULL,
        asked       TEXT NOT NULL, -- JSON: text, options, approval
        expires_at  INTEGER NOT NULL,
        asked_seq   INTEGER NOT NULL,
        answer      TEXT,
        answered_by TEXT,
        closed_seq  INTEGER
      ) STRICT, WITHOUT ROWID;
      ALTER TABLE turn ADD COLUMN notices TEXT NOT NULL DEFAULT '[]'; -- JSON: budgets that the person was told of

      -- What was said before a turn, in a model's words: stands for the turns that no longer fit.
      CREATE TABLE summary (
        turns      INTEGER PRIMARY KEY, -- how many of the oldest turns are in it
        text       TEXT NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT;
    `,
  },
  {
    version: 3,
    sql: `
      -- Idempotency keys of messages that were joined to the turn before them.
      CREATE TABLE merged (
        idempotency TEXT PRIMARY KEY,
        turn        INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;

      -- Pictures and files of this conversation; messages and outcomes hold their ids.
      CREATE TABLE media (
        id         TEXT PRIMARY KEY,
        media_type TEXT NOT NULL,
        bytes      INTEGER NOT NULL,
        sha256     TEXT NOT NULL,
        created_at INTEGER NOT NULL -- epoch ms
      ) STRICT, WITHOUT ROWID;

      -- Their bytes, in rows well below the platform's 2 MB.
      CREATE TABLE media_part (
        media    TEXT NOT NULL,
        position INTEGER NOT NULL,
        data     BLOB NOT NULL,
        UNIQUE (media, position)
      ) STRICT;
    `,
  },
  {
    version: 4,
    sql: `
      -- What goes out to a chat app, in the order of id: anew, since nobody sent any before.
      DROP TABLE reply;
      CREATE TABLE reply (
        id         INTEGER PRIMARY KEY AUTOINCREMENT,
        turn       INTEGER, -- null = words beside the turns; 0 = the answer of a forgotten one
        kind       TEXT NOT NULL DEFAULT 'answer' CHECK (kind IN ('answer', 'words', 'question', 'closed')),
        address    TEXT NOT NULL, -- JSON, the channel's own
        text       TEXT NOT NULL,
        question   TEXT, -- the one that is asked, or whose buttons go
        nonce      TEXT NOT NULL DEFAULT (lower(hex(randomblob(8)))), -- for platforms that drop a repeat
        parts      INTEGER NOT NULL DEFAULT 0, -- of its messages, how many were sent
        message    TEXT, -- the platform's id of a question, for its end
        attempts   INTEGER NOT NULL DEFAULT 0,
        not_before INTEGER NOT NULL DEFAULT 0,
        sent_at    INTEGER -- of a question that stands; anything else goes when it was sent
      ) STRICT;

      -- What a chat app delivered, so that a repeat is recognised; the newest 1,000.
      CREATE TABLE delivery (
        n    INTEGER PRIMARY KEY,
        id   TEXT NOT NULL UNIQUE, -- the platform's
        turn TEXT
      ) STRICT;

      -- Pictures that a person sent, until they are fetched.
      CREATE TABLE inbound (
        n       INTEGER PRIMARY KEY,
        turn    INTEGER NOT NULL,
        address TEXT NOT NULL, -- JSON
        picture TEXT NOT NULL -- JSON: the platform's name of it
      ) STRICT;

      -- The message that shows what devices do in a turn. Turn 0: the one that an answer is written in while the model
      -- says it, until it becomes the answer.
      CREATE TABLE status_message (
        turn    INTEGER PRIMARY KEY,
        message TEXT NOT NULL
      ) STRICT;
    `,
  },
  {
    version: 5,
    sql: `
      -- Whose this is, where no turn says it: what a call of MCP or a command brought. One row.
      CREATE TABLE belongs (
        one       INTEGER PRIMARY KEY CHECK (one = 1),
        principal TEXT NOT NULL
      ) STRICT;
    `,
  },
  {
    version: 6,
    sql: `
      -- Whose texts came into the conversation with a turn, JSON list (core/loop/taint.ts). What an earlier version kept
      -- says it of results and pictures; of a late result it only says that there was one, which may hold anything.
      ALTER TABLE turn ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
      UPDATE turn SET sources = (
        SELECT json_group_array(source) FROM (
          SELECT '*' AS source FROM message WHERE message.turn = turn.n AND (images IS NOT NULL OR role = 'note')
          UNION SELECT '*' FROM call WHERE call.turn = turn.n AND json_extract(outcome, '$.tainted')
          UNION SELECT 'agent:' || json_extract(args, '$.agent_id') FROM call WHERE call.turn = turn.n
            AND name = 'edge_call' AND outcome IS NOT NULL AND json_type(args, '$.agent_id') = 'text'
        )
      );
    `,
  },
  {
    version: 7,
    sql: `
      -- The first entry that the summary does not tell of: what is older is read only when somebody looks at it. Null in
      -- rows of an earlier version.
      ALTER TABLE summary ADD COLUMN from_turn INTEGER;
      ALTER TABLE summary ADD COLUMN from_seq INTEGER;
    `,
  },
  {
    version: 8,
    sql: `
      -- What the caller of a turn brought, whole. turn.origin has the outline of it, which is all that is held in memory.
      CREATE TABLE brought (
        turn INTEGER PRIMARY KEY,
        what TEXT NOT NULL -- JSON
      ) STRICT;

      -- From now on turn.sources also says whose words a caller brought. An earlier version worked that out at each step; nobody
      -- knows any more whose words an assistant's are in such a turn.
      UPDATE turn SET sources = json_insert(sources, '$[#]', '*')
      WHERE NOT EXISTS (SELECT 1 FROM json_each(sources) WHERE value = '*') AND (
        json_type(origin, '$.brought.results') IS NOT NULL
        OR EXISTS (
          SELECT 1 FROM json_each(origin, '$.brought.history') AS said
          WHERE json_extract(said.value, '$.role') = 'assistant' OR json_type(said.value, '$.images') IS NOT NULL
        )
      );
      INSERT INTO brought SELECT n, json_extract(origin, '$.brought') FROM turn WHERE json_type(origin, '$.brought') = 'object';
      -- A merge patch takes away what it sets to null.
      UPDATE turn SET origin = json_set(origin, '$.brought', json_patch(json_extract(origin, '$.brought'), json_object(
        'instructions', NULL,
        'clientTools', CASE WHEN json_type(origin, '$.brought.clientTools') IS NOT NULL THEN json((
          SELECT json_group_array(json_extract(value, '$.function.name')) FROM json_each(origin, '$.brought.clientTools')
        )) END,
        'results', CASE WHEN json_type(origin, '$.brought.results') IS NOT NULL THEN json((
          SELECT json_group_array(key) FROM json_each(origin, '$.brought.results')
        )) END,
        'history', CASE WHEN json_type(origin, '$.brought.history') IS NOT NULL THEN json((
          SELECT json_group_array(json_extract(value, '$.turn')) FROM json_each(origin, '$.brought.history')
          WHERE json_extract(value, '$.turn') IS NOT NULL
        )) END
      ))) WHERE json_type(origin, '$.brought') = 'object';
    `,
  },
  {
    version: 9,
    sql: `
      -- The transcript, row after row, which makes the program counter of a turn (rows.ts has what a body says).
      CREATE TABLE entry (
        seq  INTEGER PRIMARY KEY,
        turn INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL CHECK (json_valid(body)),
        CHECK (kind <> 'end' OR body ->> '$.status' IN ('done', 'failed', 'cancelled'))
      ) STRICT;

      -- Ended turns whose entries are not held, many in a row (past.ts).
      CREATE TABLE past (
        last  INTEGER PRIMARY KEY, -- the newest turn in it
        upto  INTEGER NOT NULL, -- up to this seq only entries of such turns stand
        turns TEXT NOT NULL -- JSON
      ) STRICT;

      -- One number for one thing: a result that came after its turn's end could get one that was given away later.
      UPDATE call SET settled_seq = NULL WHERE settled_seq IN (
        SELECT seq FROM message UNION SELECT finished_seq FROM turn
        UNION SELECT asked_seq FROM question UNION SELECT closed_seq FROM question
      ) OR id NOT IN (SELECT MIN(id) FROM call GROUP BY settled_seq);

      -- A turn begins with its person's message. Without one, its number is no seq that anybody has seen.
      INSERT INTO entry (seq, turn, kind, body)
      SELECT COALESCE(first.seq, -n), n, 'begin', json_patch(
        json_object(
          'id', id, 'origin', json(origin), 'at', created_at, 'sources', json(sources),
          'before', json_patch(
            json_object(
              'notices', json(notices),
              'usage', json_object('input_tokens', input_tokens, 'output_tokens', output_tokens)
            ),
            json_object('model', model, 'error', error)
          )
        ),
        json_object(
          'idempotency', idempotency, 'text', first.text, 'images', json(first.images), 'joined', json(joined.keys)
        )
      )
      FROM turn
      LEFT JOIN (SELECT turn, MIN(seq) AS seq, text, images FROM message WHERE role = 'user' GROUP BY turn) AS first
        ON first.turn = n
      LEFT JOIN (SELECT turn, json_group_array(idempotency) AS keys FROM merged GROUP BY turn) AS joined
        ON joined.turn = n;

      -- The reply with which a turn has ended stands in the turn's end.
      CREATE TABLE said AS
      SELECT turn, MAX(seq) AS seq, COUNT(*) AS replies, text FROM message WHERE role = 'assistant' GROUP BY turn;
      UPDATE said SET seq = NULL WHERE NOT EXISTS (
        SELECT 1 FROM turn WHERE n = said.turn AND status <> 'running' AND answer = said.text
      ) OR seq IN (SELECT message FROM call);

      INSERT INTO entry (seq, turn, kind, body)
      SELECT seq, message.turn, 'reply', json_object('text', text, 'calls', json(COALESCE(calls, '[]')))
      FROM message LEFT JOIN (
        SELECT message, json_group_array(json(call)) AS calls FROM (
          SELECT message, json_patch(
            json_object('id', id, 'modelCallId', model_call_id, 'name', name, 'args', json(args)),
            json_object('problem', problem)
          ) AS call FROM call ORDER BY message, position
        ) GROUP BY message
      ) AS asked ON asked.message = seq
      WHERE role = 'assistant' AND seq NOT IN (SELECT seq FROM said WHERE seq IS NOT NULL);

      INSERT INTO entry (seq, turn, kind, body)
      SELECT seq, turn, 'note', json_object('text', text) FROM message WHERE role = 'note';

      INSERT INTO entry (seq, turn, kind, body)
      SELECT asked_seq, turn, 'question', json_patch(
        json(asked), json_object('id', id, 'call', call, 'expires_at', expires_at)
      ) FROM question;
      INSERT INTO entry (seq, turn, kind, body)
      SELECT closed_seq, turn, 'answer', json_object('question', id, 'answer', answer, 'by', answered_by)
      FROM question WHERE closed_seq IS NOT NULL;

      INSERT INTO entry (seq, turn, kind, body)
      SELECT finished_seq, n, 'end', json_patch(
        json_object(
          'status', status, 'answer', COALESCE(answer, ''), 'at', finished_at,
          'says', json(iif(said.seq IS NULL, 'false', 'true')), 'replies', COALESCE(replies, 0)
        ),
        json_object('error', error, 'open', json(iif(status = 'done', open, NULL)))
      )
      FROM turn LEFT JOIN said ON said.turn = n
      LEFT JOIN (SELECT turn, json_group_array(id) AS open FROM call WHERE outcome IS NULL GROUP BY turn) AS asked
        ON asked.turn = n
      WHERE status <> 'running';

      INSERT INTO entry (seq, turn, kind, body)
      SELECT settled_seq, turn, 'result', json_patch(
        json_object('call', id, 'outcome', json(outcome), 'at', settled_at),
        json_object('submittedAt', submitted_at)
      )
      FROM call WHERE outcome IS NOT NULL AND settled_seq IS NOT NULL;
      -- Those that have lost their number come last.
      INSERT INTO entry (seq, turn, kind, body)
      SELECT settled_seq, turn, 'result', json_patch(
        json_object('call', id, 'outcome', json(outcome), 'at', settled_at),
        json_object('submittedAt', submitted_at)
      )
      FROM call WHERE outcome IS NOT NULL AND settled_seq IS NULL;

      INSERT INTO entry (turn, kind, body)
      SELECT n, 'try', json_object('attempts', attempts, 'notBefore', not_before)
      FROM turn WHERE status = 'running' AND attempts > 0;

      DROP TABLE said;
      DROP TABLE turn;
      DROP TABLE message;
      DROP TABLE call;
      DROP TABLE question;
      DROP TABLE merged;
    `,
  },
];

/** The tables as they are now, each with a statement that makes it (tables.ts). */
export const CONVERSATION_TABLES = {
  entry: `CREATE TABLE entry (
    seq INTEGER PRIMARY KEY, turn INTEGER NOT NULL, kind TEXT NOT NULL,
    body TEXT NOT NULL CHECK (json_valid(body)),
    CHECK (kind <> 'end' OR body ->> '$.status' IN ('done', 'failed', 'cancelled'))
  ) STRICT`,
  past: "CREATE TABLE past (last INTEGER PRIMARY KEY, upto INTEGER NOT NULL, turns TEXT NOT NULL) STRICT",
  summary: `CREATE TABLE summary (
    turns INTEGER PRIMARY KEY, text TEXT NOT NULL, created_at INTEGER NOT NULL, from_turn INTEGER, from_seq INTEGER
  ) STRICT`,
  brought: "CREATE TABLE brought (turn INTEGER PRIMARY KEY, what TEXT NOT NULL) STRICT",
  belongs: "CREATE TABLE belongs (one INTEGER PRIMARY KEY CHECK (one = 1), principal TEXT NOT NULL) STRICT",
  media: `CREATE TABLE media (
    id TEXT PRIMARY KEY, media_type TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  media_part: `CREATE TABLE media_part (
    media TEXT NOT NULL, position INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE (media, position)
  ) STRICT`,
  reply: `CREATE TABLE reply (
    id INTEGER PRIMARY KEY AUTOINCREMENT, turn INTEGER,
    kind TEXT NOT NULL DEFAULT 'answer' CHECK (kind IN ('answer', 'words', 'question', 'closed')),
    address TEXT NOT NULL, text TEXT NOT NULL, question TEXT,
    nonce TEXT NOT NULL DEFAULT (lower(hex(randomblob(8)))), parts INTEGER NOT NULL DEFAULT 0, message TEXT,
    attempts INTEGER NOT NULL DEFAULT 0, not_before INTEGER NOT NULL DEFAULT 0, sent_at INTEGER
  ) STRICT`,
  delivery: "CREATE TABLE delivery (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, turn TEXT) STRICT",
  inbound: `CREATE TABLE inbound (
    n INTEGER PRIMARY KEY, turn INTEGER NOT NULL, address TEXT NOT NULL, picture TEXT NOT NULL
  ) STRICT`,
  status_message: "CREATE TABLE status_message (turn INTEGER PRIMARY KEY, message TEXT NOT NULL) STRICT",
} as const;

export type Table = keyof typeof CONVERSATION_TABLES;
