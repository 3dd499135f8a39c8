/**
 * What the designs ask for that edgecall implements, row by row, in our words: EvoClaw's plan of the tool loop (000), its
 * tool loop (001) and edge call (002), PicoClaw's tool core (003), and EvoClaw's tool architecture (004). Each row has the
 * tests that show it, or the decision (docs/decisions/) that says why it is done differently.
 */

/** A row that is done differently. */
export type Departure = {
  /** The title of the decision, which is marked as a departure. */
  readonly where: string;
  readonly reason: string;
};

/** `path > name` of a test, or of a suite, or of a row of a test's table; or `path > id` of a case of `test/cases/`. */
export type Shown = `${string} > ${string}`;

type Rows = Readonly<Record<string, Shown | readonly Shown[] | Departure>>;

const departs = (where: string, reason: string): Departure => ({ where, reason });

const PLAN: Rows = {
  // Tool definitions
  "A skill.toml lists tools; a tool has a name": "pi-agent/skills/skill-file.test.ts > every field is read",
  "A tool names its program":
    "pi-agent/skills/load-skills.test.ts > the program: the named one, else dt-NAME in [tools.paths] bin, else the one in the skill",
  "A tool has a description": "pi-agent/skills/skill-file.test.ts > without a description",
  "A tool has parameters with types and descriptions":
    "pi-agent/skills/skill-file.test.ts > the schema for the model",
  "A parameter may have a default": [
    "pi-agent/skills/skill-file.test.ts > the schema for the model",
    "pi-agent/skills/skill-tool.test.ts > stdout is the result; arguments come in the file's order, including defaults",
  ],
  "Some parameters are required":
    "pi-agent/skills/skill-tool.test.ts > arguments are checked before anything is run",
  "A tool names its sandbox":
    "pi-agent/env/sandbox/sandbox-kinds.test.ts > D13 a skill's own kind of sandbox is tried at the start, in addition to the agent's",
  "A tool has a time-out of its own":
    "pi-agent/skills/skill-tool.test.ts > at its time-out it is killed with all its processes, and its output is kept",
  "A tool names the permissions that it needs":
    "pi-agent/skills/load-skills.test.ts > permissions %s for an agent that holds %j",
  "A tool has metadata, with version and skill":
    "pi-agent/skills/load-skills.test.ts > tools, instructions and EvoClaw's block",
  // Schemas
  "A tool becomes a schema with name, description and parameters":
    "core/tools/registry.test.ts > definitions for the model: in reduced form, and what has a default is not required",
  "Parameters are a JSON Schema of an object":
    "core/protocol/parse.test.ts > jsonSchema: draft-7 without its address, defaults optional, no useless bounds",
  "The schema has EvoClaw's block: program, time-out, sandbox, permissions, version, skill":
    "pi-agent/commands/looks.test.ts > tools_list: every tool with its schema and EvoClaw's block, and the reasons for missing ones",
  "The default of a parameter is in its schema":
    "pi-agent/skills/skill-file.test.ts > the schema for the model",
  "The required parameters are in the schema":
    "pi-agent/skills/skill-file.test.ts > the schema for the model",
  // The set of tools
  "Skills are searched for in a folder of the settings":
    "pi-agent/skills/load-skills.test.ts > tools, instructions and EvoClaw's block",
  "Without a setting that is ~/.evoclaw/skills":
    "pi-agent/config/settings.test.ts > the example file is valid, and states every default correctly",
  "Every folder there is a skill": "pi-agent/skills/load-skills.test.ts > the rows of the command `skill`",
  "Files beside them are passed over":
    "pi-agent/skills/load-skills.test.ts > an invalid skill does not affect the others",
  "A skill that cannot be read is told and left out":
    "pi-agent/skills/load-skills.test.ts > an invalid skill does not affect the others",
  "A folder of skills that cannot be read is told, not fatal":
    "pi-agent/skills/load-skills.test.ts > without a folder there are no skills, and no error",
  "The set is made once and kept":
    "pi-agent/skills/skills.test.ts > the set is kept until a file changes; then there is a new one, and the listeners are told",
  "Tools are filtered by what the agent holds":
    "pi-agent/skills/load-skills.test.ts > permissions %s for an agent that holds %j",
  "An agent without a list of capabilities has all tools":
    "pi-agent/skills/load-skills.test.ts > permissions %s for an agent that holds %j",
  "A tool that needs nothing is always offered":
    "pi-agent/skills/load-skills.test.ts > permissions %s for an agent that holds %j",
  "One of a tool's permissions is enough":
    "pi-agent/skills/load-skills.test.ts > permissions %s for an agent that holds %j",
  "The capabilities are those of the first agent": departs(
    "Tools and their limits belong to the device",
    "several devices differ, so each has its own list",
  ),
  // Time-outs by tool
  "File tools have 5 s": "pi-agent/toolbox/documented.test.ts > files",
  "bash has 30 s": "test/cases/bash.json > bash/default-timeout",
  "The web's tools have 30 s": "pi-agent/toolbox/documented.test.ts > the web",
  "question has 10 s": [
    "pi-agent/toolbox/documented.test.ts > others",
    "pi-agent/tools/session/question.test.ts > the answer is the result; the question is open for a week, longer than the call's time-out",
  ],
  "The tools of git have 60 s": "pi-agent/toolbox/documented.test.ts > git",
  "Any other tool has 10 s": "pi-agent/skills/skill-file.test.ts > missing fields have the seed's defaults",
  // The loop
  "The loop has at most ten steps": "core/loop/next.test.ts > the defaults are those of the design",
  "The number of steps is a setting":
    "worker/kernel/settings/settings.unit.test.ts > the loop's settings have the design's values, and each can be set",
  "It stops after three errors in a row": "core/loop/next.test.ts > the defaults are those of the design",
  "That number is a setting":
    "worker/kernel/settings/settings.unit.test.ts > the loop's settings have the design's values, and each can be set",
  "A call without a time-out of its own has 30 s":
    "worker/kernel/settings/settings.unit.test.ts > the loop's settings have the design's values, and each can be set",
  "A call has an id, a name and arguments":
    "core/loop/messages.test.ts > a turn with a call, in the form that endpoints accept",
  "A result names its tool": "pi-agent/commands/commands.test.ts > runs and answers in the seed's form",
  "A result is a success or an error":
    "pi-agent/commands/commands.test.ts > failures are results that say what went wrong",
  "A result has a text, or an error with its type":
    "pi-agent/commands/commands.test.ts > failures are results that say what went wrong",
  "A result has its milliseconds": "pi-agent/commands/commands.test.ts > runs and answers in the seed's form",
  "A result has the exit code": [
    "pi-agent/commands/commands.test.ts > runs and answers in the seed's form",
    "test/cases/bash.json > bash/exit-42",
  ],
  "Figures of a turn: its steps": "core/loop/metrics.test.ts > a turn without calls",
  "Figures of a turn: its calls": "core/loop/metrics.test.ts > single calls are no batches and save nothing",
  "Figures of a turn: successes, errors and time-outs":
    "worker/features/usage/metrics.test.ts > a turn's metrics: its calls by tool and error, its time, its tokens, and if it recovered",
  "Figures of a turn: its time":
    "worker/features/usage/metrics.test.ts > a turn's metrics: its calls by tool and error, its time, its tokens, and if it recovered",
  "The history begins with the person's message": "core/loop/run.test.ts > an answer without tools",
  "The model is called with history and tools":
    "core/loop/model.test.ts > the request: address, key, limits and tools; without tools no empty list",
  "The model's reply joins the history, with its calls":
    "core/loop/messages.test.ts > a turn with a call, in the form that endpoints accept",
  "A reply without calls ends the loop": "core/loop/run.test.ts > an answer without tools",
  "After the loop the model is called once more for its answer": departs(
    "The reply without calls is the answer",
    "a further call costs tokens and may say something else",
  ),
  "Each call's result joins the history under the call's id":
    "core/loop/messages.test.ts > a turn with a call, in the form that endpoints accept",
  "A call that cannot be made is a result, in words": "test/cases/loop.json > loop/unknown-tool",
  "A success sets the count of errors to nothing":
    "core/loop/next.test.ts > a success between failures starts anew",
  "Too many errors end the turn with an error": departs(
    "The limits end in an answer",
    "what the calls found would be lost, and the person would read nothing of it",
  ),
  "Time-outs are counted apart":
    "core/metrics/exposition.test.ts > calls and turns: errors add up, and recovered ones had an error and succeeded",
  "The answer is a turn's, with its agents and its model": [
    "worker/kernel/conversation/conversation.test.ts > asks a device in action mode and answers from its result",
    "worker/features/openai/chat.test.ts > streamed: the role first, no named event, no tool_calls, and usage on request",
  ],
  "A model is found by its name": "core/loop/models.test.ts > the first, or the requested one",
  "No endpoint for that name is an error": "core/loop/models.test.ts > an unknown name lists the known ones",
  "The system prompt of the agent goes with each request":
    "core/loop/messages.test.ts > a turn with a call, in the form that endpoints accept",
  "A reply has at most 4096 tokens":
    "worker/kernel/settings/settings.unit.test.ts > the loop's settings have the design's values, and each can be set",
  "The temperature is 0.7":
    "worker/kernel/settings/settings.unit.test.ts > the loop's settings have the design's values, and each can be set",
  "A fault of the endpoint ends the turn, in words":
    "core/loop/run.test.ts > a permanent error is not retried, and a temporary one not forever",
  // The command to the device
  "The request id is made of the time": departs(
    "Our UUID stands beside the model's call id",
    "two calls of the same moment would have one id",
  ),
  "A call is the command `tool`": "test/e2e/tools-flows.test.ts > GPIO, by %s: is pin 17 high?",
  "It has the tool's name and its parameters":
    "worker/kernel/conversation/conversation.test.ts > asks a device in action mode and answers from its result",
  "It has the tool's time in milliseconds":
    "worker/kernel/conversation/conversation.test.ts > asks a device in action mode and answers from its result",
  "It is published on the agent's topic `commands`": "core/protocol/names.test.ts > EvoClaw's topics",
  "Without MQTT that is an error":
    "bridge/bridge.test.ts > without the broker: calls are refused at once, and all agents are offline after a grace period",
  "A command that cannot be sent is an error":
    "worker/kernel/home/home.test.ts > a refused call says that nothing was run",
  "The result is waited for as long as the tool may take":
    "worker/kernel/home/home.test.ts > an unanswered read timed out; anything else has an unknown outcome",
  "A registry in memory leads a result to its waiting call": departs(
    "Parked turns instead of a promise in memory",
    "memory dies with a deploy, and who waits in it is billed",
  ),
  "A result goes to the call that it names":
    "worker/kernel/home/home.test.ts > a report of another agent for the call does not count",
  "A result that nobody waits for any more is not lost without a word": [
    "worker/kernel/conversation/late.test.ts > replaces the unknown outcome, and the next model call is told",
    "worker/kernel/home/unsolicited-turns.test.ts > forty results that no call announced begin no turn, and are counted",
  ],
  "The time of a call is taken by whoever asks": departs(
    "A call's time is the device's own",
    "the way and a person's wait would be added to the tool's",
  ),
  "The tool message is the result's text":
    "test/e2e/tools-flows.test.ts > a file, by %s: what is in /etc/hostname?",
  "Of an error it is `Error: ` and the error": "test/e2e/tools-errors.test.ts > not found",
  // The orchestrator around the loop
  "The loop is made when tools are switched on":
    "worker/kernel/conversation/conversation.test.ts > is one model call without tools where TOOL_LOOP_ENABLED is false",
  "Without it a message is one model call without tools":
    "worker/kernel/conversation/conversation.test.ts > is one model call without tools where TOOL_LOOP_ENABLED is false",
  "An agent is `running` while it works and `idle` afterwards":
    "worker/kernel/home/home.test.ts > an agent is running while it has a call, and idle afterwards, with its counts and its last activity",
  "An agent's last activity is known":
    "worker/kernel/home/home.test.ts > an agent is running while it has a call, and idle afterwards, with its counts and its last activity",
  "Its actions are counted":
    "worker/kernel/home/home.test.ts > an agent is running while it has a call, and idle afterwards, with its counts and its last activity",
  "Its failed actions are counted":
    "pi-agent/commands/looks.test.ts > get_metrics: EvoClaw's figures, those of each tool, and the version of the genome",
  "What failed is logged": "core/tools/runner.test.ts > an error, with its cause",
  "A failing model is noted, by the kind of its error": [
    "core/loop/models.test.ts > which errors are the model's",
    "core/loop/models.test.ts > three failures in a row cool a model down for five minutes, and the next one answers",
  ],
  "The older way of messages goes on":
    "test/e2e/foreign.test.ts > answers as it should gets only EvoClaw's fields and at most 60 s, and is understood",
  // The MQTT channel
  "Not connected is an error at once":
    "bridge/bridge.test.ts > without the broker: calls are refused at once, and all agents are offline after a grace period",
  "A command is published at least once":
    "test/e2e/seed-rows.test.ts > commands, reports and adverts are published at least once",
  "A command is not retained":
    "test/e2e/figure.test.ts > retained messages tell a new client which agents exist and what they can do",
  "Publishing that takes more than 5 s is an error": departs(
    "The bridge says what the broker has taken",
    "the broker may have a command whose acknowledgement is lost, so it may run",
  ),
  "What is no JSON is logged and left":
    "bridge/bridge.test.ts > invalid ids and payloads are dropped, and the log names topic and field",
  "A message with status and tool is a tool's result":
    "core/protocol/mqtt.test.ts > a tool's result, with and without its request",
  "Other messages go their former way":
    "core/protocol/mqtt.test.ts > a device's own message and its status are no result",
  "A missing field of a result breaks nothing":
    "core/protocol/mqtt.test.ts > any text and any JSON is read or refused, and nothing throws",
  // The device's commands
  "The device takes `ping`": "pi-agent/commands/looks.test.ts > ping",
  "The device takes `execute`":
    "pi-agent/evoclaw/execute.test.ts > a monitor: EvoClaw's fields, without the alerts that need a market",
  "The device takes `tool`": "pi-agent/commands/commands.test.ts > runs and answers in the seed's form",
  "The device takes `update_strategy`":
    "pi-agent/evoclaw/teaching.test.ts > EvoClaw's strategies: added, changed, listed, kept over a restart, reset",
  "The device takes `update_genome`":
    "pi-agent/evoclaw/teaching.test.ts > identity and behaviour are in the next prompt, and after a restart",
  "The device takes `get_metrics`":
    "pi-agent/commands/looks.test.ts > get_metrics: EvoClaw's figures, those of each tool, and the version of the genome",
  "The device takes `evolution`":
    "pi-agent/evoclaw/execute.test.ts > performance comes from the tools until trades are recorded",
  "The device takes `shutdown`":
    "pi-agent/commands/commands.test.ts > D12 shutdown answers before the agent ends, also with a slow card",
  "An unknown command is an error":
    "pi-agent/commands/commands.test.ts > unknown commands, including trade and risk",
  "Successes and failures are counted":
    "pi-agent/metrics/metrics-page.test.ts > calls by tool and error, questions, queues; promtool accepts the page",
  "A result is a report of the type `result`": "core/protocol/mqtt.test.ts > the result of a tool",
  "A fault is a report of the type `error`, with the request id":
    "pi-agent/commands/commands.test.ts > a malformed command is a report of type error",
  "`tool` without a name is an error":
    "pi-agent/commands/commands.test.ts > a malformed command is a report of type error",
  "`tool` without parameters is an error": departs(
    "Arguments are checked before a tool runs",
    "models leave out what is empty; the schema still names what is missing",
  ),
  "A call without a time has 30 s": "core/protocol/mqtt.test.ts > defaults of the payloads",
  "A result has stdout and stderr":
    "pi-agent/skills/skill-tool.test.ts > a failure: exit code, stderr and stdout",
  "A result has the request id": "pi-agent/commands/commands.test.ts > runs and answers in the seed's form",
  "The program is dt-NAME in the skill's folder":
    "pi-agent/skills/load-skills.test.ts > the program: the named one, else dt-NAME in [tools.paths] bin, else the one in the skill",
  "The skill's folder is the Pi's own, by a fixed path": departs(
    "Tools and their limits belong to the device",
    "a path in the code serves one machine; it is a setting",
  ),
  "The program runs for its time at most":
    "pi-agent/skills/skill-tool.test.ts > at its time-out it is killed with all its processes, and its output is kept",
  "Bytes that are no text are replaced":
    "pi-agent/skills/skill-tool.test.ts > bytes that are no text are replaced",
  "A program that was killed has the exit code -1":
    "pi-agent/skills/skill-tool.test.ts > a killed program has the exit code -1",
  "read gets --path, --offset and --limit": "pi-agent/skills/arguments.test.ts > %s %j",
  "bash gets -c and the command": "pi-agent/skills/arguments.test.ts > %s %j",
  "write gets --path and the content": "pi-agent/skills/arguments.test.ts > %s %j",
  "Any other tool gets --NAME VALUE for each parameter": "pi-agent/skills/arguments.test.ts > %s %j",
  "Texts, numbers and truth values are passed": "pi-agent/skills/arguments.test.ts > %s %j",
  // Settings and data
  "Tools can be switched on and off": [
    "worker/kernel/conversation/conversation.test.ts > is one model call without tools where TOOL_LOOP_ENABLED is false",
    "pi-agent/agent.test.ts > [tools] enabled limits the tools",
  ],
  "The sandbox can be switched off": "pi-agent/env/sandbox/sandbox.test.ts > the kind none has no sandbox",
  "The sandbox's engine is a setting": "pi-agent/env/sandbox/sandbox.test.ts > works after it was tried",
  "Permissions are a setting":
    "pi-agent/calls/policy.test.ts > a tool's rule has priority over its permission's, and that over the default",
  "A request to a model has model, prompt, messages, tokens, temperature and tools":
    "core/loop/model.test.ts > the request: address, key, limits and tools; without tools no empty list",
};

const LOOP: Rows = {
  // Goals
  "A question in words makes a device act":
    "test/e2e/figure.test.ts > a question in words is answered with the device's own figure, and follows its changes",
  "A device has the tools of a desktop agent":
    "test/e2e/tools-each.test.ts > every tool of an agent has a row here, and every row has a tool",
  "A model makes the calls, the device runs them": "test/e2e/tools-each.test.ts > by the device's own loop",
  "Several tools in a row solve one task":
    "test/e2e/tools-flows.test.ts > a chain, by %s: the last three commits, and the diff of the newest",
  "After a failure the model tries again or something else":
    "test/e2e/actions.test.ts > a question in words is answered with the list of actions, and the second call works",
  "Use, speed and errors of tools are tracked":
    "worker/features/usage/metrics.test.ts > a turn's metrics: its calls by tool and error, its time, its tokens, and if it recovered",
  "The figures serve evolution":
    "pi-agent/evoclaw/performance.test.ts > from the tools' calls: successes, time-outs and speed",
  "What there was goes on working":
    "test/e2e/versions.test.ts > one minor version back causes no problem in any program",
  "Several calls of one reply run at once":
    "core/loop/run.test.ts > at most 5 calls run at once, and keep their order however they end",
  // Architecture
  "A router picks the agent by a hash of the sender": departs(
    "The conversation's id names its object",
    "the model picks the agent; the same conversation is the same object anyway",
  ),
  "Messages wait in an inbox of the agent": departs(
    "The turns of a conversation are rows, in order",
    "an inbox in memory drops what it cannot hold",
  ),
  "skill.toml becomes schemas for a model": "pi-agent/skills/skill-file.test.ts > the schema for the model",
  "The model gets the schemas of a device's tools": departs(
    "One tool for all devices",
    "the edge-call design replaces this: schemas stay with the device, whose own model gets them",
  ),
  "Tools are filtered by the agent's capabilities":
    "test/e2e/tools-policy.test.ts > the capabilities of [agent] decide which tools exist at all",
  "Time-out and sandbox stand with a tool":
    "pi-agent/commands/looks.test.ts > tools_list: every tool with its schema and EvoClaw's block, and the reasons for missing ones",
  "The loop calls the model, runs the call, and calls the model with the result":
    "test/e2e/tools-flows.test.ts > a file, by %s: what is in /etc/hostname?",
  "The answer reaches the person":
    "worker/kernel/routes/routes.test.ts > arrive as they happen; a client that attaches again misses nothing and gets nothing twice",
  "Figures are updated with each answer":
    "worker/features/usage/metrics.test.ts > a turn is one row that replaces an older one; the sums rise by each turn once, over crashes and repeats",
  "The device checks the tool's name": "core/tools/runner.test.ts > an unknown tool",
  "The device checks the parameters": "core/tools/runner.test.ts > a parameter of the wrong type is named",
  "The device runs the program and takes both of its streams":
    "pi-agent/env/contract-programs.test.ts > tells the exit code and both streams",
  "The device keeps the time": "core/tools/runner.test.ts > a tool that ignores its signal times out",
  "The result is published on the topic `reports`":
    "test/e2e/figure.test.ts > an MQTT client sees the command and the report, with the documented fields",
  "The result joins the conversation, and the loop goes on":
    "worker/kernel/conversation/conversation.test.ts > asks a device in action mode and answers from its result",
  // The flow of a message
  "The reply may have words beside its calls":
    "core/loop/messages.test.ts > a turn with a call, in the form that endpoints accept",
  "The command is JSON with command, payload and request_id":
    "core/protocol/mqtt.test.ts > a command needs EvoClaw's three fields",
  "The report has the elapsed time":
    "pi-agent/commands/commands.test.ts > runs and answers in the seed's form",
  "The tool message has the call's id":
    "core/loop/messages.test.ts > a call without a result, and one with an empty result, say so",
  "The model sums up, and the person reads it": "test/e2e/tools-flows.test.ts > GPIO, by %s: is pin 17 high?",
  // Schemas
  "A schema has the form of OpenAI's functions":
    "core/tools/registry.test.ts > definitions for the model: in reduced form, and what has a default is not required",
  "EvoClaw's block is beside it: program":
    "pi-agent/commands/looks.test.ts > tools_list: every tool with its schema and EvoClaw's block, and the reasons for missing ones",
  "In the block: time-out and sandbox":
    "pi-agent/commands/looks.test.ts > tools_list: every tool with its schema and EvoClaw's block, and the reasons for missing ones",
  "In the block: permissions":
    "pi-agent/commands/looks.test.ts > tools_list: every tool with its schema and EvoClaw's block, and the reasons for missing ones",
  "In the block: version and skill":
    "pi-agent/skills/load-skills.test.ts > tools, instructions and EvoClaw's block",
  // The tools
  "read: a file": "test/e2e/tools-each.test.ts > read",
  "write: a new or another file": "test/e2e/tools-each.test.ts > write",
  "edit: a text replaced": "test/e2e/tools-each.test.ts > edit",
  "glob: files by a pattern": "test/e2e/tools-each.test.ts > glob",
  "grep: text in files": "test/e2e/tools-each.test.ts > grep",
  "websearch: Brave's": [
    "test/e2e/tools-each.test.ts > websearch",
    "core/web/search.test.ts > asks Brave and marks the results as a stranger's text",
  ],
  "webfetch: a page as text": [
    "test/e2e/tools-each.test.ts > webfetch",
    "core/web/webfetch.test.ts > is enclosed by two lines with an unguessable number, with its title and address",
  ],
  "codesearch: documentation": [
    "test/e2e/tools-each.test.ts > codesearch",
    "core/web/search.test.ts > finds the library, then the passages of its documentation",
  ],
  "bash: a command, in a sandbox": "test/e2e/tools-each.test.ts > bash",
  "question: asks the person": [
    "test/e2e/tools-each.test.ts > question",
    "test/e2e/channels-people.test.ts > a device's question is answered by its button, only by the asked person; or by /answer with words or a number",
  ],
  "todowrite: adds to a list": "test/e2e/tools-each.test.ts > todowrite",
  "todoread: reads it, filtered": [
    "test/e2e/tools-each.test.ts > todoread",
    "pi-agent/tools/session/todo.test.ts > the filter",
  ],
  "task: a sub-agent": [
    "test/e2e/tools-each.test.ts > task",
    "pi-agent/tools/session/task.test.ts > it has its own history and fewer tools; its calls are recorded, and its answer is returned",
  ],
  "skill: loads a way of working": "test/e2e/tools-each.test.ts > skill",
  "sessions_list: which sessions there are":
    "test/e2e/sessions.test.ts > sessions_list, sessions_history, session_status, agents_list",
  "sessions_history: what was said in one":
    "test/e2e/sessions.test.ts > sessions_list, sessions_history, session_status, agents_list",
  "sessions_send: a message to one": "test/e2e/sessions.test.ts > sessions_send, and a cancel",
  "sessions_spawn: begins one":
    "test/e2e/sessions.test.ts > sessions_spawn that waits, and one whose end is a message",
  "session_status: how one stands":
    "test/e2e/sessions.test.ts > sessions_list, sessions_history, session_status, agents_list",
  "agents_list: which agents there are":
    "test/e2e/sessions.test.ts > sessions_list, sessions_history, session_status, agents_list",
  "git_status: what was changed": "test/e2e/tools-each.test.ts > git_status",
  "git_diff: the changes": "test/e2e/tools-each.test.ts > git_diff",
  "git_commit: commits": "test/e2e/tools-each.test.ts > git_commit",
  "git_log: the last commits": "test/e2e/tools-each.test.ts > git_log",
  "git_branch: the branches": "test/e2e/tools-each.test.ts > git_branch",
  "apply_patch: a unified diff": [
    "test/e2e/tools-each.test.ts > apply_patch",
    "pi-agent/tools/files/unified-diff.test.ts > D9 a diff from git is applied: changes, a new file, a deleted one, and a renamed one",
  ],
  "browser: uses a page": [
    "test/e2e/tools-each.test.ts > browser",
    "tool-browser/browser.test.ts > is filled in and sent, by ref and by CSS",
  ],
  "canvas: shows something": [
    "test/e2e/tools-each.test.ts > canvas",
    "test/e2e/shown.test.ts > a device's page is served without authority: nothing in it runs, loads or links anywhere",
  ],
  "nodes: other machines": [
    "test/e2e/tools-each.test.ts > nodes",
    "pi-agent/tools/programs/nodes.test.ts > adds a machine that answers, keeps it for the next start, and removes it",
  ],
  "image: what a picture shows": "test/e2e/tools-each.test.ts > image",
  // The wire
  "The request id is in the payload too": departs(
    "The request id stands once",
    "two places may differ, and EvoClaw's agents read the outer one",
  ),
  "A success has status, tool, result, stderr, exit code and time":
    "pi-agent/commands/commands.test.ts > runs and answers in the seed's form",
  "An error has status, tool, error and its type":
    "pi-agent/commands/commands.test.ts > failures are results that say what went wrong",
  "Type of error: timeout": "test/e2e/tools-errors.test.ts > timeout",
  "Type of error: not_found": "test/e2e/tools-errors.test.ts > not found",
  "Type of error: permission_denied": "test/e2e/tools-errors.test.ts > permission",
  "Type of error: invalid_params": "test/e2e/tools-errors.test.ts > parameters",
  "Type of error: execution_failed, for an exit code": "test/cases/bash.json > bash/exit-42",
  // The loop
  "An invalid call is an error for the model, and the loop goes on":
    "core/loop/run.test.ts > a call with unreadable arguments is reported to the model and not run",
  "A time-out is an error for the model, and the loop goes on": "test/e2e/tools-errors.test.ts > timeout",
  "Each step counts": "core/loop/next.test.ts > steps at the limit",
  "The history has roles user, assistant and tool":
    "core/loop/messages.test.ts > endpoints accept any history: each call is answered once, in order, directly after its message",
  "The loop ends with a reply without calls": "core/loop/next.test.ts > an answer after results",
  "The loop ends after ten steps, or as many as set": [
    "worker/kernel/conversation/conversation.test.ts > ten model calls, then one without tools to sum up",
    "core/loop/run.test.ts > after ten model calls one more sums up, and calls in it are not run",
  ],
  "The loop ends after three errors in a row, or as many as set":
    "worker/kernel/conversation/conversation.test.ts > three failed batches in a row",
  "Single errors in a row are counted": departs(
    "Three batches in a row in which every call failed end a turn",
    "of several calls at once, one success is progress",
  ),
  "The loop ends when the person cancels":
    "worker/kernel/conversation/conversation.test.ts > that is cancelled ends at once, and reports what is unknown",
  // Times and errors
  "File tools: 5 s, at most 30 s": "pi-agent/toolbox/documented.test.ts > files",
  "Web tools: 30 s, at most 120 s": "pi-agent/toolbox/documented.test.ts > the web",
  "bash: 30 s, at most 300 s": "pi-agent/toolbox/documented.test.ts > a shell",
  "git: 60 s, at most 300 s": "pi-agent/toolbox/documented.test.ts > git",
  "Others: 10 s, at most 60 s": "pi-agent/toolbox/documented.test.ts > others",
  "Sub-agents, sessions, browser, canvas, nodes and image: 10 s, at most 60 s": departs(
    "A tool has the time that its work takes",
    "a page, a model or another machine takes longer",
  ),
  "The maximum holds, whatever a call asks for":
    "core/tools/runner.test.ts > the tool's own time-out counts, and never above its maximum",
  "A missing tool: the model reads which tools there are":
    "core/tools/errors.test.ts > the texts of the tool-loop design",
  "A time-out: the model reads the command and what to do":
    "core/tools/errors.test.ts > the texts of the tool-loop design",
  "No permission: the model reads which one is missing":
    "core/tools/errors.test.ts > the texts of the tool-loop design",
  "Wrong parameters: the model reads which are required and optional":
    "core/tools/errors.test.ts > the texts of the tool-loop design",
  "Of each tool: calls, successes, errors and time-outs":
    "pi-agent/commands/looks.test.ts > get_metrics: EvoClaw's figures, those of each tool, and the version of the genome",
  "Of each tool: the average time":
    "cli/gateway/figures.test.ts > each tool's calls, errors, time-outs, latency and last error, the most used tools first",
  "Of each tool: the last error, and when":
    "cli/gateway/figures.test.ts > each tool's calls, errors, time-outs, latency and last error, the most used tools first",
  // Security
  "Sandbox: none": "pi-agent/env/sandbox/sandbox.test.ts > the kind none has no sandbox",
  "Sandbox: firejail": [
    "pi-agent/env/sandbox/sandbox.test.ts > works after it was tried",
    "pi-agent/env/sandbox/sandbox.test.ts > D13 firejail is refused for root",
  ],
  "Sandbox: bubblewrap": "pi-agent/env/sandbox/sandbox-walk.test.ts > a command %s",
  "Sandbox: podman": [
    "pi-agent/env/sandbox/sandbox.test.ts > works after it was tried",
    "pi-agent/env/sandbox/sandbox.test.ts > D13 podman: a container of an ended agent is removed at the next start, and a running agent's is not",
  ],
  "Firejail is the engine without a setting": departs(
    "bubblewrap is the sandbox without a setting",
    "it needs no set-uid program, works for root, and promises the most",
  ),
  "Each tool may have another sandbox": [
    "pi-agent/env/sandbox/sandbox-kinds.test.ts > [tools.engines] gives bash and git other sandboxes than the rest",
    "pi-agent/env/sandbox/sandbox-kinds.test.ts > D13 a kind that does not work here disables only what needs it, with the reason",
  ],
  "Only tools that fit the capabilities are shown to the model":
    "test/e2e/tools-policy.test.ts > the capabilities of [agent] decide which tools exist at all",
  "Paths stay in the workspace": "pi-agent/env/sandbox/escapes.test.ts > 0 of them, as %s",
  "Dangerous commands are stopped": [
    "test/e2e/tools-policy.test.ts > a dangerous command needs approval although the shell is allowed, %s",
    "test/cases/exec_guard.json > exec_guard/rm-rf-root",
  ],
  "Addresses are limited to allowed domains":
    "pi-agent/tools/web/web.test.ts > D12 a name outside of [tools.web] domains is refused for that reason, not as a private address",
  "The network is limited to allowed addresses and ports": [
    "core/web/address.test.ts > an address in the owner's list is allowed, and its neighbours are not",
    "pi-agent/tools/web/web.test.ts > remove names and ports, and list the remaining ones",
    "pi-agent/env/sandbox/sandbox.test.ts > has a network only when it is granted",
  ],
  "Permission file_read: read, glob, grep": "pi-agent/toolbox/documented.test.ts > file_read",
  "Permission file_write: write, edit": "pi-agent/toolbox/documented.test.ts > file_write",
  "Permission shell: bash": "pi-agent/toolbox/documented.test.ts > shell",
  "Permission network: websearch, webfetch": "pi-agent/toolbox/documented.test.ts > network",
  "Permission git: the tools of git": "pi-agent/toolbox/documented.test.ts > git",
  "Permission session: the session tools":
    "pi-agent/tools/session/sessions.test.ts > each tool of the gateway's is a read that taints, for this agent's own model, with the permission session",
  "An agent has a type and a list of capabilities": [
    "pi-agent/config/settings.test.ts > D14 [agent] type is an alias of agent_type, and the two may not contradict each other",
    "test/e2e/tools-policy.test.ts > the capabilities of [agent] decide which tools exist at all",
  ],
  "Every call is recorded":
    "test/e2e/tools-policy.test.ts > the home's audit log has all of it, with the person who asked",
  "A line has time, agent, tool, parameters, result, exit code and milliseconds":
    "pi-agent/calls/audit.test.ts > a line has the design's fields, on disk and among the recent ones, without secrets",
  "Recent lines are in memory":
    "pi-agent/commands/looks.test.ts > get_metrics with recent: the last calls, newest first, only for the owner",
  "Seven days are in a file of the device":
    "pi-agent/calls/audit.test.ts > days are deleted after a week, and long parameters are cut",
  "Years are in a database of Turso's kind":
    "test/e2e/audit-outlet.test.ts > the database has what a query needs: columns, a view, and the key that an export has too",
  // Examples
  "Example: is a pin high?": "test/e2e/tools-flows.test.ts > GPIO, by %s: is pin 17 high?",
  "Example: what is in a file?": "test/e2e/tools-flows.test.ts > a file, by %s: what is in /etc/hostname?",
  "Example: the last commits, and the diff of the newest":
    "test/e2e/tools-flows.test.ts > a chain, by %s: the last three commits, and the diff of the newest",
  "Example: how warm is the processor?":
    "test/e2e/figure.test.ts > a question in words is answered with the device's own figure, and follows its changes",
  // Phase 2: several calls at once
  "A reply may have several calls":
    "worker/kernel/conversation/conversation.test.ts > keeps the order of several calls, in whatever order their results arrive",
  "Independent calls run side by side":
    "core/loop/batch.test.ts > property: at most the limit at once, all of them, each result in its call's place",
  "All results are there before the next model call":
    "core/loop/run.test.ts > at most 5 calls run at once, and keep their order however they end",
  "Dependent calls run one after another": [
    "core/loop/run.test.ts > a call gets the result of another, and the model the results in its own order",
    "test/e2e/tools-dependent.test.ts > one agent's answer goes into another's file, over a kill of the Worker, once a person has seen it",
  ],
  "A dependency is a call's id": departs(
    "A call names itself for the calls that wait for it",
    "a model does not know the ids while it writes the calls",
  ),
  "A failed dependency ends what depends on it":
    "worker/kernel/conversation/dependent-calls.test.ts > what depends on a failure is not sent, and says so",
  "A single call runs without the machinery for several": "core/loop/batch.test.ts > no call, and one call",
  "At most five run at once, or as many as set": [
    "core/loop/next.test.ts > the defaults are those of the design",
    "worker/kernel/settings/settings.unit.test.ts > the loop's settings have the design's values, and each can be set",
  ],
  "A failure of one does not end the others": [
    "core/loop/next.test.ts > a batch that failed in part does not count",
    "core/loop/batch.test.ts > an exception of a call is thrown after the others have ended, and no more calls are started",
  ],
  "Results keep the order of the calls": "test/cases/loop.json > loop/parallel-order",
  "A cancel keeps calls from starting":
    "core/loop/batch.test.ts > after a cancel no call is started, and running calls are waited for",
  "Figure: batches of several calls":
    "core/loop/metrics.test.ts > a batch saves the sum of its calls' times minus its own time",
  "Figure: the most at once":
    "core/loop/metrics.test.ts > sequential calls save no time, and a call that ends as the next begins does not run at the same time",
  "Figure: the time saved, without people's time": [
    "core/loop/metrics.test.ts > a batch saves the sum of its calls' times minus its own time",
    "core/loop/metrics.test.ts > waiting for a person is neither saved nor lost",
  ],
  "A single call is no batch": "core/loop/metrics.test.ts > single calls are no batches and save nothing",
  // Phase 3: streams
  "A tool's output is shown while it comes": [
    "pi-agent/calls/streaming.test.ts > output is sent as it is produced, while a person watches, at most once an interval",
    "worker/kernel/conversation/late.test.ts > a device's output reaches the person while it is produced, and is requested only for a watching person",
  ],
  "Tools may take long": [
    "pi-agent/calls/job-programs.test.ts > answered at once; looked at while it runs; the result is a report of its own",
    "worker/kernel/conversation/late.test.ts > is accepted, the conversation continues, and the result arrives as a separate message",
  ],
  "Progress is told":
    "pi-agent/calls/progress.test.ts > sends the first message at once, then at most one per interval, with everything since the last one",
  "Events are sent as server-sent events":
    "worker/kernel/routes/routes.test.ts > arrive as they happen; a client that attaches again misses nothing and gets nothing twice",
  "Partial results are kept": "core/tools/runner-stopped.test.ts > contains its output so far",
  "The model's context grows with the output": departs(
    "The model reads a result when it is complete",
    "each update would pay for the whole context again",
  ),
  // Phase 4: agents among themselves
  "An agent may have another one run a tool":
    "test/e2e/delegation.test.ts > three steps: each agent's own calls are shown within the call before, and the record has one id for all",
  "An agent finds others and their tools":
    "test/e2e/delegation.test.ts > an agent finds another one by words",
  "Load is shared":
    "test/e2e/agent-routing.test.ts > %s calls to a group of four, %d at once: each agent gets 40 to 60",
  "There is a registry of what agents can do": "core/agents/agent-index.test.ts > finds by %s",
  "A call goes to whoever is there":
    "test/e2e/agent-routing.test.ts > one of three is frozen, one gone, and one busy: the busy one gets the call, and it is said why",
  "A protocol for other homes": [
    "test/e2e/federation.test.ts > a read is used from a chat, by name and in words",
    "test/e2e/federation.test.ts > both records have the call",
  ],
  // What is to be tested
  "Tests: skill.toml is parsed": "pi-agent/skills/skill-file.test.ts > every field is read",
  "Tests: schemas are made": "pi-agent/skills/skill-file.test.ts > the schema for the model",
  "Tests: capabilities filter":
    "pi-agent/skills/load-skills.test.ts > permissions %s for an agent that holds %j",
  "Tests: a single call":
    "core/loop/run.test.ts > a single call: its result goes to the model, its record next to the answer",
  "Tests: several steps":
    "core/loop/run.test.ts > after ten model calls one more sums up, and calls in it are not run",
  "Tests: time-outs": "core/tools/runner.test.ts > a tool without a command times out",
  "Tests: recovery from errors": "core/loop/run.test.ts > a temporary fault is retried",
  "Tests: a command is parsed": "core/protocol/mqtt.test.ts > a command needs EvoClaw's three fields",
  "Tests: parameters are checked": "pi-agent/toolbox/validate.test.ts > %s: %s",
  "Tests: a result is written": "pi-agent/commands/commands.test.ts > runs and answers in the seed's form",
  "Tests: the whole flow with a broker and a model that play":
    "test/e2e/tools-flows.test.ts > a file, by %s: what is in /etc/hostname?",
  "Tests: a missing tool, end to end": "test/e2e/tools-errors.test.ts > not found",
  "Tests: a time-out, end to end": "test/e2e/tools-errors.test.ts > timeout",
  "Tests: a missing permission, end to end": "test/e2e/tools-errors.test.ts > permission",
  "Tests: wrong parameters, end to end": "test/e2e/tools-errors.test.ts > parameters",
  "By hand: a real broker": "test/e2e/mosquitto.test.ts > a turn through the device's own loop",
  "By hand: a real model": departs(
    "Users try real models and boards",
    "no key of one is in the repository; a command tries the flows with yours",
  ),
  "By hand: a real device": departs("Users try real models and boards", "none was at hand"),
  "By hand: files and git":
    "test/e2e/tools-chains.test.ts > file + git: a file is written, committed, and in the log",
  "By hand: a search and a file":
    "test/e2e/tools-chains.test.ts > web search + write: what was found is written after a person approved",
  "By hand: bash and read":
    "test/e2e/tools-chains.test.ts > bash + read: the file that a command made is read",
  // Settings
  "Setting: the loop on or off":
    "worker/kernel/conversation/conversation.test.ts > is one model call without tools where TOOL_LOOP_ENABLED is false",
  "Setting: steps":
    "worker/kernel/settings/settings.unit.test.ts > the loop's settings have the design's values, and each can be set",
  "Setting: errors in a row":
    "worker/kernel/settings/settings.unit.test.ts > the loop's settings have the design's values, and each can be set",
  "Setting: a call's time":
    "worker/kernel/settings/settings.unit.test.ts > the loop's settings have the design's values, and each can be set",
  "Settings of the orchestrator: skills, sandbox and permissions": departs(
    "Tools and their limits belong to the device",
    "only the device can hold to them",
  ),
  "Setting: the folder of skills":
    "pi-agent/config/settings.test.ts > the example file has every key, in its section, and each example in it is valid",
  "Setting: permissions one by one":
    "pi-agent/config/settings.test.ts > the policy: names of tools and permissions, and one of three words each",
  "Setting of the device: capabilities":
    "pi-agent/config/settings.test.ts > the example file has every key, in its section, and each example in it is valid",
  "Setting of the device: sandbox":
    "pi-agent/config/settings.test.ts > the example file has every key, in its section, and each example in it is valid",
  "Setting of the device: time-out":
    "pi-agent/skills/load-skills.test.ts > [tools] timeout_ms applies to tools without a time of their own",
  "Setting of the device: the folder of programs":
    "pi-agent/skills/load-skills.test.ts > the program: the named one, else dt-NAME in [tools.paths] bin, else the one in the skill",
  // Observation
  "Calls of each tool":
    "pi-agent/metrics/metrics-page.test.ts > calls by tool and error, questions, queues; promtool accepts the page",
  "Rates of success and error": "test/e2e/metrics.test.ts > the dashboard's '$title' has data: $expr",
  "Average latency":
    "test/e2e/cli.test.ts > logs --filter=tool, --follow, and metrics --tools read the audit log",
  "Average steps of a request": "test/e2e/cli.test.ts > metrics shows the loop's figures",
  "How often tools are called": "test/e2e/cli.test.ts > metrics shows the loop's figures",
  "Time to the answer": "test/e2e/cli.test.ts > metrics shows the loop's figures",
  "Errors by type":
    "cli/gateway/figures.test.ts > the gateway's own metrics page is parsed, whatever a label contains",
  "Rate of errors of each tool":
    "cli/gateway/figures.test.ts > each tool's calls, errors, time-outs, latency and last error, the most used tools first",
  "How often a turn recovers":
    "worker/features/usage/metrics.test.ts > a turn's metrics: its calls by tool and error, its time, its tokens, and if it recovered",
  "A command shows the state with the tools": "test/e2e/cli.test.ts > status, and status --tools",
  "A command shows figures by tool":
    "test/e2e/cli.test.ts > logs --filter=tool, --follow, and metrics --tools read the audit log",
  "A command shows the last calls": [
    "test/e2e/cli.test.ts > logs --filter=tool, --follow, and metrics --tools read the audit log",
    "worker/kernel/home/audit/audit-store.test.ts > while somebody follows the record, agents that are online are asked for their lines, once in a while",
  ],
  // Open questions
  "Open: large results":
    "pi-agent/output/captured-output.test.ts > memory and file are bounded, whatever arrives",
  "Open: tools that take hours":
    "pi-agent/calls/job-programs.test.ts > it goes on when the agent ends, and the next agent has its result",
  "Open: several versions of a tool":
    "pi-agent/skills/load-skills.test.ts > the newer version is offered, and each can be called by name and version",
  "Open: other systems": "pi-agent/skills/load-skills.test.ts > another platform",
  "Open: what models cost": [
    "test/e2e/models.test.ts > of a day counts all conversations of a home, streamed or not, and no other home",
    "test/e2e/delegation.test.ts > its tokens are those of all three, beside the gateway's own",
  ],
};

const EDGE_CALL: Rows = {
  // One tool
  "One tool calls every device":
    "worker/kernel/api/edge-call.unit.test.ts > G16 with %d agents the description has at most 1,000 characters",
  "A new tool on a device needs no change of the gateway":
    "test/e2e/tools-policy.test.ts > an example skill is offered, run, offered again after a change, and gone with its folder",
  "The gateway holds no copy of a device's schemas that could be old":
    "bridge/broker/presence.test.ts > a new advert, new tools and silence are changes",
  "The number of the gateway's tools does not grow with devices":
    "worker/kernel/home/agents/home-roster.test.ts > the tools and the system prompt of a home of any size have few tokens",
  "An offline agent is not offered":
    "worker/kernel/home/home.test.ts > is built from the online agents, and absent without any",
  "A new kind of device needs its line alone":
    "pi-agent/config/settings.test.ts > an id is enough, the rest has defaults",
  // The advert
  "An agent advertises what it can do when it starts":
    "pi-agent/agent.test.ts > on connect it publishes its whole description, retained, and a heartbeat at once",
  "On the topic `capabilities` of the agent": "core/protocol/names.test.ts > EvoClaw's topics",
  "The advert has the agent's id and a text": "core/protocol/mqtt.test.ts > EvoClaw's capabilities, and ours",
  "It is published at least once":
    "test/e2e/seed-rows.test.ts > commands, reports and adverts are published at least once",
  "It is retained":
    "test/e2e/figure.test.ts > retained messages tell a new client which agents exist and what they can do",
  "Whoever connects later gets it at once":
    "test/e2e/restarts.test.ts > the gateway, started last: it knows own agents at once, a foreign one at its first heartbeat",
  "After a reconnect it is there again":
    "test/e2e/restarts.test.ts > the broker, with an empty memory: agents advertise again, and calls work",
  "The text is one line": "core/tools/one-line.test.ts > any text stays on one line",
  "It is plain words, not a schema":
    "worker/kernel/api/edge-call.unit.test.ts > an agent's line in the tool's description is one line, and its action names are at most 200 characters",
  // The schema
  "The schema is made for each request":
    "worker/kernel/home/agents/home-roster.test.ts > an agent that went during the turn is known to the next model call",
  "The description lists the agents that are online":
    "worker/kernel/api/edge-call.unit.test.ts > G16 a home whose agents fit has them only in the description",
  "Parameter agent_id":
    "worker/kernel/api/edge-call.unit.test.ts > any agent may be called where two are online, and a group where one of it is",
  "Parameter query: words":
    "worker/kernel/home/home.test.ts > a query is a prompt; its inner calls are within the call's record",
  "Parameter action: a name":
    "worker/kernel/conversation/conversation.test.ts > asks a device in action mode and answers from its result",
  "Parameter params: of the action":
    "test/e2e/actions.test.ts > wrong params are answered with the action's schema",
  "Without agents the tool is not there":
    "worker/kernel/home/home.test.ts > is built from the online agents, and absent without any",
  // A call
  "The agent has to be online":
    "worker/kernel/home/home.test.ts > an offline agent is answered at once, with the time when it was last seen",
  "Whether it is online is known by its heartbeats": [
    "bridge/broker/presence.test.ts > heartbeats are no change, and last_seen is the time of the last one",
    "test/e2e/presence.test.ts > is frozen (SIGSTOP) is offline within 30 s; after it continues it is back, and runs none of the waiting commands",
  ],
  "Online is whoever was heard in the last two minutes": departs(
    "Online is birth, last will, goodbye and the heartbeat's age",
    "a will and a goodbye are seen at once, and an advert alone is no life",
  ),
  "A question is the command `prompt`":
    "test/e2e/routing.test.ts > one edge_call for disk usage and the busiest processes uses two tools there and gives one answer",
  "It is published on the agent's topic":
    "test/e2e/figure.test.ts > an MQTT client sees the command and the report, with the documented fields",
  "The answer is waited for 60 s": [
    "worker/kernel/home/agents/foreign-agents.test.ts > D6 a foreign agent gets the same time from a model's prompt and from a command",
    "bridge/broker/foreign-agent-queue.test.ts > D6 its budget comes from the home: 60 s, or more by the setting",
  ],
  "The wait is in memory": departs(
    "Parked turns instead of a promise in memory",
    "memory dies with a deploy, and who waits in it is billed",
  ),
  "The answer is a report of the type `result`": "core/protocol/mqtt.test.ts > an answer to a prompt",
  "Its content is the tool's result":
    "test/e2e/figure.test.ts > an MQTT client sees the command and the report, with the documented fields",
  "An action goes to an agent without tools as a sentence":
    "worker/kernel/home/home.test.ts > an agent without tools gets an action as a prompt, with the seed's text",
  "An action goes to an agent with tools as the tool itself":
    "worker/kernel/conversation/conversation.test.ts > asks a device in action mode and answers from its result",
  "An unknown agent is an error in words":
    "worker/kernel/home/home.test.ts > an unknown agent, a missing query, a wrong action, a query without a model: an error text with the names",
  // The agent
  "A prompt is the same from a model and from a program":
    "pi-agent/commands/prompt.test.ts > a question that needs two tools is answered once, with both",
  "The device's own model and loop choose the tools":
    "test/e2e/routing.test.ts > one edge_call for disk usage and the busiest processes uses two tools there and gives one answer",
  "Tools run on the device": "test/e2e/tools-each.test.ts > by the device's own loop",
  "The answer is in words":
    "pi-agent/commands/prompt.test.ts > a question that needs two tools is answered once, with both",
  "A device may be without a model":
    "pi-agent/commands/prompt.test.ts > without a model: EvoClaw's text, and what can be called instead",
  // Settings
  "agent_id, agent_type and capabilities are keys of agent.toml": [
    "pi-agent/config/settings.test.ts > the example file has every key, in its section, and each example in it is valid",
    "pi-agent/config/settings.test.ts > an EvoClaw file is read unchanged",
  ],
  "capabilities may be left out":
    "core/text/default-line.test.ts > D12 the default advert promises exactly what is offered",
  "Default line of sensor and monitor":
    "core/text/default-line.test.ts > D12 the default advert promises exactly what is offered",
  "Default line of any other":
    "core/text/default-line.test.ts > D12 the default advert promises exactly what is offered",
  "Default line of trader: market data, orders, positions": departs(
    "A default line promises what is offered",
    "no shipped tool trades, and a model would ask for it",
  ),
  "Default line of governance: votes and proposals": departs(
    "A default line promises what is offered",
    "no shipped tool votes, and a model would ask for it",
  ),
  "The gateway needs no setting for it":
    "test/e2e/pairing.test.ts > one command, and it is online; the same command again upgrades, and keeps settings and key",
  "The tool is there when MQTT and an agent are":
    "worker/kernel/home/home.test.ts > is built from the online agents, and absent without any",
  // The parts
  "The gateway subscribes to all adverts":
    "bridge/bridge.test.ts > hello, then a snapshot of the retained messages, then changes",
  "It keeps each agent's line":
    "worker/kernel/home/agents/fleet.test.ts > cost a row each when they come, and none when the bridge says the same again",
  "It lists agents with their lines":
    "worker/kernel/routes/agents.test.ts > words are looked for in ids and lines, and filters keep those online or offline",
  "The agent advertises when it has connected":
    "pi-agent/agent.test.ts > on connect it publishes its whole description, retained, and a heartbeat at once",
  "An advert that is removed removes the agent":
    "bridge/broker/presence.test.ts > an agent whose advert is removed is gone, and stays gone in spite of heartbeats",
  // Examples
  "Example: one figure of one device":
    "test/e2e/routing.test.ts > a question that concerns one agent goes only to that one",
  "Example: two figures with one call":
    "test/e2e/routing.test.ts > one edge_call for disk usage and the busiest processes uses two tools there and gives one answer",
  // Topics
  "Topic commands: to the agent, not retained":
    "pi-agent/calls/inbox.test.ts > a retained command is ignored",
  "Topic reports: results and heartbeats, not retained":
    "core/protocol/mqtt.test.ts > a heartbeat, and the pong that names no request",
  "Topic status: heartbeats, not retained": departs(
    "`status` heartbeats are accepted and never sent",
    "they are taken from others and never sent, since EvoClaw's orchestrator loses the advert by one",
  ),
  "Heartbeats on `status` are taken":
    "bridge/bridge.test.ts > a foreign agent's heartbeat on the topic `status` is a sign of life",
};

const TOOL_CORE: Rows = {
  // The contract
  "A tool has a name, which is its key": "core/tools/registry.test.ts > the last tool of a name wins",
  "A tool has a description and parameters":
    "core/tools/contract.test.ts > defineTool types execute by the schema",
  "A tool runs with a context and arguments":
    "core/tools/runner.test.ts > a tool that obeys its signal gets the reason; a later exception changes nothing",
  "All that comes back is one kind of result":
    "core/tools/contract.test.ts > silent: the model reads it, the person does not",
  "A tool may know channel and conversation":
    "pi-agent/tools/session/todo.test.ts > each conversation has its own list; without one, each channel of a person has",
  "They are there before it runs":
    "worker/kernel/conversation/conversation.test.ts > asks a device in action mode and answers from its result",
  "Without them a tool runs too": "pi-agent/commands/commands.test.ts > runs and answers in the seed's form",
  "A tool may answer at once and finish later":
    "pi-agent/calls/jobs.test.ts > accepted at once; the result comes later under the token, and is repeated until it is acknowledged",
  "It tells its end by a callback": departs(
    "A job instead of a callback",
    "a function in memory does not survive the program that was given it",
  ),
  "The end of background work reaches the conversation":
    "worker/kernel/conversation/late.test.ts > is accepted, the conversation continues, and the result arrives as a separate message",
  "Background work does not hold the loop":
    "pi-agent/calls/jobs.test.ts > loop/async: the call is answered at once in the tool's own words, and completed later",
  "A schema is an object of type function":
    "core/tools/registry.test.ts > definitions for the model: in reduced form, and what has a default is not required",
  "Parameters are a JSON Schema":
    "core/protocol/parse.test.ts > jsonSchema: draft-7 without its address, defaults optional, no useless bounds",
  // Results
  "What the model reads is always set": "core/tools/runner.test.ts > a tool that returns nothing",
  "What the person reads is apart": "core/tools/contract.test.ts > shared: both read it",
  "It reaches the person": [
    "worker/kernel/home/calls/outcome.unit.test.ts > D10 a text for the person is bounded",
    "test/e2e/channels.test.ts > D10 the diff of a change reaches the chat, and not the model",
  ],
  "A silent result reaches the model alone": "test/cases/loop.json > loop/silent",
  "A failure is marked as one":
    "core/tools/contract.test.ts > fault: the model reads the message, the details stay",
  "Started work is marked as such":
    "core/tools/contract.test.ts > job: accepted, and the result comes under a token",
  "The cause of a failure is for the log": "core/tools/runner.test.ts > an error, with its cause",
  "The cause is not sent on": "core/tools/contract.test.ts > the legacy shape",
  "There is a helper for a plain result":
    "core/tools/contract.test.ts > silent: the model reads it, the person does not",
  "There is a helper for a silent result":
    "core/tools/contract.test.ts > silent: the model reads it, the person does not",
  "There is a helper for started work":
    "core/tools/contract.test.ts > job: accepted, and the result comes under a token",
  "There is a helper for a failure":
    "core/tools/contract.test.ts > fault: the model reads the message, the details stay",
  "There is a helper for a text that both read": "core/tools/contract.test.ts > shared: both read it",
  "A cause can be added to any failure":
    "core/tools/contract.test.ts > fault: the model reads the message, the details stay",
  // The registry
  "Tools are kept by name": "core/tools/registry.test.ts > an unknown name",
  "A later tool replaces one of the same name": "core/tools/registry.test.ts > the last tool of a name wins",
  "The set can be used by several at once":
    "core/tools/registry.test.ts > register makes a new set; the old one, which a turn may hold, is unchanged",
  "A tool can be looked up":
    "core/tools/registry.test.ts > an unlisted tool is found by its whole name, and is not offered",
  "A tool is run by name": "core/tools/runner.test.ts > an unknown tool",
  "A missing tool is a result, no exception": "test/cases/loop.json > loop/unknown-tool",
  "A tool that throws is a result": "test/cases/loop.json > loop/tool-throws",
  "Start and end are logged, with the time": "core/tools/runner.test.ts > start and end",
  "Started work is logged": "core/tools/runner.test.ts > a job",
  "Errors are logged": "core/tools/runner.test.ts > an error, with its cause",
  "The set gives definitions for a provider":
    "core/tools/registry.test.ts > definitions for the model: in reduced form, and what has a default is not required",
  "Definitions come in one order": "test/cases/loop.json > loop/tool-list-sorted",
  "The set gives names and their number":
    "core/tools/registry.test.ts > sorted by name, in whatever order they were registered",
  "The set gives lines for people": "core/tools/registry.test.ts > summaries for people",
  // A call
  "The provider gets the list with each request":
    "core/loop/model.test.ts > the request: address, key, limits and tools; without tools no empty list",
  "The model sees schemas and nothing of the code":
    "core/tools/registry.test.ts > definitions for the model: in reduced form, and what has a default is not required",
  "A reply has a text, calls and the reason of its end": "core/loop/model.test.ts > finish_reason %s",
  "Arguments are a text of JSON on the wire": "core/loop/model.test.ts > arguments in fragments",
  "They are an object for the tool":
    "core/loop/reply.test.ts > readArguments: any JSON object is returned, any text gives an answer",
  "A call's id is the provider's":
    "core/loop/reply.test.ts > toCalls keeps a model's id that is usable and new",
  "A tool is chosen by its name alone":
    "core/loop/model.test.ts > an unknown tool's name is passed on, because the runner lists the known ones",
  "Arguments are passed on without a check": departs(
    "Arguments are checked before a tool runs",
    "a model's mistake would become the tool's",
  ),
  "No calls: the text is the answer": "core/loop/run.test.ts > an answer without tools",
  "A result has the role tool":
    "core/loop/messages.test.ts > a turn with a call, in the form that endpoints accept",
  "Its content is what the model reads":
    "core/loop/messages.test.ts > a turn with a call, in the form that endpoints accept",
  "Of an empty one it is the error": "core/tools/runner.test.ts > a tool that returns nothing",
  "It names the call":
    "core/loop/messages.test.ts > endpoints accept any history: each call is answered once, in order, directly after its message",
  "The next model call sees calls and results":
    "core/loop/run.test.ts > a single call: its result goes to the model, its record next to the answer",
  // The loop
  "The loop takes provider, model, tools, limit and options":
    "core/loop/run.test.ts > an answer without tools",
  "It can be without tools":
    "core/loop/model.test.ts > the request: address, key, limits and tools; without tools no empty list",
  "Options of the model: tokens and temperature":
    "core/loop/model.test.ts > the request: address, key, limits and tools; without tools no empty list",
  "It returns the answer and the steps": "core/loop/run.test.ts > an answer without tools",
  "It ends at its limit": "test/cases/loop.json > loop/iteration-limit",
  "At its limit it returns what it has": departs(
    "The limits end in an answer",
    "what the calls found would stay without words; one more model call sums it up",
  ),
  "The same loop serves a sub-agent":
    "pi-agent/tools/session/task.test.ts > it has its own history and fewer tools; its calls are recorded, and its answer is returned",
  "The loop knows no tool by name":
    "core/loop/run.test.ts > a single call: its result goes to the model, its record next to the answer",
  "Jobs begin within the loop too": "pi-agent/calls/jobs.test.ts > a prompt whose loop began a job names it",
  "A cancel ends it": "core/loop/run.test.ts > cancelled before the start, and between two calls",
};

const TOOLS: Rows = {
  // Backends
  "A tool does not know where it works": "pi-agent/toolbox/presets.test.ts > works there, and only there",
  "Files: read":
    "pi-agent/env/contract-files.test.ts > written content is read back, byte for byte, whole and in parts",
  "Files: write, with a mode":
    "pi-agent/env/contract-files.test.ts > a rewritten file keeps its mode, a link its target, and nothing is left beside it",
  "Files: stat": "pi-agent/env/contract-files.test.ts > stat tells kind, size, mode and time",
  "Files: list a folder":
    "pi-agent/env/contract-files.test.ts > a folder is listed by name and kind, including hidden entries and links",
  "Files: make folders with their parents":
    "pi-agent/env/contract-files.test.ts > folders are made with their parents, and an existing one is no error",
  "Files: remove":
    "pi-agent/env/contract-files.test.ts > remove deletes a file, a link but not its target, and only an empty folder",
  "Files: a cancel ends each of them":
    "pi-agent/env/contract-files.test.ts > an aborted signal does nothing, and its reason is thrown",
  "Programs: a command with arguments":
    "pi-agent/env/contract-programs.test.ts > arguments arrive as they were given",
  "Programs: variables":
    "pi-agent/env/contract-programs.test.ts > has a clean environment, and the given variables",
  "Programs: a folder to work in":
    "pi-agent/env/contract-programs.test.ts > starts in the workspace or a folder of it, and nowhere else",
  "Programs: both streams and the exit code":
    "pi-agent/env/contract-programs.test.ts > tells the exit code and both streams",
  "Programs: an error apart from the exit code":
    "pi-agent/env/contract-programs.test.ts > a missing program is distinguished from one that fails",
  "Programs: a cancel ends them":
    "pi-agent/env/contract-programs.test.ts > an abort ends children, their sessions and their orphans before it is confirmed",
  "Files of this machine": "pi-agent/env/local-files.test.ts > a file as a whole and in part",
  "Programs of this machine":
    "pi-agent/env/contract-programs.test.ts > passes on large and binary output completely",
  "Files of another machine over ssh":
    "pi-agent/env/ssh/ssh.test.ts > many calls share a connection, also more at once than a server allows on one; close ends it",
  "Programs of another machine over ssh":
    "pi-agent/env/ssh/ssh.test.ts > an unreachable command fails, and never runs here",
  "A backend bundles files and programs under a name":
    "pi-agent/tools/programs/nodes.test.ts > is only this device at first",
  "A remote backend has host, user and key":
    "pi-agent/tools/programs/nodes.test.ts > adds a machine that answers, keeps it for the next start, and removes it",
  "A remote backend falls back to this machine": departs(
    "A remote tool works there or not at all",
    "a command for another machine would run on this one",
  ),
  // Factories
  "A factory makes a tool for a folder": "pi-agent/toolbox/presets.test.ts > each set has its tools",
  "Option: the backend; without it this machine":
    "pi-agent/toolbox/presets.test.ts > works there, and only there",
  "Option: bytes of one read, 512 KB": [
    "pi-agent/toolbox/presets.test.ts > the owner's limits reach the tools",
    "pi-agent/tools/files/read.test.ts > the owner's limits",
  ],
  "Option: lines of one read, 2000": "test/cases/read.json > read/line-limit",
  "Option: the time of bash, 30 s": "test/cases/bash.json > bash/default-timeout",
  "Relative paths are paths below the folder": "test/cases/path_guard.json > path_guard/inside",
  "read: text within limits":
    "pi-agent/tools/files/read.test.ts > over 2000 lines: whole lines, and how to continue",
  "read: pictures as base64": "pi-agent/tools/files/read.test.ts > a picture is shown, whatever its name is",
  "write: makes the folders above": "test/cases/write.json > write/new-with-parents",
  "edit: replaces exactly one text": [
    "test/cases/edit.json > edit/simple",
    "test/cases/edit.json > edit/three-occurrences",
  ],
  "bash: with a time-out": "test/cases/bash.json > bash/timeout",
  "grep: by a regular expression": [
    "pi-agent/tools/files/search.test.ts > context, case and groups",
    "pi-agent/tools/files/search.test.ts > an invalid pattern is reported as such",
  ],
  "find: by a name's pattern":
    "pi-agent/tools/files/search.test.ts > patterns by name and by path, in a folder",
  "Set for work: read, bash, edit, write": "pi-agent/toolbox/presets.test.ts > each set has its tools",
  "Set for looking: read, grep, find": "pi-agent/toolbox/presets.test.ts > each set has its tools",
  "Set of all six": "pi-agent/toolbox/presets.test.ts > each set has its tools",
  "Set for another machine": "pi-agent/toolbox/presets.test.ts > works there, and only there",
  "A set of one's own, with limits": "pi-agent/toolbox/presets.test.ts > the owner's limits reach the tools",
  "A set is chosen by a setting":
    "pi-agent/config/settings.test.ts > D12 [tools] preset offers a set of tools, and enabled adds to it",
  "Work on a server with a graphics card, as an example": [
    "pi-agent/toolbox/presets.test.ts > works there, and only there",
    "pi-agent/serve/agent-serves.test.ts > an agent serves its workspace, another one works in it by the preset remote, and the first one records it",
  ],
  // Results
  "A result is a list of parts": "core/tools/contract.test.ts > textOf names what is not text in a word",
  "Part: text": "core/tools/contract.test.ts > textOf names what is not text in a word",
  "Part: a picture with its type, as base64": [
    "core/tools/contract.test.ts > textOf names what is not text in a word",
    "pi-agent/commands/commands.test.ts > an image comes next to the text",
  ],
  "Part: an error with a code":
    "core/tools/contract.test.ts > fault: the model reads the message, the details stay",
  "Codes are for machines": "core/tools/errors.test.ts > each code has one of the seven error types",
  "A result has its time": "pi-agent/commands/commands.test.ts > runs and answers in the seed's form",
  "A result has its exit code":
    "core/tools/contract.test.ts > silent: the model reads it, the person does not",
  "There are helpers for each part":
    "core/tools/contract.test.ts > fault: the model reads the message, the details stay",
  "A result can have the older form": "core/tools/contract.test.ts > the legacy shape",
  "The older form has tool, status and all text": "core/tools/contract.test.ts > the legacy shape",
  "A picture reaches the model and the person":
    "test/e2e/media.test.ts > a picture %s reaches the model and the person unchanged",
  // Tools of both kinds
  "Built-in tools stand beside those of skill.toml":
    "pi-agent/skills/skills.test.ts > the agent's own tools have priority; older versions can be called, and are not offered",
  "A built-in tool replaces one of the same name":
    "pi-agent/skills/skills.test.ts > the agent's own tools have priority; older versions can be called, and are not offered",
  "Schemas are made of both":
    "pi-agent/commands/looks.test.ts > tools_list: every tool with its schema and EvoClaw's block, and the reasons for missing ones",
  "A built-in tool can be called directly":
    "core/tools/runner.test.ts > the tool's own time-out counts, and never above its maximum",
  // Later work
  "Later: a backend over ssh that works": [
    "pi-agent/env/ssh/ssh.test.ts > an unknown host key, a wrong key and a closed port are distinguished",
    "pi-agent/toolbox/presets.test.ts > works there, and only there",
  ],
  "Later: a backend over HTTP": [
    "pi-agent/serve/serve.test.ts > over TLS with an authority of one's own; a client that does not know it refuses",
    "pi-agent/tools/programs/nodes.test.ts > a node of agent.toml over HTTP: tools work there, and no model can change it",
  ],
  "Later: the loop runs built-in tools without MQTT":
    "pi-agent/commands/prompt.test.ts > a question that needs two tools is answered once, with both",
  "Later: output as it comes":
    "pi-agent/calls/streaming.test.ts > without a watching person no output is sent",
  "Later: a tool made of tools": [
    "pi-agent/skills/composed-tool.test.ts > each step gets parameters and earlier results; the last result is the tool's",
    "test/e2e/tools-dependent.test.ts > a tool made of tools: one approval shows its steps",
  ],
  "Later: what read gives goes into grep":
    "pi-agent/skills/examples.test.ts > tools made of tools: one writes what another found, and one asks when the log cannot be read",
};

/** By the numbers that docs/reference/agent-toml.md has for the designs. */
export const SEED_ROWS: Readonly<Record<string, Rows>> = {
  "000": PLAN,
  "001": LOOP,
  "002": EDGE_CALL,
  "003": TOOL_CORE,
  "004": TOOLS,
};
