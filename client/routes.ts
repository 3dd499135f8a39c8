/** The operations of the gateway's API and their types. `npm run api` makes this file: do not edit it. */

export type Routes = {
  /** Says where programs sign in that want to use `/mcp` (RFC 9728) */
  "GET /.well-known/oauth-protected-resource/mcp": {
    answer: {
      resource: string;
      authorization_servers: Array<string>;
      scopes_supported: ["ask", "command"];
      bearer_methods_supported: Array<string>;
    };
  };

  /** Asks one question as plain text and answers with plain text */
  "POST /ask": {
    headers?:
      | {
          /** `wait=N`: how many seconds the caller waits for the answer. */
          prefer?: string | undefined;
        }
      | undefined;
    body: string;
    answer: string;
  };

  /** Says that the gateway answers, and its version */
  "GET /healthz": { answer: { ok: boolean; version: string } };

  /** Shows the home's figures for Prometheus */
  "GET /metrics": { answer: string };

  /** Trades a code for keys */
  "POST /pair": {
    body: {
      code: string;
      agent_id: string;
      public_key: string;
      name?: string | undefined;
      broker_login?: string | undefined;

      /** The device is also the home's bridge. `broker`: the broker whose files it writes, as devices reach it. */
      bridge?: { public_key: string; broker?: string | undefined } | undefined;
    };
    answer: {
      gateway_key: string;
      broker_login: BrokerLoginState;
      online: boolean;
      home: string;
      agent_id: string;
      broker: { url: string; username?: string; password?: string } | null;
    };
  };

  /** Lists the home's agents, page by page */
  "GET /v1/agents": {
    query?:
      | {
          limit?: number | undefined;

          /** `next` of the page before. */
          after?: string | undefined;

          /** Words to find agents by. */
          q?: string | undefined;

          /** Only those that are online, or only the others. */
          online?: "yes" | "no" | undefined;
        }
      | undefined;
    answer: AgentPage;
  };

  /** Shows one agent */
  "GET /v1/agents/{agent}": { path: { agent: string }; answer: AgentView };

  /** Removes a device that is gone from the list */
  "DELETE /v1/agents/{agent}": { path: { agent: string }; answer: undefined };

  /** Accepts the texts by which a device describes itself to a model */
  "POST /v1/agents/{agent}/accept-text": {
    path: { agent: string };
    body?:
      | {
          /** The line that the person read: another line that came meanwhile is not accepted. */
          line?: string | undefined;
        }
      | undefined;
    answer: undefined;
  };

  /** Sends one command to one agent and answers with its report; `running` when the report takes longer than `wait` */
  "POST /v1/agents/{agent}/commands": {
    path: { agent: string };
    query?:
      | {
          /** Seconds to wait for the report; 0 answers with the command's id at once. */
          wait?: number | undefined;
        }
      | undefined;
    body: {
      /** Home checks that an agent of ours knows the command; a foreign agent may know others. */
      command: string;
      payload?: Record<string, unknown> | undefined;
    };
    answer: CommandReport | Running;
  };

  /** Shows a command that took longer than its request waited */
  "GET /v1/agents/{agent}/commands/{request}": {
    path: { agent: string; request: string };
    query?:
      | {
          /** Seconds to wait for the report. */
          wait?: number | undefined;
        }
      | undefined;
    answer: CommandReport | Running;
  };

  /** Stores a device's key, or replaces it */
  "POST /v1/agents/{agent}/key": {
    path: { agent: string };
    body: {
      public_key: string;

      /** Made with the previous key (`pi-agent --new-key` prints it). Not needed when there is no previous key, or it was revoked. */
      signature?: string | undefined;
      name?: string | undefined;
    };
    answer: { agent: string; fingerprint: string; gateway_key: string };
  };

  /** Revokes the key at once: the gateway refuses the device's next message */
  "DELETE /v1/agents/{agent}/key": { path: { agent: string }; answer: undefined };

  /** Lets a paired device in again that lost its counter.json after its clock was ahead */
  "POST /v1/agents/{agent}/readmit": { path: { agent: string }; answer: undefined };

  /** Shows the turn of a question to `/ask`; while it runs, with what it waits for */
  "GET /v1/ask/{id}": { path: { id: string }; answer: TurnResult };

  /** Lists the lines of the audit log, the newest first */
  "GET /v1/audit": {
    query?:
      | {
          /** An agent's id. */
          agent?: string | undefined;
          tool?: string | undefined;
          result?: "success" | "error" | undefined;

          /** A call's id: that call, what it was made of, and what its agents asked of others. */
          chain?: string | undefined;

          /** ISO 8601, UTC. */
          since?: string | undefined;

          /** ISO 8601, UTC. */
          until?: string | undefined;
          limit?: number | undefined;

          /** Devices bring their lines within seconds, for the next half a minute. */
          follow?: "yes" | "no" | undefined;
        }
      | undefined;
    answer: {
      entries: Array<{
        /** ISO 8601, by the device's clock. */
        timestamp: string;
        agent_id: string;
        tool: string;

        /** Without secrets; cut when they are long. */
        parameters: unknown;
        result: "error" | "success";
        error_type?: string;

        /** Why the call failed or was refused. */
        error?: string;
        exit_code: number | null;

        /** false: of a `prompt` for which the device's model called no tool. */
        asked?: boolean;
        elapsed_ms: number;

        /** The ids of the call, and of the command that it belongs to (its own, or the prompt's). */
        call_id: string;
        request_id: string;
        caller: { principal: string; role: string; channel: string };

        /** The person's answer when the call needed an approval; `by` is missing when nobody answered. */
        approval?: { approved: boolean; by?: string; at: string };
      }>;
      more: boolean;
    };
  };

  /** Exports every line that matches the query, in order of arrival, as lines of JSON */
  "GET /v1/audit/export": {
    query?:
      | {
          /** An agent's id. */
          agent?: string | undefined;
          tool?: string | undefined;
          result?: "success" | "error" | undefined;

          /** A call's id: that call, what it was made of, and what its agents asked of others. */
          chain?: string | undefined;

          /** ISO 8601, UTC. */
          since?: string | undefined;

          /** ISO 8601, UTC. */
          until?: string | undefined;

          /** From the last line of the previous export, for the lines since then. */
          after?: number | undefined;
        }
      | undefined;
    answer: string;
  };

  /** Borrows the agents of an invitation */
  "POST /v1/borrowing": {
    body: {
      invitation: string;

      /** The first part of the agents' ids here. */
      name: string;
    };
    answer: { borrowed: BorrowedView };
  };

  /** Gives borrowed agents back */
  "DELETE /v1/borrowing/{name}": { path: { name: string }; answer: undefined };

  /** Accepts the texts by which borrowed agents describe themselves to a model */
  "POST /v1/borrowing/{name}/accept-text": { path: { name: string }; answer: undefined };

  /** Tells the bridge to install the gateway's program */
  "POST /v1/bridge/update": { answer: { id: string } };

  /** Lists the connections to chat apps */
  "GET /v1/connections": { answer: Connections };

  /** Checks the token, stores the connection, and makes the platform deliver here */
  "POST /v1/connections": {
    body: {
      channel: "telegram" | "slack" | "discord";
      connection: string;
      token: string;

      /** Slack's signing secret. The gateway makes Telegram's, and Discord has none. */
      secret?: string | undefined;

      /** An address of the platform's API in place of the usual one. */
      base_url?: string | undefined;
    };
    answer: MadeConnection;
  };

  /** Asks the platform for the token's bot and the state of deliveries */
  "GET /v1/connections/{channel}/{connection}": {
    path: { channel: string; connection: string };
    answer: ConnectionState;
  };

  /** Disconnects from a chat app and forgets its secrets */
  "DELETE /v1/connections/{channel}/{connection}": {
    path: { channel: string; connection: string };
    answer: undefined;
  };

  /** Makes the platform deliver here: for a connection of CHANNELS, or after the gateway's address has changed */
  "POST /v1/connections/{channel}/{connection}/webhook": {
    path: { channel: string; connection: string };
    answer: {
      channel: string;
      connection: string;
      kept_in: "CHANNELS" | "console";
      webhook: string;

      /** True when the console can check it; other connections are set up by hand. */
      checks: boolean;
      made_by?: string;
      made_at?: number;
      todo: Array<string>;
    };
  };

  /** Returns an agent's actions as it advertises them, with their schemas */
  "GET /v1/console/agents/{agent}/actions": {
    path: { agent: string };
    answer: {
      actions: Array<{
        name: string;
        description: string;

        /** JSON Schema of its parameters. */
        parameters: Record<string, unknown>;

        /** Its default time-out; the gateway waits 10 s longer. */
        timeout_ms?: number;

        /** `read` runs without asking; everything else may need an approval. */
        effect?: "device" | "exec" | "network" | "read" | "write";

        /** It may run again when its outcome is unknown. */
        idempotent?: boolean;

        /** It returns a stranger's text (a file, the web, a picture), which taints the conversation. */
        taints?: boolean;

        /** How long (ms) a call may wait for the agent to come online; absent = it fails at once when the agent is offline. */
        queue_ms?: number;

        /** Of a hosted device: a person is asked each time. */
        danger?: boolean;

        /** The reason, for a person: `it moves a lock`. */
        danger_why?: string;

        /** Of a hosted device: it changes a setting, and is offered only where a person wants that. */
        setting?: boolean;

        /** Of a hosted device: the broker keeps the command, and repeats it when the device comes back. */
        retained?: boolean;
      }>;
    };
  };

  /** Returns the session */
  "GET /v1/console/session": { answer: SessionView };

  /** Signs in with the `token` in the body, or without one through Cloudflare Access */
  "POST /v1/console/session": { body: { token?: string | undefined }; answer: SessionView };

  /** Signs out */
  "DELETE /v1/console/session": { answer: undefined };

  /** Returns the model usage of the last days and the limits */
  "GET /v1/console/usage": { answer: UsageView };

  /** Lists the conversations that the caller may see, the last used first */
  "GET /v1/conversations": {
    query?:
      | {
          limit?: number | undefined;

          /** `next` of the page before. */
          after?: string | undefined;

          /** Words of the title. */
          q?: string | undefined;

          /** Those of everybody, for owners and administrators. */
          all?: "yes" | "no" | undefined;
        }
      | undefined;
    answer: { conversations: Array<ListedConversation>; next: string | null };
  };

  /** Shows the newest turns of a conversation, those before a place first */
  "GET /v1/conversations/{id}": {
    path: { id: string };
    query?:
      | {
          /** `before` of the page before. */
          before?: number | undefined;
          limit?: number | undefined;
        }
      | undefined;
    answer: { turns: Array<PastTurn>; before: number | null; id: string };
  };

  /** Renames a conversation */
  "PATCH /v1/conversations/{id}": {
    path: { id: string };
    body: { title: string };
    answer: { id: string; title: string };
  };

  /** Deletes a conversation with its turns and files */
  "DELETE /v1/conversations/{id}": { path: { id: string }; answer: undefined };

  /** Streams the events of every turn of a conversation, later turns included, whichever channel they come from */
  "GET /v1/conversations/{id}/events": { path: { id: string }; answer: never; events: ConversationEvent };

  /** Begins a turn and answers with its result: as events where the client accepts them, else as JSON within 25 s, or within the time that the client prefers */
  "POST /v1/conversations/{id}/messages": {
    path: { id: string };
    headers?:
      | {
          /** `wait=N`: how many seconds the client waits for the answer as JSON. */
          prefer?: string | undefined;

          /** The same key again gets the same turn: a request can be repeated when its answer was lost. */
          "idempotency-key"?: string | undefined;

          /** `cancel`: the turn is cancelled when the client hangs up. */
          "edgecall-on-hangup"?: string | undefined;
        }
      | undefined;
    body: {
      text: string;

      /** The message joins a turn that still waits, as when a person sends several messages in a row in a chat. */
      merge?: boolean | undefined;

      /** The name of a configured model. */
      model?: string | undefined;

      /** Another model may answer when the named one is down. */
      fallback?: boolean | undefined;
      images?: Array<string> | undefined;
    };
    answer: TurnResult | TurnResult | { turn: string; status: "running" };
    events: TurnEvent;
  };

  /** Shares a conversation with exactly these tokens */
  "POST /v1/conversations/{id}/share": {
    path: { id: string };
    body: { with: Array<string> };
    answer: { id: string; shared_with: Array<string> };
  };

  /** Shows a turn, finished or not */
  "GET /v1/conversations/{id}/turns/{turn}": { path: { id: string; turn: string }; answer: TurnResult };

  /** Cancels a turn: its devices are told to stop */
  "POST /v1/conversations/{id}/turns/{turn}/cancel": {
    path: { id: string; turn: string };
    answer: TurnResult;
  };

  /** Streams the events of a turn to its end: those so far, then those to come */
  "GET /v1/conversations/{id}/turns/{turn}/events": {
    path: { id: string; turn: string };
    headers?:
      | {
          /** The id of the last event that the client has. */
          "last-event-id"?: number | undefined;
        }
      | undefined;
    answer: never;
    events: TurnEvent;
  };

  /** Makes a code that pairs one new device */
  "POST /v1/device-codes": {
    body: {
      /** The agent whose key the code may replace; `@bridge` for the home's bridge. */
      agent?: "@bridge" | string | undefined;

      /** What the device is told about its broker. */
      broker?: { url: string; username?: string | undefined; password?: string | undefined } | undefined;
    };
    answer: { code: string; command: string; expires_at: number };
  };

  /** Shows the state of a code: `open`, `used` (with the agent and whether it is online) or `expired` */
  "GET /v1/device-codes/{code}": {
    path: { code: string };
    answer:
      | { state: "expired" | "open"; online?: boolean; fingerprint?: string }
      | { state: "used"; agent: string; online?: boolean; fingerprint?: string };
  };

  /** Lists the hosted devices of the home with what they report */
  "GET /v1/devices": {
    query?:
      | {
          /** Also readings that are diagnostic or settings. */
          all?: "yes" | "no" | undefined;
        }
      | undefined;
    answer: DeviceList;
  };

  /** Gives a hosted device a name and an area, and says what may be done with it */
  "PATCH /v1/devices/{device}": {
    path: { device: string };
    body: {
      /** Null: the publisher's. */
      name?: string | null | undefined;

      /** Null: the publisher's. */
      area?: string | null | undefined;

      /** Null: as the bridge's setting MQTT_DEVICES says. */
      mode?: "off" | "read" | "ask" | "allowed" | null | undefined;

      /** Its settings are offered as actions, and each use of one asks a person. */
      settings?: boolean | undefined;

      /** `allow` of the device as the person saw it: a device that changed since is not allowed. Needed with the mode `allowed`. */
      allow?: string | undefined;
    };
    answer: DeviceView;
  };

  /** Forgets a hosted device that is gone, and what was decided about it */
  "DELETE /v1/devices/{device}": { path: { device: string }; answer: undefined };

  /** Exports the home and its conversations as lines of JSON */
  "GET /v1/export": { answer: string };

  /** Shows the home's time zone and quiet hours */
  "GET /v1/home/clock": { answer: ClockView };

  /** Sets the home's time zone and quiet hours, in place of the gateway's settings */
  "PATCH /v1/home/clock": {
    body: {
      /** An IANA name, as `Europe/Berlin`; null: as the setting TIMEZONE says. */
      zone?: string | null | undefined;

      /** `22:00-07:00`, or `off`; null: as the setting QUIET_HOURS says. */
      quiet_hours?: string | null | undefined;
    };
    answer: ClockView;
  };

  /** Replaces the home and its conversations by an export */
  "POST /v1/import": {
    query: {
      /** Has to be `yes`, because the import replaces what the home has now. */
      replace: string;
    };
    body: string;
    answer: { objects: number; rows: number };
  };

  /** Lists the devices' keys and the agents without one, page by page, and shows the gateway's key */
  "GET /v1/keys": {
    query?:
      | {
          /** Of `unsigned`, too. */
          limit?: number | undefined;

          /** `next` of the page before. */
          after?: string | undefined;

          /** A part of the agent's id or of the key's name. */
          q?: string | undefined;
        }
      | undefined;
    answer: {
      gateway: { public_key: string; fingerprint: string };
      keys: Array<{
        agent: string;
        public_key: string;
        name: string;
        enrolled_at: number;
        revoked_at: number | null;
        fingerprint: string;
      }>;
      next: string | null;
      total: number;
      unsigned: Array<{ agent: string; served: boolean }>;
      unsigned_total: number;
    };
  };

  /** Lists the grants that this home lends and borrows */
  "GET /v1/lending": { answer: LendingView };

  /** Lends agents to another home */
  "POST /v1/lending": {
    body: {
      /** This home's name for the borrower. */
      label: string;
      agents: Array<string>;
      scopes: Array<"ask" | "command">;
      reads_only: boolean;
      expires_in_days: number;
    };
    answer: { invitation: string; lent: LentView };
  };

  /** Takes lent agents back at once */
  "DELETE /v1/lending/{grant}": { path: { grant: string }; answer: undefined };

  /** Shows a picture or file of a conversation that the caller may see, or of a command's report */
  "GET /v1/media/{id}": { path: { id: string }; answer: Blob };

  /** Lists the clients that were entered by hand */
  "GET /v1/oauth/clients": { answer: { clients: Array<OauthClientView> } };

  /** Enters a client by hand */
  "POST /v1/oauth/clients": {
    body: {
      name: string;
      redirect_uris: Array<string>;

      /** True for a client that authenticates by a secret, and may do without PKCE. */
      secret: boolean;
    };
    answer: { client_id: string; client_secret?: string } | { client_id: string; client_secret: string };
  };

  /** Removes a client, and ends the connections of its programs */
  "DELETE /v1/oauth/clients/{id}": { path: { id: string }; answer: undefined };

  /** Lists the programs that the caller has connected; with `admin`, everybody's */
  "GET /v1/oauth/grants": { answer: { grants: Array<OauthGrantView> } };

  /** Disconnects a program: its next request gets 401 */
  "DELETE /v1/oauth/grants/{id}": { path: { id: string }; answer: undefined };

  /** Returns the home's key for push services, and where the caller is told what rules say */
  "GET /v1/push": { answer: PushView };

  /** Adds a browser by its subscription for Web Push */
  "POST /v1/push/browsers": {
    body: {
      endpoint: string;
      keys: { p256dh: string; auth: string };

      /** For people, such as the browser's. */
      name?: string | undefined;
    };
    answer: SubscriptionView;
  };

  /** Presses a button of a message of ntfy */
  "POST /v1/push/press/{link}": { path: { link: string }; answer: Pressed };

  /** Adds a topic of ntfy, by its address */
  "POST /v1/push/topics": {
    body: {
      url: string;

      /** An access token of the server. */
      token?: string | undefined;
    };
    answer: SubscriptionView;
  };

  /** Removes a browser or topic of the caller's */
  "DELETE /v1/push/{outlet}": { path: { outlet: string }; answer: undefined };

  /** Lists the open questions and approvals that the caller may see, the oldest first */
  "GET /v1/questions": { answer: QuestionList };

  /** Streams the list of open questions, again after each change */
  "GET /v1/questions/events": { answer: never; events: QuestionsEvent };

  /** Answers a question or an approval that the caller may see */
  "POST /v1/questions/{id}": { path: { id: string }; body: { answer: string }; answer: OpenQuestion };

  /** Lists the caller's rules, and to administrators all of the home */
  "GET /v1/rules": { answer: RuleList };

  /** Changes a rule: pauses, resumes or edits it */
  "PATCH /v1/rules/{rule}": {
    path: { rule: string };
    body: {
      status?: "active" | "paused" | undefined;

      /** Of a watch. */
      name?: string | undefined;

      /** Of a watch: the number, text or boolean that the reading is compared with. */
      value?: number | string | boolean | undefined;

      /** Of a watch: how long it has to be so. */
      for_minutes?: number | undefined;

      /** Of a watch. */
      repeat?: "once" | "each_time" | "until_ack" | undefined;

      /** Of a watch: the hours of the home's clock in which it counts, `08:00-20:00`; null: all. */
      only_between?: string | null | undefined;

      /** Of a watch. `critical` is for owners. */
      severity?: "info" | "warning" | "critical" | undefined;

      /** Of a watch: words that are added to its messages; null: none. */
      say?: string | null | undefined;

      /** Of a watch: who is told where nobody answers within `after_minutes`, as `to` of the tool `watch`; null: nobody. */
      then_to?: { to: string; after_minutes: number } | null | undefined;

      /** Of a reminder. */
      text?: string | undefined;
    };
    answer: RuleView;
  };

  /** Removes a rule, with its history */
  "DELETE /v1/rules/{rule}": { path: { rule: string }; answer: undefined };

  /** Answers a firing, as a button of its message does */
  "POST /v1/rules/{rule}/press": {
    path: { rule: string };
    body: {
      do: "ack" | "snooze" | "stop";

      /** The firing that is meant. Absent: the one that goes on. */
      occurrence?: number | undefined;

      /** Of `snooze`: 60 unless it says otherwise. */
      minutes?: number | undefined;
    };
    answer: Pressed;
  };

  /** Lists the strangers who ask to be let in, and the people who were let in */
  "GET /v1/senders/requests": { answer: { pairings: Array<PairingRequest>; senders: Array<AdmittedSender> } };

  /** Lets a stranger in */
  "POST /v1/senders/requests/{code}": {
    path: { code: string };
    body?: { role?: "owner" | "member" | "guest" | undefined } | undefined;
    answer: AdmittedSender;
  };

  /** Refuses a stranger */
  "DELETE /v1/senders/requests/{code}": { path: { code: string }; answer: undefined };

  /** Removes a person whom a code let in */
  "DELETE /v1/senders/{channel}/{connection}/{sender}": {
    path: { channel: string; connection: string; sender: string };
    answer: undefined;
  };

  /** Shows the state of the home: its bridge, its agents and the calls that are open */
  "GET /v1/status": {
    answer: {
      home: string;
      version: string;
      bridge: {
        online: boolean;
        id: string | null;
        version: string | null;
        connected_at: number | null;
        last_seen: number | null;

        /** True when it can update itself on command; null while it is offline. */
        updates: boolean | null;

        /** The last update command. */
        update: BridgeUpdate | null;

        /** The reason why it is not served. */
        problem?: string;

        /** What the gateway sees of it, and what it says itself while it is connected. Absent: nothing. */
        conditions?: Array<ShownCondition>;
      };

      /** What is wrong with the gateway itself: its disk is full, its rows are damaged. Absent: nothing. */
      conditions?: Array<ShownCondition>;

      /** `over`: agents beyond `max`, of which nothing is stored. Absent: there are none. */
      agents: { known: number; online: number; max?: number; over?: number };

      /** The state of the audit log's outside store; absent when there is none. */
      audit?: OutletState;
      calls: Array<{
        id: string;
        agent: string;
        command: string;
        state: string;
        since: number;
        deadline: number;
      }>;
    };
  };

  /** Lists the tokens of the home */
  "GET /v1/tokens": { answer: { tokens: Array<TokenView> } };

  /** Makes a token */
  "POST /v1/tokens": {
    body: {
      name: string;
      role: "owner" | "member" | "guest";
      scopes: Array<"ask" | "command" | "approve" | "admin" | "metrics">;
      expires_in_days?: number | undefined;
    };
    answer: { token: string; record: TokenView };
  };

  /** Replaces the owner's token of this machine */
  "POST /v1/tokens/rotate": { answer: { token: string } };

  /** Revokes a token and its sessions of the console, from the next request on */
  "DELETE /v1/tokens/{id}": {
    path: { id: string };
    query?:
      | {
          /** Revokes the tokens that it made as well, and answers with all of them. */
          made?: "yes" | "no" | undefined;
        }
      | undefined;
    answer: { revoked: Array<TokenView> } | undefined;
  };
};

export type AdmittedSender = {
  channel: string;
  connection: string;
  sender: string;
  name: string;
  role: "guest" | "member" | "owner";
  approved_by: string;
  approved_at: number;
};

/** In the order of their ids; agents that were found by what words mean, the best first. */
export type AgentPage = {
  agents: Array<AgentView>;

  /** to go on from; null: this was the last page */
  next: string | null;

  /** how many fit the query, on all pages; `online` of them are online */
  total: number;
  online: number;

  /** calls of all that fit, on all pages */
  counts: { calls: number; success: number; error: number; open: number };
};

/** An agent of `GET /v1/agents`. */
export type AgentView = {
  id: string;
  online: boolean;

  /** `running`: it has an open call or a job. */
  status: "idle" | "offline" | "running";
  reason?: string;
  last_seen: number | null;
  last_active: number | null;
  type: string | null;
  version: string | null;
  capabilities: string;

  /** As it says itself. It counts once its texts are accepted. */
  group?: string;
  foreign: boolean;

  /** A device of the broker that the bridge hosts. `GET /v1/devices` has more of it. */
  hosted?: true;

  /** True when it has a valid key. */
  paired: boolean;
  features: Array<string>;
  actions: Array<string>;

  /** The text of the first condition that is wrong. */
  problem?: string;

  /** What the agent, the bridge and the gateway see of it. Absent: nothing. */
  conditions?: Array<ShownCondition>;

  /** Its texts about itself that nobody has accepted yet; until then they taint calls to others. `was`: the previous line. `by_use`: they are the first ones of an agent that only `ALLOW_UNSIGNED_AGENTS=*` lets in, and do not taint calls to other such agents. */
  new_text?: { line?: string; was?: string; actions: Array<string>; group?: string; by_use?: true };
  counts: { calls: number; success: number; error: number; open: number };
};

/** The agents that another home lends, as this home sees them. Times: epoch ms. */
export type BorrowedView = {
  name: string;

  /** The lender's address; null: it is at this gateway. */
  url: string | null;
  agents: Array<{ id: string; online: boolean; line: string; actions: Array<string>; new_text?: true }>;
  scopes: Array<GrantScope>;
  reads_only: boolean;
  expires_at: number;
  seen_at: number | null;
  problem: string | null;
  by: string;
  at: number;
};

/** The last update of the bridge; `ok` is null while it runs. */
export type BridgeUpdate = { id: string; ok: boolean | null; text: string };

/** `sent`: the bridge has the login's hash; `waiting`: it gets the hash when it connects; null: the bridge writes no broker's files. */
export type BrokerLoginState = "sent" | "waiting" | null;

export type CallProgress = { call: string; tool?: string; text: string };

/** A call as it is shown beside an answer, so that a person can compare the answer's claims with what happened. */
export type CallRecord = {
  id: string;
  name: string;
  agent?: string;
  action?: string;
  query?: string;
  args?: Record<string, unknown>;

  /** The id of an equal call of the same reply: that one ran, and this one did not. */
  same_as?: string;
  status: "error" | "pending" | "success";
  error_type?:
    | "execution_failed"
    | "invalid_params"
    | "not_found"
    | "offline"
    | "outcome_unknown"
    | "permission_denied"
    | "timeout";
  error?: string;
  result?: string;

  /** The agent's own model called no tool for its answer, so nothing was done or measured. Absent: it called some, or does not say. */
  asked?: false;

  /** Text for the person when it says more than the result, such as the diff of an edit. The model does not get it. */
  for_user?: string;
  elapsed_ms?: number;

  /** Time spent waiting besides that: for a person, other calls or the connection. */
  waited_ms?: number;

  /** Each is served at `/v1/media/{id}`. */
  media?: Array<StoredMedia>;
  calls?: Array<CallRecord>;
};

export type ClockView = {
  zone: string;

  /** `22:00-07:00`; null: there are none. */
  quiet_hours: string | null;

  /** The person who decided it; null: the gateway's settings say it. */
  changed_by: string | null;
};

/** The report of an agent to a command: a success, also when it reports a failure. */
export type CommandReport = {
  request_id: string;
  agent: string;
  report_type: string;
  payload: Record<string, unknown>;
  elapsed_ms: number;
};

/** `GET /v1/connections/{channel}/{connection}`. `here`: the platform delivers to this gateway. */
export type ConnectionState = {
  channel: string;
  connection: string;
  kept_in: "CHANNELS" | "console";
  webhook: string;

  /** True when the console can check it; other connections are set up by hand. */
  checks: boolean;
  made_by?: string;
  made_at?: number;
  account: string;
  link?: string;
  deliveries: {
    /** The address of deliveries; null: none yet; absent: the platform does not tell. */
    webhook?: string | null;

    /** Updates that wait to be delivered. */
    waiting?: number;
    last_error?: string;

    /** Epoch ms. */
    last_error_at?: number;
    here?: boolean;
  };
};

/** A connection of a chat app. */
export type ConnectionView = {
  channel: string;
  connection: string;
  kept_in: "CHANNELS" | "console";
  webhook: string;

  /** True when the console can check it; other connections are set up by hand. */
  checks: boolean;
  made_by?: string;
  made_at?: number;
};

/** `GET /v1/connections`. `origin`: this gateway's address for platforms. */
export type Connections = { origin: string; connections: Array<ConnectionView> };

/** An event of `GET /v1/conversations/{id}/events`: `data` names the turn that it is of. `open` comes first. */
export type ConversationEvent =
  | ConversationEventAccepted
  | ConversationEventCall
  | ConversationEventDelta
  | ConversationEventDone
  | ConversationEventMessage
  | ConversationEventOpen
  | ConversationEventProbe
  | ConversationEventProgress
  | ConversationEventQuestion
  | ConversationEventReset
  | ConversationEventTurn
  | ConversationEventWaiting;

export type ConversationEventAccepted = {
  event: "accepted";
  data: { call: string; at: number; turn: string };
};

export type ConversationEventCall = {
  event: "call";
  data: {
    id: string;
    name: string;
    agent?: string;
    action?: string;
    query?: string;
    args?: Record<string, unknown>;

    /** The id of an equal call of the same reply: that one ran, and this one did not. */
    same_as?: string;
    status: "error" | "pending" | "success";
    error_type?:
      | "execution_failed"
      | "invalid_params"
      | "not_found"
      | "offline"
      | "outcome_unknown"
      | "permission_denied"
      | "timeout";
    error?: string;
    result?: string;

    /** The agent's own model called no tool for its answer, so nothing was done or measured. Absent: it called some, or does not say. */
    asked?: false;

    /** Text for the person when it says more than the result, such as the diff of an edit. The model does not get it. */
    for_user?: string;
    elapsed_ms?: number;

    /** Time spent waiting besides that: for a person, other calls or the connection. */
    waited_ms?: number;

    /** Each is served at `/v1/media/{id}`. */
    media?: Array<StoredMedia>;
    calls?: Array<CallRecord>;
    turn: string;
  };
};

export type ConversationEventDelta = { event: "delta"; data: { text: string; at: number; turn: string } };

export type ConversationEventDone = { event: "done"; data: TurnResult };

export type ConversationEventMessage = {
  event: "message";
  data: { text: string; calls: Array<CallRecord>; turn: string };
};

export type ConversationEventOpen = { event: "open"; data: Record<string, never> };

export type ConversationEventProbe = { event: "probe"; data: { turn: string } };

export type ConversationEventProgress = {
  event: "progress";
  data: { call: string; tool?: string; text: string; turn: string };
};

export type ConversationEventQuestion = {
  event: "question";
  data: {
    id: string;

    /** The first one's, where it lists several. */
    call: string;

    /** Of several: how many, in words, unless it is one. */
    agent: string;

    /** The approvals that it lists, in the order of `approval.parameters`. Absent: it is about one thing. */
    members?: Array<QuestionMember>;

    /** The agents that asked for this call, the first one first. */
    via?: Array<string>;
    text: string;
    options: Array<string>;

    /** Only for an approval: what exactly would be run. */
    approval?: {
      tool: string;
      parameters: Record<string, unknown>;
      cwd?: string;
      reason: string;

      /** Agents' words about themselves that are a reason to ask. The answer `accept` accepts them, and approves. `was`: the line before. */
      unread?: Array<{ agent: string; line?: string; was?: string; actions: Array<string>; group?: string }>;
    };
    expires_at: number;

    /** Of an approval that whoever caused it may not give: the people who were asked. */
    asks?: Array<string>;
    answer?: string;
    answered_by?: string;

    /** As the person's chat app calls them. */
    answered_by_name?: string;
    turn: string;
  };
};

export type ConversationEventReset = { event: "reset"; data: { turn: string } };

export type ConversationEventTurn = {
  event: "turn";
  data: {
    turn: string;
    status: "running";
    text: string;
    created_at: number;

    /** The pictures that the person sent: `media:` and the id of a stored one, or an address. */
    images?: Array<string>;
  };
};

export type ConversationEventWaiting = {
  event: "waiting";
  data: { until: number; text: string; turn: string };
};

export type DayView = {
  day: string;
  tokens: number;
  model_calls: number;
  models: Array<{ name: string; usd?: number; input_tokens: number; output_tokens: number }>;
};

/** `dangerous`: it asks each time. `retained`: the broker repeats the command when the device comes back. */
export type DeviceActionView = {
  name: string;
  description: string;

  /** JSON Schema. */
  parameters: Record<string, unknown>;
  effect: string;

  /** Ms that it may take. */
  timeout_ms?: number;
  dangerous?: true;
  why?: string;
  retained?: true;
};

/** `GET /v1/devices`. */
export type DeviceList = {
  devices: Array<DeviceView>;

  /** Descriptions of publishers that the bridge left out, by the reason; null: it did not say. */
  left_out: Array<{ why: string; count: number }> | null;
};

/** `at`: when the bridge received it; null: unknown. */
export type DeviceReadingView = {
  name: string;
  value: string | number | boolean | null;

  /** The value in words, with its unit. */
  text: string;
  unit?: string;
  kind: string;
  class?: string;
  at: number | null;
  unavailable?: boolean;

  /** It is free text, which anybody may have written. */
  tainted: boolean;
};

/** A hosted device of `GET /v1/devices`. Times: epoch ms. */
export type DeviceView = {
  /** Its id as an agent. */
  id: string;
  name: string;
  area: string | null;

  /** The names that a person gave, and that are shown in place of the publisher's; null: none. */
  own: { name: string | null; area: string | null };

  /** As a model sees it. */
  line: string;
  model: string | null;

  /** The program that describes it. */
  publisher: string | null;
  online: boolean;
  reason?: string;
  last_seen: number | null;

  /** It was silent for a week, so no model is told of it. */
  ghost: boolean;

  /** `read`: changes are refused. `ask`: the first change asks. `allowed`: only dangerous changes ask. */
  mode: "allowed" | "ask" | "off" | "read";

  /** A person chose the mode; otherwise it follows the bridge's setting. */
  chosen: boolean;

  /** Names what an allowance is for; it changes with what the device's actions send. */
  allow: string;
  allowed_by: string | null;
  allowed_at: number | null;

  /** It has changed since it was allowed, so the next change asks. */
  changed: boolean;
  actions: Array<DeviceActionView>;

  /** Actions that change a setting of it: whether they are offered (each asks), and their names. */
  settings: { offered: boolean; actions: Array<string> };

  /** Its last reports; null: the bridge did not answer. */
  readings: Array<DeviceReadingView> | null;

  /** Its parts that are not offered, with the reason. */
  not_offered: Array<{ what: string; why: string }>;

  /** Its texts about itself that nobody has accepted yet, as with an agent. */
  new_text?: { line?: string; was?: string; actions: Array<string>; group?: string };
};

/** An earlier turn that its client did not wait for, with the person's words in `text`. */
export type EarlierTurn = {
  turn: string;
  status: TurnStatus;

  /** Text for the person, whatever the turn's outcome; null while it runs. */
  answer: string | null;

  /** Every call with its outcome, so that the answer's claims can be checked. */
  calls: Array<CallRecord>;
  text: string;
};

/** Every answer with a status of 400 or more. */
export type Error = {
  error: {
    /** A word for programs, such as `not_found`. */
    code: string;

    /** A sentence for people, which names the wrong field. */
    message: string;
  };
};

/** Of a rule's history. Times: epoch ms. */
export type FiringView = {
  occurrence: number;
  at: number;

  /** Null: it goes on, or was a moment. */
  until: number | null;
  value?: string | number | boolean;
  acked_by: string | null;
};

/** A borrower's rights. `ask`: questions in words. `command`: actions by name. */
export type GrantScope = "ask" | "command";

export type LendingView = { lent: Array<LentView>; borrowed: Array<BorrowedView> };

/** A grant as its lender sees it. Times: epoch ms. */
export type LentView = {
  id: string;
  label: string;
  agents: Array<string>;
  scopes: Array<GrantScope>;
  reads_only: boolean;

  /** `offered`: the invitation was not used yet. */
  state: "expired" | "lent" | "offered" | "revoked";
  expires_at: number;
  made_by: string;
  made_at: number;
  taken_at: number | null;

  /** The newest of its calls that are still known, which is two days. */
  used_at: number | null;
};

export type ListedConversation = {
  id: string;
  title: string;
  last_at: number;

  /** who began it; named where that is not whoever looks */
  principal?: string;
};

/** `POST /v1/connections`. `todo`: what the person still has to do. */
export type MadeConnection = {
  channel: string;
  connection: string;
  kept_in: "CHANNELS" | "console";
  webhook: string;

  /** True when the console can check it; other connections are set up by hand. */
  checks: boolean;
  made_by?: string;
  made_at?: number;
  account: string;
  link?: string;
  todo: Array<string>;
};

/** A client that was entered by hand, of `GET /v1/oauth/clients`. */
export type OauthClientView = {
  id: string;
  name: string;
  redirect_uris: Array<string>;

  /** It has a secret. */
  confidential: boolean;
  made_by: string;
  made_at: number;
};

/** A program that a person connected over OAuth, of `GET /v1/oauth/grants`. Times: epoch ms. */
export type OauthGrantView = {
  id: string;
  person: string;

  /** The name by which the program calls itself. */
  client: string;

  /** The host to which its sign-in returned. */
  host: string;
  scopes: Array<"ask" | "command">;
  trusted: boolean;

  /** `consented`: it never came for its token; `token_given`: it made no request since. */
  state: "connected" | "consented" | "ended" | "expired" | "token_given";
  made_at: number;
  token_at: number | null;
  used_at: number | null;
  expires_at: number;
  ended_at: number | null;

  /** A person, or the reason. */
  ended_by: string | null;
};

/** A question of `GET /v1/questions`. `title`: of its conversation, when that is in the list. */
export type OpenQuestion = {
  id: string;

  /** The first one's, where it lists several. */
  call: string;

  /** Of several: how many, in words, unless it is one. */
  agent: string;

  /** The approvals that it lists, in the order of `approval.parameters`. Absent: it is about one thing. */
  members?: Array<QuestionMember>;

  /** The agents that asked for this call, the first one first. */
  via?: Array<string>;
  text: string;
  options: Array<string>;

  /** Only for an approval: what exactly would be run. */
  approval?: {
    tool: string;
    parameters: Record<string, unknown>;
    cwd?: string;
    reason: string;

    /** Agents' words about themselves that are a reason to ask. The answer `accept` accepts them, and approves. `was`: the line before. */
    unread?: Array<{ agent: string; line?: string; was?: string; actions: Array<string>; group?: string }>;
  };
  expires_at: number;

  /** Of an approval that whoever caused it may not give: the people who were asked. */
  asks?: Array<string>;
  answer?: string;
  answered_by?: string;

  /** As the person's chat app calls them. */
  answered_by_name?: string;
  channel: string;
  conversation: string;
  title?: string;
};

/** `waiting`: bytes that were not sent yet. `since`: when the oldest of them came. `lost`: lines that were never sent. */
export type OutletState = { waiting: number; since: number | null; problem: string | null; lost: number };

export type PairingRequest = {
  channel: string;
  connection: string;
  sender: string;
  name: string;
  code: string;
  asked_at: number;
};

/** A turn of `GET /v1/conversations/{id}`. */
export type PastTurn = {
  turn: string;
  status: TurnStatus;

  /** Text for the person, whatever the turn's outcome; null while it runs. */
  answer: string | null;
  model: string | null;

  /** Calls of the caller's own tools, with which the turn ended. The caller runs them and sends their results. */
  requested?: Array<CallRecord>;

  /** The answer is not whole, and its last line says so: the model reached MAX_TOKENS, or a filter stopped it. */
  cut?: "content_filter" | "length";

  /** Every call with its outcome, so that the answer's claims can be checked. */
  calls: Array<CallRecord>;
  usage: Usage;

  /** Tokens of the sessions that its calls began, and of agents' own models by their word. They count for the budgets of turn and conversation. */
  agents_usage?: Usage;

  /** Calls, batches and time of the turn. */
  metrics: TurnMetrics;

  /** The gateway's own words about rules in this turn, whatever the model says; without a text it is the answer. The buttons are pressed by `POST /v1/rules/{rule}/press`; then `pressed` says what came of it, and they are gone. */
  rules?: Array<{ text?: string; buttons: Array<RuleButton>; pressed?: string }>;

  /** Budgets that are nearly used up. */
  notices?: Array<string>;

  /** Of a turn that runs on when its client has waited long enough: what it waits for, and that in words for the person. */
  waiting?: Waiting;
  meanwhile?: string;

  /** Earlier turns that ended after their clients had gone. Each is in one later turn. */
  earlier?: Array<EarlierTurn>;

  /** Present when the model was offered devices and asked none, so no device stands behind the answer. */
  edgecall?: { asked: false };

  /** The turn's questions to a person, with answers where given. */
  questions?: Array<TurnQuestion>;
  error?: { code: string; message: string };
  text: string;
  created_at: number;

  /** The pictures that the person sent: `media:` and the id of a stored one, or an address. */
  images?: Array<string>;
};

/** One of `GET /v1/polling`. `path`: where its updates are handed over, with `secret` in Telegram's header. */
export type PolledBot = {
  home: string;
  connection: string;
  token: string;
  secret: string;
  base_url: string;
  path: string;
  allowed_updates: Array<string>;
};

/** `GET /v1/polling`. */
export type PolledBots = { bots: Array<PolledBot> };

export type Pressed = {
  /** false: this person may not, and nothing changed */
  done: boolean;

  /** for people */
  text: string;
};

export type PushView = {
  /** with which browsers subscribe */
  public_key: string;
  outlets: Array<SubscriptionView>;
};

/** `total`: of all that the caller may see, in this answer or not. */
export type QuestionList = { questions: Array<OpenQuestion>; total: number };

/** An approval that is listed in a question with others. It can be answered alone, by its id. */
export type QuestionMember = { id: string; call: string; agent: string };

export type QuestionsEvent = { event: "questions"; data: QuestionList };

export type RuleButton = {
  label: string;

  /** `stop` removes the rule */
  do: "ack" | "snooze" | "stop";
  rule: string;

  /** names the firing; 0: none */
  occurrence: number;
};

/** `GET /v1/rules`. */
export type RuleList = {
  rules: Array<RuleView>;

  /** The home's time zone. */
  zone: string;

  /** `22:00-07:00`; null: there are none. */
  quiet_hours: string | null;
};

/** A watch or a reminder. Times: epoch ms. */
export type RuleView = {
  id: string;
  kind: "remind" | "watch";

  /** The person's name for a watch; the text of a reminder. */
  name: string;
  status: "active" | "orphaned" | "paused";

  /** In words: why it stopped, or what was not delivered. */
  why: string | null;

  /** In words: when it fires. */
  condition: string;

  /** The device as people call it. Only of a watch. */
  device?: string;

  /** Its id as an agent; null: it is gone. Only of a watch. */
  agent?: string | null;
  value?: string | number | boolean;
  for_minutes?: number;
  severity?: "critical" | "info" | "warning";
  repeat?: "each_time" | "once" | "until_ack";

  /** `08:00-20:00` of the home's clock. */
  only_between?: string;
  say?: string;

  /** The second recipient, who is told where nobody answers: `owners`, or a conversation as `telegram:family:7`. */
  then_to?: { to: string; after_minutes: number };

  /** Of a watch, as far as Home knows. */
  state?: "clearing" | "firing" | "idle" | "pending" | "unknown";

  /** In words, of a watch: why nothing is told now. */
  silent?: string;

  /** Of a reminder, at most three. */
  next?: Array<number>;
  last_firing: number | null;

  /** The newest first, at most 20. */
  history: Array<FiringView>;

  /** The person who made it. */
  by: string;

  /** The conversation where it was made; "": a client without one. */
  channel: string;
  conversation: string;

  /** In words: who is told. */
  to: string;
  made_at: number;
};

export type Running = { request_id: string; agent: string; status: "running" };

/** `/v1/console/session`. */
export type SessionView = {
  signed_in: boolean;

  /** True when people sign in with Cloudflare Access. */
  access: boolean;
  name?: string;
  home?: string;
  role?: "guest" | "member" | "owner";
  scopes?: Array<string>;
};

/** `wrong`: something does not work. `notice`: it may be meant so. */
export type Severity = "notice" | "wrong";

/** For a person. */
export type ShownCondition = { code: string; severity: Severity; text: string; cure: string };

/** A picture or file that the gateway stores. */
export type StoredMedia = { media_type: string; bytes: number; id: string; sha256: string };

export type SubscriptionView = {
  id: string;
  kind: "browser" | "ntfy";

  /** of the browser, or the topic's address */
  name: string;
  made_at: number;

  /** why the newest message was not taken */
  problem: string | null;
};

/** A token of `GET /v1/tokens`. Times: epoch ms. */
export type TokenView = {
  id: string;
  name: string;
  role: "guest" | "member" | "owner";
  scopes: Array<"admin" | "approve" | "ask" | "command" | "metrics">;
  expires_at: number | null;
  created_at: number | null;
  last_used_at: number | null;
  made_by: string | null;

  /** `secret`: a token of API_TOKENS, which can only be removed there. */
  source: "home" | "secret";

  /** True for the caller's own where `POST /v1/tokens/rotate` replaces it. */
  replaceable?: boolean;
};

/** An event for a client that waits for a turn. `id` is the conversation's seq: a client that re-attaches with the last one misses nothing that counts. Deltas carry none: the whole message follows them. */
export type TurnEvent =
  | TurnEventAccepted
  | TurnEventCall
  | TurnEventDelta
  | TurnEventDone
  | TurnEventMessage
  | TurnEventProbe
  | TurnEventProgress
  | TurnEventQuestion
  | TurnEventReset
  | TurnEventTurn
  | TurnEventWaiting;

export type TurnEventAccepted = { event: "accepted"; data: { call: string; at: number } };

export type TurnEventCall = { id: number; event: "call"; data: CallRecord };

export type TurnEventDelta = { event: "delta"; data: { text: string; at: number } };

export type TurnEventDone = { id: number; event: "done"; data: TurnResult };

export type TurnEventMessage = {
  id: number;
  event: "message";
  data: { text: string; calls: Array<CallRecord> };
};

export type TurnEventProbe = { event: "probe"; data: Record<string, never> };

export type TurnEventProgress = { event: "progress"; data: CallProgress };

export type TurnEventQuestion = { id: number; event: "question"; data: TurnQuestion };

export type TurnEventReset = { event: "reset"; data: Record<string, never> };

export type TurnEventTurn = { event: "turn"; data: { turn: string; status: "running" } };

export type TurnEventWaiting = { event: "waiting"; data: { until: number; text: string } };

export type TurnMetrics = {
  /** Model calls. */
  iterations: number;

  /** Tool calls: the sum of `success`, `error` and `timeout`. */
  calls: number;
  success: number;

  /** Failures other than time-outs. */
  error: number;
  timeout: number;

  /** Batches of more than one call. */
  parallel_batches: number;

  /** Most calls that ran at the same moment. */
  max_concurrency: number;

  /** Sum of the times of the calls in parallel batches, minus the time in which at least one of them ran. Waiting for a person or for another call is in neither. */
  wall_time_saved_ms: number;
  duration_ms: number;
};

/** A question to a person. One that lists several approvals is answered for all of them. */
export type TurnQuestion = {
  id: string;

  /** The first one's, where it lists several. */
  call: string;

  /** Of several: how many, in words, unless it is one. */
  agent: string;

  /** The approvals that it lists, in the order of `approval.parameters`. Absent: it is about one thing. */
  members?: Array<QuestionMember>;

  /** The agents that asked for this call, the first one first. */
  via?: Array<string>;
  text: string;
  options: Array<string>;

  /** Only for an approval: what exactly would be run. */
  approval?: {
    tool: string;
    parameters: Record<string, unknown>;
    cwd?: string;
    reason: string;

    /** Agents' words about themselves that are a reason to ask. The answer `accept` accepts them, and approves. `was`: the line before. */
    unread?: Array<{ agent: string; line?: string; was?: string; actions: Array<string>; group?: string }>;
  };
  expires_at: number;

  /** Of an approval that whoever caused it may not give: the people who were asked. */
  asks?: Array<string>;
  answer?: string;
  answered_by?: string;

  /** As the person's chat app calls them. */
  answered_by_name?: string;
};

/** The body of `POST …/messages` and `GET …/turns/{turn}`. */
export type TurnResult = {
  turn: string;
  status: TurnStatus;

  /** Text for the person, whatever the turn's outcome; null while it runs. */
  answer: string | null;
  model: string | null;

  /** Calls of the caller's own tools, with which the turn ended. The caller runs them and sends their results. */
  requested?: Array<CallRecord>;

  /** The answer is not whole, and its last line says so: the model reached MAX_TOKENS, or a filter stopped it. */
  cut?: "content_filter" | "length";

  /** Every call with its outcome, so that the answer's claims can be checked. */
  calls: Array<CallRecord>;
  usage: Usage;

  /** Tokens of the sessions that its calls began, and of agents' own models by their word. They count for the budgets of turn and conversation. */
  agents_usage?: Usage;

  /** Calls, batches and time of the turn. */
  metrics: TurnMetrics;

  /** The gateway's own words about rules in this turn, whatever the model says; without a text it is the answer. The buttons are pressed by `POST /v1/rules/{rule}/press`; then `pressed` says what came of it, and they are gone. */
  rules?: Array<{ text?: string; buttons: Array<RuleButton>; pressed?: string }>;

  /** Budgets that are nearly used up. */
  notices?: Array<string>;

  /** Of a turn that runs on when its client has waited long enough: what it waits for, and that in words for the person. */
  waiting?: Waiting;
  meanwhile?: string;

  /** Earlier turns that ended after their clients had gone. Each is in one later turn. */
  earlier?: Array<EarlierTurn>;

  /** Present when the model was offered devices and asked none, so no device stands behind the answer. */
  edgecall?: { asked: false };

  /** The turn's questions to a person, with answers where given. */
  questions?: Array<TurnQuestion>;
  error?: { code: string; message: string };
};

export type TurnStatus = "cancelled" | "done" | "failed" | "running";

/** Tokens as the endpoint counts them. */
export type Usage = { input_tokens: number; output_tokens: number };

/** `GET /v1/console/usage`. */
export type UsageView = {
  /** False when days are not counted. */
  counted: boolean;
  priced: boolean;

  /** The oldest first; the last one is today. */
  days: Array<DayView>;
  budgets: Record<string, { tokens?: number; model_calls?: number }>;
  models: Array<{ name: string; failures: number }>;
};

/** Something that a turn waits for. `link`: where a person answers, in the console. */
export type Waiting = {
  calls: Array<{ id: string; name: string; agent?: string; action?: string; query?: string }>;
  questions: Array<{
    id: string;

    /** Of several: how many, in words, unless it is one. */
    agent: string;
    text: string;
    expires_at: number;
    approval: boolean;
    link: string;
  }>;
};
