/**
 * The tables of a Home up to version 29, of all parts together. The list is frozen: from here on each feature has its own steps, in
 * its feature.ts, and the kernel's parts have theirs there too.
 */
import type { Migration } from "../migrate.ts";

export const HOME_MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    sql: `
      -- When the bridge was last there; one row.
      CREATE TABLE bridge (
        one          INTEGER PRIMARY KEY CHECK (one = 1),
        id           TEXT NOT NULL,
        version      TEXT NOT NULL,
        connected_at INTEGER NOT NULL,
        gone_at      INTEGER -- null = connected, as far as the socket tells
      ) STRICT;

      -- An agent as the bridge last told it. Written on changes only; heartbeats end at the bridge.
      CREATE TABLE agent (
        id           TEXT PRIMARY KEY,
        online       INTEGER NOT NULL,
        reason       TEXT,
        last_seen    INTEGER, -- epoch ms
        is_foreign   INTEGER NOT NULL, -- speaks only EvoClaw's shapes
        line         TEXT NOT NULL, -- its advert, on one line
        type         TEXT,
        version      TEXT,
        features     TEXT NOT NULL, -- JSON: list of words
        tools        TEXT NOT NULL, -- JSON: list of ActionAdvert
        problem      TEXT, -- what is wrong with what it advertises
        changed_at   INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;

      -- The ledger: one row for each call, by UUID. The only queue; a bridge or an agent may forget.
      CREATE TABLE call (
        id           TEXT PRIMARY KEY,
        conversation TEXT, -- who gets the outcome; null = a command from the API
        agent        TEXT NOT NULL,
        command      TEXT NOT NULL,
        payload      TEXT NOT NULL, -- JSON
        caller       TEXT NOT NULL, -- JSON
        idempotent   INTEGER NOT NULL,
        n            INTEGER NOT NULL, -- the command's counter against replays
        state        TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'taken', 'settled')),
        sent_at      INTEGER, -- epoch ms of the last time it was sent
        sends        INTEGER NOT NULL, -- how often: a refusal of the second says nothing of the first
        silence_ms   INTEGER NOT NULL, -- without a sign of life for so long it is over
        deadline     INTEGER NOT NULL, -- epoch ms: by the last sign of life
        ends_at      INTEGER NOT NULL, -- epoch ms: in any case
        outcome      TEXT, -- JSON
        delivered    INTEGER NOT NULL DEFAULT 0, -- the conversation has it
        created_at   INTEGER NOT NULL,
        settled_at   INTEGER
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX call_open ON call (agent) WHERE state <> 'settled';
      CREATE INDEX call_undelivered ON call (settled_at) WHERE state = 'settled' AND delivered = 0;
    `,
  },
  {
    version: 2,
    sql: `
      -- The call table anew: a call may wait for a person ('asking'), and an outcome may come late.
      CREATE TABLE call_2 (
        id           TEXT PRIMARY KEY,
        conversation TEXT,
        agent        TEXT NOT NULL,
        command      TEXT NOT NULL, -- 'job': an agent's own work that was accepted; never sent
        payload      TEXT NOT NULL,
        caller       TEXT NOT NULL,
        idempotent   INTEGER NOT NULL,
        n            INTEGER NOT NULL,
        state        TEXT NOT NULL CHECK (state IN ('asking', 'waiting', 'sent', 'taken', 'settled')),
        sent_at      INTEGER,
        sends        INTEGER NOT NULL,
        silence_ms   INTEGER NOT NULL,
        deadline     INTEGER NOT NULL,
        ends_at      INTEGER NOT NULL,
        outcome      TEXT,
        delivered    INTEGER NOT NULL DEFAULT 0,
        created_at   INTEGER NOT NULL,
        settled_at   INTEGER,
        late_for     TEXT, -- the call of the conversation that already has an answer: this one replaces it
        flags        TEXT NOT NULL DEFAULT '{}' -- JSON: watch, tainted, queued
      ) STRICT, WITHOUT ROWID;
      INSERT INTO call_2 SELECT id, conversation, agent, command, payload, caller, idempotent, n, state, sent_at, sends,
      silence_ms, deadline, ends_at, outcome, delivered, created_at, settled_at, NULL, '{}' FROM call;
      DROP TABLE call;
      ALTER TABLE call_2 RENAME TO call;
      CREATE INDEX call_open ON call (agent) WHERE state <> 'settled';
      CREATE INDEX call_undelivered ON call (settled_at) WHERE state = 'settled' AND delivered = 0;

      -- What a person is asked in the middle of a call.
      CREATE TABLE question (
        id             TEXT PRIMARY KEY, -- ours: what people answer
        call           TEXT NOT NULL,
        conversation   TEXT NOT NULL,
        agent          TEXT NOT NULL,
        agent_question TEXT, -- the agent's own id; null = the gateway asks, before it sends
        text           TEXT NOT NULL,
        options        TEXT NOT NULL, -- JSON
        approval       TEXT, -- JSON: tool, parameters, cwd, reason, hash; null = a plain question
        asked_at       INTEGER NOT NULL,
        expires_at     INTEGER NOT NULL,
        told           INTEGER NOT NULL DEFAULT 0, -- the conversation has it
        answer         TEXT, -- null = open
        answered_by    TEXT,
        answered_at    INTEGER
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX question_open ON question (call) WHERE answer IS NULL;

      -- What a day took of models; written only where a budget for the day is set.
      CREATE TABLE usage (
        day         TEXT PRIMARY KEY, -- UTC
        tokens      INTEGER NOT NULL,
        model_calls INTEGER NOT NULL,
        told        TEXT NOT NULL DEFAULT '[]' -- JSON: notices that a person has had
      ) STRICT, WITHOUT ROWID;

      -- Models that failed lately; one that is not here is well.
      CREATE TABLE model_health (
        name       TEXT PRIMARY KEY,
        failures   INTEGER NOT NULL,
        cool_until INTEGER NOT NULL -- epoch ms
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 3,
    sql: `
      -- The record of calls as the devices wrote it, a row for each batch of lines.
      CREATE TABLE audit (
        agent    TEXT NOT NULL,
        id       TEXT NOT NULL, -- the agent's name of the batch; one with more lines takes its place
        first_at TEXT NOT NULL, -- ISO 8601, of its first line
        last_at  TEXT NOT NULL,
        lines    TEXT NOT NULL, -- JSON list
        PRIMARY KEY (agent, id)
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 4,
    sql: `
      -- Strangers who wrote over a chat app, each with the code that an owner has to name.
      CREATE TABLE pairing (
        code       TEXT PRIMARY KEY,
        connection TEXT NOT NULL,
        channel    TEXT NOT NULL,
        sender     TEXT NOT NULL, -- the platform's id
        name       TEXT NOT NULL, -- as they call themselves
        asked_at   INTEGER NOT NULL, -- epoch ms
        told_at    INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;

      -- Whom an owner let in.
      CREATE TABLE sender (
        connection  TEXT NOT NULL,
        sender      TEXT NOT NULL,
        channel     TEXT NOT NULL,
        name        TEXT NOT NULL,
        role        TEXT NOT NULL CHECK (role IN ('owner', 'member', 'guest')),
        approved_by TEXT NOT NULL,
        approved_at INTEGER NOT NULL,
        PRIMARY KEY (channel, connection, sender)
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 5,
    sql: `
      -- When what is over was last forgotten; one row.
      CREATE TABLE tidied (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        at  INTEGER NOT NULL -- epoch ms
      ) STRICT;
      INSERT INTO tidied VALUES (1, 0);
    `,
  },
  {
    version: 6,
    sql: `
      -- Connections to chat apps that were made in the console; those of the setting CHANNELS win over them.
      CREATE TABLE connection (
        channel    TEXT NOT NULL,
        connection TEXT NOT NULL,
        settings   TEXT NOT NULL, -- JSON, without the secrets
        secrets    TEXT NOT NULL, -- JSON; encrypted where CONNECTIONS_KEY is set (kept-connections.ts)
        made_by    TEXT NOT NULL,
        made_at    INTEGER NOT NULL, -- epoch ms
        PRIMARY KEY (channel, connection)
      ) STRICT, WITHOUT ROWID;

      -- The API's conversations, so that a person finds an earlier one again. What was said is in their own objects.
      CREATE TABLE conversation (
        name       TEXT PRIMARY KEY, -- home/channel/id
        principal  TEXT NOT NULL, -- who began it
        title      TEXT NOT NULL, -- the first words
        last_at    INTEGER NOT NULL -- epoch ms, of its newest turn, to the minute
      ) STRICT, WITHOUT ROWID;

      -- What a day took of each model; written only where PRICES is set. And what each agent took over the relay
      -- (model '#agent', all of it in input_tokens).
      CREATE TABLE model_usage (
        day           TEXT NOT NULL, -- UTC
        model         TEXT NOT NULL,
        input_tokens  INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        PRIMARY KEY (day, model)
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 7,
    sql: `
      -- Counts since the home was set up, for /metrics (tallies.ts).
      CREATE TABLE tally (
        kind    TEXT NOT NULL CHECK (kind IN ('call', 'turn', 'bridge')),
        name    TEXT NOT NULL, -- JSON list: agent and tool; channel
        figures TEXT NOT NULL, -- JSON
        PRIMARY KEY (kind, name)
      ) STRICT, WITHOUT ROWID;

      -- Which conversations there are, for a back-up; those that had a turn since version 7.
      CREATE TABLE kept_conversation (
        name         TEXT PRIMARY KEY, -- of the object: home, channel and id
        last_turn_at INTEGER NOT NULL -- epoch ms, of the first turn that ended
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 8,
    sql: `
      -- The key pair that this home's devices obey; one row, made when it is first needed.
      CREATE TABLE gateway_key (
        one         INTEGER PRIMARY KEY CHECK (one = 1),
        public_key  TEXT NOT NULL, -- Ed25519, 32 bytes, base64url
        private_key TEXT NOT NULL, -- PKCS #8, base64url; leaves the object in an export alone
        made_at     INTEGER NOT NULL -- epoch ms
      ) STRICT;

      -- The agents' keys, and what was last believed of each. A row is never taken away: its agent is believed
      -- by its signature alone, and after it was revoked not at all.
      CREATE TABLE agent_key (
        agent          TEXT PRIMARY KEY,
        public_key     TEXT NOT NULL, -- Ed25519, 32 bytes, base64url
        name           TEXT NOT NULL, -- what people call the device
        enrolled_at    INTEGER NOT NULL, -- epoch ms
        revoked_at     INTEGER, -- null = it counts
        boot_id        TEXT, -- the run that last said that it is there
        presence_n     INTEGER NOT NULL DEFAULT 0, -- of each topic the highest counter that was believed
        capabilities_n INTEGER NOT NULL DEFAULT 0,
        tools_n        INTEGER NOT NULL DEFAULT 0,
        events_n       INTEGER NOT NULL DEFAULT 0
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 9,
    sql: `
      -- Codes by which new devices join (pairing/device-codes.ts); those that expired go when the next is made.
      CREATE TABLE device_code (
        finder      TEXT PRIMARY KEY, -- the first letters
        secret_hash TEXT NOT NULL, -- SHA-256 of all letters, hex
        agent       TEXT, -- only for this one, whose key it may replace; null = any without a key
        broker      TEXT, -- JSON: what the device is told of its broker
        made_by     TEXT NOT NULL,
        expires_at  INTEGER NOT NULL, -- epoch ms
        tries       INTEGER NOT NULL DEFAULT 0, -- wrong ones
        used_by     TEXT, -- the agent
        used_key    TEXT -- … and its public key
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 10,
    // A key may be the bridge's ('@bridge'); its events_n is the counter of its tokens. `login`: Mosquitto's hash of an
    // agent's password. `broker`, of '@bridge' alone: where devices reach the broker whose files it keeps.
    sql: "ALTER TABLE agent_key ADD COLUMN login TEXT; ALTER TABLE agent_key ADD COLUMN broker TEXT",
  },
  {
    version: 11,
    sql: `
      -- The record anew, in the order in which it came. Only the keys are sorted: all lines at once may be too much.
      CREATE TABLE audit_2 (
        at       INTEGER PRIMARY KEY, -- epoch ms when it came, made unique
        upto     INTEGER NOT NULL, -- bytes of all lines that ever came, with these
        agent    TEXT NOT NULL,
        id       TEXT NOT NULL, -- the agent's name of the batch; one with more lines takes its place
        first_at TEXT NOT NULL, -- ISO 8601, of its first line
        last_at  TEXT NOT NULL,
        lines    TEXT NOT NULL, -- JSON list
        UNIQUE (agent, id)
      ) STRICT;
      INSERT INTO audit_2 SELECT strftime('%s', 'now') * 1000 + n, upto, agent, id, first_at, last_at,
      (SELECT lines FROM audit AS old WHERE old.agent = sorted.agent AND old.id = sorted.id)
      FROM (SELECT agent, id, first_at, last_at,
        ROW_NUMBER() OVER (ORDER BY last_at, agent, id) - COUNT(*) OVER () AS n,
        SUM(length(CAST(lines AS BLOB))) OVER (ORDER BY last_at, agent, id) AS upto FROM audit) AS sorted;
      DROP TABLE audit;
      ALTER TABLE audit_2 RENAME TO audit;

      -- How far an outside store has it (audit/outlet-row.ts); one row, once there was something to tell.
      CREATE TABLE audit_outlet (
        one      INTEGER PRIMARY KEY CHECK (one = 1),
        store    TEXT NOT NULL, -- its address
        sent_to  INTEGER NOT NULL, -- audit.at of the last row that it has
        tries    INTEGER NOT NULL, -- since the last that worked
        retry_at INTEGER NOT NULL, -- epoch ms: not before then
        problem  TEXT, -- what came of the last try, in words; null = it worked
        lost     INTEGER NOT NULL -- lines that were forgotten before the store had them
      ) STRICT;
    `,
  },
  {
    version: 12,
    sql: `
      -- With whom a conversation was shared by name, beside whoever began it.
      CREATE TABLE conversation_reader (
        name      TEXT NOT NULL, -- home/channel/id
        principal TEXT NOT NULL,
        PRIMARY KEY (name, principal)
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 13,
    sql: `
      -- API tokens that people made (tokens.ts), beside those of the setting API_TOKENS.
      CREATE TABLE token (
        id           TEXT PRIMARY KEY,
        hash         TEXT NOT NULL UNIQUE, -- SHA-256 of the token, hex
        name         TEXT NOT NULL, -- the principal
        role         TEXT NOT NULL CHECK (role IN ('owner', 'member', 'guest')),
        scopes       TEXT NOT NULL, -- JSON list
        expires_at   INTEGER, -- epoch ms; null = never
        created_at   INTEGER NOT NULL,
        last_used_at INTEGER, -- to the hour
        made_by      TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 14,
    sql: `
      -- What an owner has accepted of the words by which an agent describes itself (advert-text.ts): JSON. What was there
      -- before anybody could be asked counts as accepted.
      ALTER TABLE agent ADD COLUMN accepted TEXT NOT NULL DEFAULT '{"lines":[],"actions":[]}';
      UPDATE agent SET accepted = json_object('lines', json_array(line), 'actions',
        (SELECT json_group_array(json_extract(value, '$.name')) FROM json_each(agent.tools)));
    `,
  },
  {
    version: 15,
    sql: `
      -- What each agent has of the record of calls: where it is too much, the one that has most loses its oldest lines.
      CREATE TABLE audit_share (
        agent TEXT PRIMARY KEY,
        bytes INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      INSERT INTO audit_share SELECT agent, SUM(length(CAST(lines AS BLOB))) FROM audit GROUP BY agent;
    `,
  },
  {
    version: 16,
    sql: `
      -- Each report asks for these; without an index that would be a walk through two days of calls and their texts. An
      -- index has entries only for the few rows that it is for, so other calls pay for none. The words have to be those of
      -- the queries (ledger.ts).
      CREATE INDEX call_early ON call (json_extract(payload, '$.call')) WHERE COALESCE(json_extract(flags, '$.early'), 0);
      CREATE INDEX call_begins ON call (agent, settled_at)
      WHERE command = 'job' OR COALESCE(json_extract(flags, '$.queued'), 0);
    `,
  },
  {
    version: 17,
    sql: `
      -- What a home counts, in a ring of rows that are replaced (usage/usage-reports.ts). The sums are in tally and agent_calls.
      CREATE TABLE usage_report (
        slot         INTEGER PRIMARY KEY, -- n modulo the ring's length
        n            INTEGER NOT NULL,
        id           TEXT NOT NULL, -- of the turn or call: what is reported twice counts once
        conversation TEXT, -- home/channel/id; null = a one-shot, or no turn
        at           INTEGER NOT NULL, -- epoch ms
        figures      TEXT NOT NULL -- JSON: the turn and its calls
      ) STRICT;

      -- What each agent was asked since the home was set up.
      CREATE TABLE agent_calls (
        agent   TEXT PRIMARY KEY,
        calls   INTEGER NOT NULL,
        success INTEGER NOT NULL,
        error   INTEGER NOT NULL,
        last_at INTEGER NOT NULL -- epoch ms
      ) STRICT, WITHOUT ROWID;
      INSERT INTO agent_calls
        SELECT agent, COUNT(*), SUM(json_extract(outcome, '$.status') = 'success'),
          SUM(json_extract(outcome, '$.status') <> 'success'), MAX(settled_at)
        FROM call WHERE state = 'settled' GROUP BY agent;

      -- One list of conversations, for people and for back-ups. People's have a principal and a title.
      CREATE TABLE conversation_2 (
        name      TEXT PRIMARY KEY, -- home/channel/id
        principal TEXT, -- who began it; null = it is in no person's list
        title     TEXT, -- the first words
        last_at   INTEGER NOT NULL -- epoch ms, of its newest turn, to the minute; a newer one is in usage_report
      ) STRICT, WITHOUT ROWID;
      INSERT INTO conversation_2 SELECT name, principal, title, last_at FROM conversation;
      INSERT OR IGNORE INTO conversation_2 (name, last_at) SELECT name, last_turn_at FROM kept_conversation;
      DROP TABLE conversation;
      DROP TABLE kept_conversation;
      ALTER TABLE conversation_2 RENAME TO conversation;
    `,
  },
  {
    version: 18,
    sql: `
      -- The actions that agents advertise, once for all agents that advertise the same (advert-store.ts).
      CREATE TABLE advert (
        hash  TEXT PRIMARY KEY, -- of the tools; 'of ' and an agent's id: of an older version
        names TEXT, -- JSON: what lists show; null: of an older version
        tools TEXT NOT NULL -- JSON: list of ActionAdvert
      ) STRICT, WITHOUT ROWID;
      INSERT INTO advert SELECT 'of ' || id, NULL, tools FROM agent WHERE tools <> '[]';
      -- An agent as the bridge reported it last. Written on changes only; heartbeats end at the bridge.
      CREATE TABLE agent_2 (
        id           TEXT PRIMARY KEY,
        online       INTEGER NOT NULL,
        reason       TEXT,
        last_seen    INTEGER, -- epoch ms; of an agent that is online older than bridge.vouched_at
        is_foreign   INTEGER NOT NULL, -- speaks only EvoClaw's shapes
        line         TEXT NOT NULL, -- its advert, on one line
        type         TEXT,
        version      TEXT,
        features     TEXT NOT NULL, -- JSON: list of words
        advert       TEXT NOT NULL, -- its actions; '' = none
        problem      TEXT, -- what is wrong with what it advertises
        changed_at   INTEGER NOT NULL,
        accepted     TEXT NOT NULL, -- JSON: the words about itself that an owner accepted
        texts        TEXT NOT NULL DEFAULT '{}', -- JSON: hashes of the texts that were read, and what its presence says
        greeted      TEXT -- the gateway's version and the agent's run at the last greeting
      ) STRICT, WITHOUT ROWID;
      INSERT INTO agent_2 SELECT id, online, reason, last_seen, is_foreign, line, type, version, features,
        CASE tools WHEN '[]' THEN '' ELSE 'of ' || id END, problem, changed_at, accepted, '{}', NULL FROM agent;
      DROP TABLE agent;
      ALTER TABLE agent_2 RENAME TO agent;
      -- Until when the bridge vouched for the agents that were online.
      ALTER TABLE bridge ADD COLUMN vouched_at INTEGER;
    `,
  },
  {
    version: 19,
    sql: `
      -- The session of each agent's present run (core/protocol/session.ts). Back-ups do not contain it.
      CREATE TABLE agent_session (
        agent        TEXT PRIMARY KEY,
        public_key   TEXT NOT NULL, -- the agent's, for which the session was made
        boot_id      TEXT NOT NULL,
        agent_half   TEXT NOT NULL,
        gateway_half TEXT NOT NULL,
        secret       TEXT NOT NULL -- the three keys, base64url
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 20,
    sql: `
      -- Who gets the outcome (ledger.ts, Asker): JSON. Null: the call's conversation, or a client's socket.
      ALTER TABLE call ADD COLUMN asker TEXT;
      ALTER TABLE agent ADD COLUMN share_group TEXT; -- agents of one group do the same work
      -- What this home lends to others. Back-ups do not contain it, nor the next table.
      CREATE TABLE lent (
        id            TEXT PRIMARY KEY,
        label         TEXT NOT NULL, -- what this home calls the borrower; its principal is home:LABEL
        agents        TEXT NOT NULL, -- JSON: ids
        scopes        TEXT NOT NULL, -- JSON: ask, command
        reads_only    INTEGER NOT NULL,
        expires_at    INTEGER NOT NULL, -- epoch ms, as all times here
        made_by       TEXT NOT NULL,
        made_at       INTEGER NOT NULL,
        secret_hash   TEXT, -- of the invitation; null = taken
        offered_until INTEGER NOT NULL,
        peer_key      TEXT,
        peer_url      TEXT,
        peer_home     TEXT,
        taken_at      INTEGER,
        revoked_at    INTEGER
      ) STRICT, WITHOUT ROWID;
      -- What other homes lend to this one.
      CREATE TABLE borrowed (
        name       TEXT PRIMARY KEY, -- the home of home/agent, chosen here
        grant_id   TEXT NOT NULL,
        url        TEXT NOT NULL,
        home       TEXT NOT NULL, -- its name there
        lender_key TEXT NOT NULL,
        reads_only INTEGER NOT NULL,
        scopes     TEXT NOT NULL, -- JSON
        expires_at INTEGER NOT NULL,
        agents     TEXT NOT NULL, -- JSON: what the lender said of them
        seen_at    INTEGER,
        problem    TEXT,
        by         TEXT NOT NULL,
        at         INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 21,
    sql: `
      -- What people of this home gave to programs over OAuth (oauth/grants.ts). Back-ups contain none of these tables.
      CREATE TABLE oauth_grant (
        id           TEXT PRIMARY KEY,
        record       TEXT NOT NULL, -- of the person's token: an id of the table token, or secret- and a part of the hash
        person       TEXT NOT NULL, -- the principal
        role         TEXT NOT NULL,
        client_hash  TEXT NOT NULL, -- SHA-256 of the client's id, hex
        client_name  TEXT NOT NULL, -- what the client calls itself
        host         TEXT NOT NULL, -- where its sign-in returned to
        scopes       TEXT NOT NULL, -- JSON list
        trusted      INTEGER NOT NULL,
        resource     TEXT NOT NULL, -- the audience of its tokens
        generation   INTEGER NOT NULL, -- of the newest refresh token that was used
        confirmed_at INTEGER, -- epoch ms, as all times here: when that one was first used
        made_at      INTEGER NOT NULL,
        token_at     INTEGER, -- when the client got its first token
        used_at      INTEGER, -- to the hour
        due          INTEGER NOT NULL,
        ended_at     INTEGER,
        ended_by     TEXT -- a person, or the reason
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE oauth_code (
        hash      TEXT PRIMARY KEY, -- SHA-256 of the code, hex
        grant_id  TEXT NOT NULL,
        redirect  TEXT NOT NULL,
        challenge TEXT, -- S256; null: a client with a secret
        due       INTEGER NOT NULL,
        used      INTEGER NOT NULL DEFAULT 0
      ) STRICT, WITHOUT ROWID;
      -- Clients that were entered by hand, and copies of the metadata documents of others.
      CREATE TABLE oauth_client (
        id          TEXT PRIMARY KEY,
        kind        TEXT NOT NULL, -- typed, document
        name        TEXT NOT NULL,
        redirects   TEXT NOT NULL, -- JSON list
        secret_hash TEXT, -- SHA-256, hex
        made_by     TEXT,
        made_at     INTEGER NOT NULL,
        fresh_until INTEGER
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 22,
    sql: `
      -- Of a device that the bridge hosts (core/protocol/devices.ts): JSON. Null: an agent.
      ALTER TABLE agent ADD COLUMN hosted TEXT;
      -- What people decided about hosted devices (devices/device-settings.ts).
      CREATE TABLE device (
        key        TEXT PRIMARY KEY, -- hash of its identifiers
        name       TEXT, -- null = the publisher's, as is the area
        area       TEXT,
        mode       TEXT CHECK (mode IN ('off', 'read', 'ask')), -- null = as the bridge's setting says
        allow      TEXT, -- the hash that was allowed; null = nothing
        allowed_by TEXT,
        allowed_at INTEGER, -- epoch ms
        changed_by TEXT NOT NULL,
        changed_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 23,
    sql: `
      -- A watch or a reminder (core/rules). Times are epoch ms.
      CREATE TABLE rule (
        id      TEXT PRIMARY KEY,
        rule    TEXT NOT NULL, -- JSON: WatchRule or Reminder
        maker   TEXT NOT NULL, -- JSON: who made it, and where
        to_whom TEXT, -- 'owners' or a conversation (recipients.ts); null: its maker
        status  TEXT NOT NULL CHECK (status IN ('active', 'paused', 'orphaned')),
        why     TEXT, -- of a status other than active, or of what was not delivered
        record  TEXT, -- JSON: what was told of a watch (DeliveryRecord)
        state   TEXT, -- JSON: of a watch that is evaluated here (RuleState)
        said    TEXT NOT NULL, -- JSON: who heard of the newest firing, and when something was said (Said)
        due     INTEGER, -- of a reminder its next time; of a watch when something is to be said
        handled INTEGER, -- of a reminder: up to this time all is done
        made_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      -- A firing is a row before it is said.
      CREATE TABLE firing (
        rule       TEXT NOT NULL,
        occurrence INTEGER NOT NULL, -- of a reminder: its time
        at         INTEGER NOT NULL,
        until      INTEGER, -- null: it goes on, or was a moment
        value      TEXT, -- JSON
        taken_at   INTEGER NOT NULL, -- when Home learned of it
        acked_by   TEXT,
        PRIMARY KEY (rule, occurrence)
      ) STRICT, WITHOUT ROWID;
      -- What a conversation, browser or topic has to get; gone when it has it.
      CREATE TABLE notice (
        id        TEXT PRIMARY KEY,
        recipient TEXT NOT NULL, -- home/channel/id, or an outlet's id
        rule      TEXT NOT NULL,
        notice    TEXT NOT NULL, -- JSON
        made_at   INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      -- What agents without a key said of their own accord: JSON, the times of the last hour.
      CREATE TABLE unasked (agent TEXT PRIMARY KEY, said TEXT NOT NULL) STRICT, WITHOUT ROWID;
      -- Since when the bridge was gone when that was told.
      ALTER TABLE bridge ADD COLUMN gone_told INTEGER;
    `,
  },
  {
    version: 24,
    sql: `
      -- A browser (Web Push) or a topic of ntfy, where a person is told what rules say.
      CREATE TABLE outlet (
        id        TEXT PRIMARY KEY,
        principal TEXT NOT NULL,
        token     TEXT, -- the id of the token that turned it on; null: one of API_TOKENS
        origin    TEXT NOT NULL, -- where the person reaches the gateway
        name      TEXT NOT NULL,
        target    TEXT NOT NULL, -- JSON: BrowserTarget or NtfyTarget
        made_at   INTEGER NOT NULL,
        problem   TEXT
      ) STRICT, WITHOUT ROWID;
      -- The gateway's key for push services (VAPID).
      CREATE TABLE push_key (
        one         INTEGER PRIMARY KEY CHECK (one = 1),
        public_key  TEXT NOT NULL,
        private_key TEXT NOT NULL
      ) STRICT;
      -- Links of buttons that were pressed, until they end.
      CREATE TABLE used_link (
        id    TEXT PRIMARY KEY,
        until INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    version: 25,
    sql: `
      -- What an owner decided about the home's clock (clock.ts).
      CREATE TABLE clock (
        one         INTEGER PRIMARY KEY CHECK (one = 1),
        zone        TEXT, -- null: as the setting says
        quiet_hours TEXT, -- as in the setting; null as above
        changed_by  TEXT NOT NULL,
        changed_at  INTEGER NOT NULL
      ) STRICT;
    `,
  },
  {
    version: 26,
    sql: `
      -- What the endpoints of models refuse (usage/model-habits.ts).
      CREATE TABLE model_habit (
        source TEXT PRIMARY KEY, -- address and model
        habits TEXT NOT NULL CHECK (json_valid(habits)),
        until  INTEGER NOT NULL -- epoch ms
      ) STRICT, WITHOUT ROWID;
      -- Pictures and files that devices sent, as clients list them (files/file-list.ts). Those of before are not in it.
      CREATE TABLE file (
        at         INTEGER NOT NULL, -- epoch ms
        id         TEXT NOT NULL, -- names the conversation that has its bytes
        ends_at    INTEGER NOT NULL,
        principal  TEXT, -- who began the conversation
        agent      TEXT NOT NULL,
        action     TEXT, -- null: a question in words
        media_type TEXT NOT NULL,
        bytes      INTEGER NOT NULL,
        PRIMARY KEY (at, id)
      ) STRICT, WITHOUT ROWID;
      -- Approvals of one reply of a model that a person gives together (questions/together.ts). group_key: those with the same
      -- one belong together; null: the question stands alone. listed_in: the id of the question that lists it; the
      -- question that lists others has its own id there; null: it is not listed yet.
      ALTER TABLE question ADD COLUMN group_key TEXT;
      ALTER TABLE question ADD COLUMN listed_in TEXT;
    `,
  },
  {
    version: 27,
    sql: `
      -- 1: a person wants the settings of a hosted device to be offered as actions (devices/device-settings.ts).
      ALTER TABLE device ADD COLUMN offers_settings INTEGER NOT NULL DEFAULT 0;
    `,
  },
  {
    version: 28,
    sql: `
      -- Devices that were allowed up to 0.3, when an allowance covered less, until the bridge says whether it still holds.
      CREATE TABLE earlier_allowance (
        key        TEXT PRIMARY KEY, -- of the device
        void_since INTEGER -- epoch ms: it holds no more, and the owners have to be told; null: not known yet
      ) STRICT, WITHOUT ROWID;
      INSERT INTO earlier_allowance (key) SELECT key FROM device WHERE allow IS NOT NULL;
    `,
  },
  {
    version: 29,
    sql: `
      -- What is wrong with an agent, as it says itself and as the bridge sees it, and with the bridge (core/conditions).
      ALTER TABLE agent ADD COLUMN conditions TEXT NOT NULL DEFAULT '{"own":[],"seen":[]}' CHECK (json_valid(conditions));
      ALTER TABLE bridge ADD COLUMN conditions TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(conditions));
    `,
  },
];
