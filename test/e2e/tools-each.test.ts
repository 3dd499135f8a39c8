/**
 * Every tool that an agent can offer, called once as an action of an edge_call and once by the device's own loop. The
 * board and the programs that need hardware are those of pi-agent/testing; everything else is real.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { OUTCOMES_VARIABLE, REQUEST_FILE } from "@edgecall/node/systemd/update.ts";
import { afterAll, describe, expect, test } from "vitest";
import { PC } from "../../pi-agent/testing/boards/pc.ts";
import { PI_4, PI_4_CHIPS } from "../../pi-agent/testing/boards/pi-4.ts";
import { fakeCsi } from "../../pi-agent/testing/programs/cameras.ts";
import { saying } from "../../pi-agent/testing/programs/folder.ts";
import { fakeGpio } from "../../pi-agent/testing/programs/gpiod.ts";
import { type Step, script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import { noGit } from "./peers.ts";
import { ROOT } from "./program.ts";
import { makeRepository } from "./repository.ts";
import { startSearchService } from "./search-service.ts";
import { useStack } from "./stack.ts";

const gpio = fakeGpio(1, PI_4_CHIPS, { registers: "pinctrl" });
gpio.set("gpiochip0", 17, { name: "GPIO17", val: 1 });
const PROGRAMS = {
  ...gpio.scripts,
  ...fakeCsi("rpicam-still"),
  i2cdetect: saying("     0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f\n70: -- -- -- -- -- -- 76 --"),
  systemctl: saying("ssh.service loaded active running OpenBSD Secure Shell server"),
  journalctl: saying(
    '{"__REALTIME_TIMESTAMP":"1795311326123456","SYSLOG_IDENTIFIER":"sshd","MESSAGE":"hello"}',
  ),
  ping: saying("3 packets transmitted, 3 received, 0% packet loss, time 1002ms"),
};
const BOARD = { ...PI_4, "/etc/hostname": "attic\n", "/run/log/journal/.keep": "" };

const web = await startSearchService();
afterAll(() => web.close());

const PERMISSIONS = ["file_read", "file_write", "shell", "network", "git", "session", "device", "system"];
/** `bench` runs as if it were a service, which can request updates; no program reads its requests. */
const STATE = mkdtempSync(join(tmpdir(), "edgecall-bench-"));
afterAll(() => rmSync(STATE, { recursive: true, force: true }));

const IN_SANDBOX = ["needs/bubblewrap"];
const GIT = ["needs/git", ...IN_SANDBOX];
const RG = ["needs/ripgrep"];
/** The programs of this machine that each tool's test needs. */
const TAGS: Record<string, string[]> = {
  bash: IN_SANDBOX,
  browser: ["needs/chromium"],
  convert_temperature: ["needs/python3", ...IN_SANDBOX],
  count_lines: IN_SANDBOX,
  measure_load: IN_SANDBOX,
  find: RG,
  git_branch: GIT,
  git_commit: GIT,
  git_diff: GIT,
  git_log: GIT,
  git_status: GIT,
  glob: RG,
  grep: RG,
  log_watch: RG,
  tank_level: IN_SANDBOX,
  tank_watch: IN_SANDBOX,
  nodes: ["needs/openssh-client"],
};

const stack = useStack({}, async (stack) => {
  await stack.startAgent({
    id: "bench",
    model: true,
    board: BOARD,
    programs: PROGRAMS,
    env: { STATE_DIRECTORY: STATE, [OUTCOMES_VARIABLE]: join(STATE, "updates.json") },
    top: {
      state_dir: STATE,
      policy: Object.fromEntries(PERMISSIONS.map((name) => [name, "allow"])),
      tools: { ...web.settings, skills_path: join(ROOT, "examples/skills") },
    },
  });
  // A PC with none of the programs, no sandbox, no browser and no model.
  await stack.startAgent({
    id: "bare",
    board: PC,
    env: { PATH: join(ROOT, "docs") },
    top: { tools: { sandboxing: "none", browser: { enabled: false } } },
  });
  await stack.gateway.online("bench");
  await stack.gateway.online("bare");
  if (noGit === undefined) makeRepository(stack.workspaceOf("bench"));
});

type Row = {
  params?: Record<string, unknown>;
  /** A pattern of the text that the model receives. */
  gives: RegExp;
  /** Runs before the call. */
  first?: () => void;
  /** Files in the workspace before the call; `$new` is a name that did not exist before. */
  files?: Record<string, string | Buffer>;
  /** Files in the workspace after it. */
  leaves?: Record<string, string>;
  /** The person's answer when asked. */
  answer?: string;
  /** The media type of the attachment for the person, which the model also gets when it is a picture. */
  serves?: string;
};

const LIST = { "list.txt": "milk\nbread\n" };
/** The smallest possible picture. */
const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const CHANGED = { "list.txt": "milk\nrolls\n" };
const PATCH = "*** Begin Patch\n*** Update File: list.txt\n@@\n milk\n-bread\n+rolls\n*** End Patch";

const SKILLS = [
  "convert_temperature",
  "count_lines",
  "disk_note",
  "log_watch",
  "measure_load",
  "tank_level",
  "tank_watch",
];
const ROWS: Record<string, Row> = {
  append: {
    params: { path: "list.txt", content: "eggs\n" },
    files: LIST,
    gives: /^Appended 5B to list\.txt/,
    leaves: { "list.txt": "milk\nbread\neggs\n" },
  },
  apply_patch: { params: { patch: PATCH }, files: LIST, gives: /^Done:\nM list\.txt$/, leaves: CHANGED },
  bash: { params: { command: "cat list.txt | wc -l" }, files: LIST, gives: /^2\n$/ },
  browser: { params: { action: "open", url: `${web.url}/tides` }, gives: /High water at 14:32\./ },
  canvas: {
    params: { html: "<h1>Plan</h1>", title: "Plan" },
    gives: /^Shown to the user: Plan, at \/v1\/media\//,
    serves: "text/html; charset=utf-8",
  },
  codesearch: { params: { query: "read a pin", library: "gpiozero" }, gives: /Passages of \/gpiozero\/docs/ },
  convert_temperature: { params: { value: 21.5 }, gives: /70\.7.*fahrenheit/ },
  count_lines: { params: { path: "list.txt" }, files: LIST, gives: /^2\s*$/ },
  cpu: { gives: /^CPU 20% busy .* 4 cores/ },
  disk: { params: { path: "/boot/firmware" }, gives: /^\/boot\/firmware \d+% used/ },
  disk_note: { params: { path: "notes/disk.txt" }, gives: /^(Created|Replaced) notes\/disk\.txt/ },
  edit: {
    params: { path: "list.txt", old_string: "bread", new_string: "rolls" },
    files: LIST,
    gives: /^Edited list\.txt: 1 place/,
    leaves: CHANGED,
  },
  find: { params: { pattern: "*.txt" }, files: LIST, gives: /^list\.txt$/m },
  git_branch: { gives: /^\* main /m },
  git_commit: { params: { message: "More" }, files: { "new.txt": "$new" }, gives: /^\[main \w+\] More/ },
  git_diff: { params: { commit: "HEAD" }, gives: /^diff --git/ },
  git_log: { params: { max_count: 1 }, gives: /^commit \w{40} \(HEAD -> main\)/ },
  git_status: { files: { "new.txt": "$new" }, gives: /^## main\n.*new\.txt/ },
  glob: { params: { pattern: "*.txt" }, files: LIST, gives: /^list\.txt$/m },
  gpio_list: { gives: /^17 GPIO17 input$/m },
  gpio_read: { params: { pin: 17 }, gives: /^GPIO17 is HIGH \(1\): an input\.$/ },
  gpio_write: { params: { pin: 27, value: 1 }, gives: /^GPIO27 is now HIGH \(1\): read back and verified\./ },
  grep: { params: { pattern: "br.ad" }, files: LIST, gives: /^list\.txt:2: bread/m },
  i2c_detect: { gives: /^I2C bus 1: 1 answered: address 0x76$/ },
  // A script for each of the two ways; the vision model describes the picture that it received.
  image: {
    params: { path: "dot.png", question: script({ text: "$pictures" }, { text: "$pictures" }) },
    files: { "dot.png": DOT },
    gives: /^data:image\/png \d+$/,
  },
  // `measure_load` may have begun some by then.
  jobs: { gives: /^(No jobs\.|[0-9a-f-]{36} \w+: )/ },
  journal: { params: { lines: 5 }, gives: /^2026-11-22T01:35:26Z sshd: hello$/ },
  list_processes: { gives: /^1 systemd: CPU 0\.0%, memory 11\.0 MiB/m },
  log_watch: {
    params: { path: "app.log", pattern: "err.r" },
    files: { "app.log": "started\nerror: no disk\n" },
    gives: /^app\.log:2: error: no disk/m,
  },
  ls: { files: LIST, gives: /^list\.txt$/m },
  measure_load: { params: { minutes: 0.01 }, gives: /^Accepted: 'measure_load' goes on in the background\./ },
  memory: { gives: /^RAM 25% used/ },
  network_info: { gives: /^eth0: up received 98\.7 GB, sent 1\.2 GB$/m },
  nodes: {
    params: { action: "list" },
    gives: /this device, in \/.*\(where tools work when no node is named\)/,
  },
  ping: { params: { host: "nas.local" }, gives: /^nas\.local answers: 3 of 3 pings came back/ },
  question: {
    params: { question: "Which room?", options: ["attic", "cellar"] },
    answer: "cellar",
    gives: /^The user answered: cellar$/,
  },
  read: { params: { path: "/etc/hostname" }, gives: /^attic\n$/ },
  services: { gives: /^No service has failed\.\n1 running: ssh$/ },
  skill: { params: { name: "morning-report" }, gives: /^Skill 'morning-report'\..*\n\n1\. Call/ },
  snapshot: {
    params: { resolution: "640x480" },
    serves: "image/jpeg",
    gives: /^Picture of camera 0 \(imx708\), 640x480, [\s\S]*data:image\/jpeg \d{3,}$/,
  },
  system_info: { gives: /^model: Raspberry Pi 4 Model B Rev 1\.4\n.*\n.*\nhostname: attic$/m },
  // A script for each of the two ways.
  task: {
    params: { prompt: script({ text: "for you" }, { text: "for you" }) },
    gives: /^\[.* called no tool .*\]\nfor you$/,
  },
  tank_level: {
    params: { path: "tank.txt" },
    files: { "tank.txt": "41\n" },
    gives: /"value": 41, "unit": "%"/,
  },
  tank_watch: { params: { minutes: 0.05 }, gives: /^Accepted: 'tank_watch' goes on in the background\./ },
  temperature: { gives: /^cpu-thermal: 61\.3 °C/ },
  todoread: { gives: /^The to-do list is empty\.$/ },
  todowrite: { params: { todos: [{ content: "water" }] }, gives: /^1 item, 1 open\n1\. \[ \] water$/ },
  update_self: {
    first: () => rmSync(join(STATE, REQUEST_FILE), { force: true }),
    gives: /^Accepted: 'update_self' goes on in the background\./,
  },
  webfetch: { params: { url: `${web.url}/tides` }, gives: /High water at 14:32\./ },
  websearch: { params: { query: "tides" }, gives: /1\. About tides/ },
  write: {
    params: { path: "new/list.txt", content: "milk\nrolls\n" },
    gives: /^(Created|Replaced) new\/list\.txt \(11B/,
    leaves: { "new/list.txt": "milk\nrolls\n" },
  },
};

const NOT_HERE = expect.stringContaining("enabled = true in [tools.web] of agent.toml offers it here");
const NO_SANDBOX = expect.stringContaining('set sandboxing = "bubblewrap"');
const NO_GPIO = "no program 'gpioget': install gpiod";
const NO_RG = expect.stringContaining("install ripgrep");

/** The tools that `bare` lacks, with the reason and how to get them. */
const MISSING: Record<string, unknown> = {
  browser: "enabled = false in [tools.browser] of agent.toml",
  codesearch: NOT_HERE,
  find: NO_RG,
  git_branch: NO_SANDBOX,
  git_commit: NO_SANDBOX,
  git_diff: NO_SANDBOX,
  git_log: NO_SANDBOX,
  git_status: NO_SANDBOX,
  glob: NO_RG,
  gpio_list: NO_GPIO,
  gpio_read: NO_GPIO,
  gpio_write: NO_GPIO,
  grep: NO_RG,
  i2c_detect: "no program 'i2cdetect': install i2c-tools",
  image: expect.stringContaining("has no model"),
  journal: "no program 'journalctl': no systemd here",
  nodes: "there is no ssh client: apt install openssh-client",
  ping: "no program 'ping': install iputils-ping",
  services: "no program 'systemctl': no systemd here",
  skill: expect.stringMatching(/^no skills with instructions: put one at .*\/NAME\/SKILL\.md$/),
  snapshot: expect.stringContaining("no program for it: install ffmpeg or fswebcam"),
  task: "no model: set LLM_BASE_URL and LLM_MODEL, or [llm] in agent.toml",
  update_self: expect.stringContaining("only an agent that is a service can"),
  webfetch: NOT_HERE,
  websearch: NOT_HERE,
};

/** They are no actions: delegation.test.ts has them. */
const OF_ITS_OWN_MODEL = ["edge_call", "find_agents"];

/** The tools of an agent that knows what its gateway passes, without those of its own model. */
async function offeredBy(agent: string) {
  const { tools, unavailable } = await until(
    async () => {
      const list = await stack.gateway.toolsOf(agent);
      return list.tools.some(({ own }) => own) ? list : undefined;
    },
    { what: "the agent's own tools" },
  );
  const own = tools.filter((one) => one.own).map(({ name }) => name);
  expect(own.sort()).toEqual(OF_ITS_OWN_MODEL);
  return { tools: tools.filter((one) => !one.own), unavailable };
}

test("every tool of an agent has a row here, and every row has a tool", async () => {
  const { tools, unavailable } = await offeredBy("bench");
  const known = [...tools, ...unavailable].map(({ name }) => name).sort();
  expect(known).toEqual(Object.keys(ROWS).sort());
  expect(tools.length).toBeGreaterThan(20);
});

test("a missing tool is not offered, and the list says why", async () => {
  const { tools, unavailable } = await offeredBy("bare");
  const has = tools.map(({ name }) => name);
  // Skills belong to the owner, so no agent lacks them.
  const known = [...has, ...unavailable.map(({ name }) => name), ...SKILLS];
  expect(known.sort()).toEqual(Object.keys(ROWS).sort());
  expect(Object.fromEntries(unavailable.map(({ name, why }) => [name, why]))).toMatchObject(MISSING);
  expect(unavailable.map(({ name }) => name).sort()).toEqual(Object.keys(MISSING).sort());
  expect((await stack.gateway.agent("bare"))?.actions.sort()).toEqual(has.sort());
});

for (const [name, row] of Object.entries(ROWS)) {
  const params = row.params ?? {};
  describe(name, { tags: TAGS[name] ?? [] }, () => {
    test("as an action of an edge_call", async () => {
      const turn = await play(row, action("bench", name, params));
      expect(turn.calls).toMatchObject([{ agent: "bench", action: name, status: "success" }]);
    });

    test("by the device's own loop", async () => {
      const turn = await play(row, ownLoop("bench", tool(name, params), RESULTS));
      expect(turn.calls).toMatchObject([
        { agent: "bench", status: "success", calls: [{ name, args: params, status: "success" }] },
      ]);
    });
  });
}

async function play({ first, files = {}, leaves = {}, answer, serves, gives }: Row, step: Step) {
  for (const [path, text] of Object.entries(files)) {
    const file = join(stack.workspaceOf("bench"), path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof text === "string" ? text.replace("$new", crypto.randomUUID()) : text);
  }
  first?.();
  const conversation = crypto.randomUUID();
  const asked = stack.gateway.ask(script(step, { text: "$results$pictures" }), conversation);
  if (answer !== undefined) {
    const { id } = await stack.gateway.question(conversation);
    expect(await stack.gateway.answer(id, answer)).toBe(200);
  }
  const turn = await asked;
  expect(turn).toMatchObject({ status: "done", answer: expect.stringMatching(gives) });
  for (const [path, text] of Object.entries(leaves))
    expect(readFileSync(join(stack.workspaceOf("bench"), path), "utf8")).toBe(text);
  if (serves !== undefined) {
    const { media } = turn.calls[0] as { media?: Array<{ id: string; bytes: number }> };
    const served = await stack.gateway.fetch(`/v1/media/${media?.[0]?.id}`);
    expect(served.headers.get("content-type")).toBe(serves);
    expect((await served.arrayBuffer()).byteLength).toBe(media?.[0]?.bytes);
  }
  return turn;
}

test("every history that the models received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
