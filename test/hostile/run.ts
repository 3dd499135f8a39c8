/** One run: fills a home, sends hostile requests to it, and collects what changed. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { type Gateway, startWorker } from "../../local/gateway.ts";
import { childrenNamed } from "../../local/workerd-guard.ts";
import { type PlatformServer, startPlatform } from "../platforms/server.ts";
import { type ScriptedModel, script, startScriptedModel } from "../scripted-model.ts";
import { usedHeap } from "../used-heap.ts";
import { until } from "../wait.ts";
import { PlayedBridge } from "./bridge.ts";
import { hostileRequests as corpus } from "./kinds/all.ts";
import { FIXED } from "./kinds/fixed.ts";
import { TOPIC, USED_LINK } from "./kinds/push.ts";
import { DELIVERED } from "./kinds/webhooks.ts";
import { bearer, describeRequest, type HostileRequest } from "./request.ts";
import { countRows, type Rows } from "./rows.ts";
import { type Answer, RequestSender } from "./send.ts";
import { complaint } from "./verdict.ts";
import { DEVICE, DEVICE_KEY, SIGNED, TOKENS, webhookPath, worldVars } from "./world.ts";

export type Plan = {
  /** In addition to the fixed ones. */
  requests: number;
  seed: number;
  /** Sends only this part of the corpus (kinds/all.ts), without the fixed requests. */
  only?: string | undefined;
  /** Called now and then with the number of requests sent. */
  onProgress?: (sent: number) => void;
};

type Tally = { sent: number; byClass: Record<string, number> };

/** @property heap bytes in use in the Worker's isolate @property rss resident bytes of workerd */
type Memory = { heap: number; rss: number };

export type Result = {
  kinds: Record<string, Tally>;
  /** The first faults, each with its request and its seed. */
  faults: string[];
  faultCount: number;
  /** At half time and at the end, each after a full collection of V8's heap. */
  memory: { half: Memory; end: Memory };
  rows: { before: Rows; after: Rows };
  /** The number of requests to the model endpoint during the run. */
  modelRequests: number;
  /** The number of commands that home a's bridge received for its device. */
  deviceCalls: number;
  /** Lines of the Worker's log that report a fault or contain a secret. */
  badLines: string[];
  ms: number;
};

/** The number of requests in flight; workerd has one thread. */
const AT_ONCE = 24;
const BATCH = 500;
const FAULTS_SHOWN = 20;
/** workerd's memory is measured this often after a pause, so that the memory of finished requests is freed. */
const RSS_LOOKS = 10;
const RSS_PAUSE_MS = 200;
/** Events of the product, or the runtime's own words, that report an internal fault. */
const BAD_LINE = /request\.failed|turn\.step_failed|later\.failed|internal error|Uncaught|exceeded/i;
/**
 * The local server in front of Workers writes the first for an invalid Host, and workerd the second for CONNECT
 * (verdict.ts).
 */
const NOT_OURS = /Invalid URL string|does not export a connect/;

/** @throws an error when a program did not start; faults of the product are in the result */
export async function runHostile(plan: Plan): Promise<Result> {
  const began = performance.now();
  const dir = mkdtempSync(join(tmpdir(), "edgecall-hostile-"));
  const stops: Array<() => Promise<void>> = [];
  try {
    const model = await startScriptedModel();
    stops.push(() => model.close());
    const platform = await startPlatform(() => ({ status: 200, body: SENT }));
    stops.push(() => platform.close());
    const vars = worldVars(platform.url, model.url);
    const lines: string[] = [];
    const start = async (): Promise<Gateway> => {
      const gateway = await startWorker({
        port: 0,
        dir,
        vars,
        inspector: true,
        onLog: (line) => lines.push(line),
      });
      stops.push(() => gateway.stop());
      return gateway;
    };
    const first = await start();
    const rule = await furnish(first.url, platform);
    await (await PlayedBridge.connect(first.url)).close();
    await first.stop();
    const before = countRows(dir);
    const gateway = await start();
    const bridge = await PlayedBridge.connect(gateway.url);
    const outcome = await sendAll(gateway, plan, model, rule);
    await bridge.close();
    await gateway.stop();
    const secrets = [
      ...Object.values(TOKENS),
      ...JSON.stringify(vars.CHANNELS).matchAll(/hostile-[a-z-]+-of-[a-z]+/g),
    ].map(String);
    const badLines = lines.filter(
      (line) =>
        (BAD_LINE.test(line) && !NOT_OURS.test(line)) || secrets.some((secret) => line.includes(secret)),
    );
    return {
      ...outcome,
      deviceCalls: bridge.calls,
      rows: { before, after: countRows(dir) },
      badLines: [...new Set(badLines)],
      ms: performance.now() - began,
    };
  } finally {
    for (const stop of stops.toReversed()) await stop().catch(() => {});
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** In a year, so that it says nothing during the run. */
const REMINDER = { text: "kept", in_minutes: 525_600 };
/** Each platform reads its part of this answer to a sent message. */
const SENT = { ok: true, result: { message_id: 1 }, ts: "1.1", id: "1", messages: [{ id: "w" }] };

/**
 * Fills both homes: a conversation in one of them with a reminder, a topic with a link that was pressed, and a webhook delivery that is
 * repeated later.
 * @returns the reminder's id
 */
async function furnish(url: string, platform: PlatformServer): Promise<string> {
  const post = async (path: string, headers: Record<string, string>, body: string | Buffer) => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers,
      body: new Uint8Array(Buffer.from(body)),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  for (const token of [TOKENS.owner, TOKENS.otherHome])
    await fetch(`${url}/v1/status`, { headers: bearer(token) });
  await post(`/v1/agents/${DEVICE}/key`, bearer(TOKENS.owner), JSON.stringify({ public_key: DEVICE_KEY }));
  await post(
    "/v1/conversations/kept/messages",
    bearer(TOKENS.owner),
    JSON.stringify({ text: script({ calls: [{ name: "remind", arguments: REMINDER }] }, { text: "kept" }) }),
  );
  await post("/v1/push/topics", bearer(TOKENS.owner), JSON.stringify({ url: TOPIC }));
  // It makes the key for push services.
  await fetch(`${url}/v1/push`, { headers: bearer(TOKENS.owner) });
  await post(USED_LINK, {}, "");
  await post(webhookPath("telegram"), SIGNED.telegram(), DELIVERED);
  await until(() => platform.calls.length > 0, { within: 20_000, what: "the chat's first answer" });
  const listed = await fetch(`${url}/v1/rules`, { headers: bearer(TOKENS.owner) });
  const { rules } = (await listed.json()) as { rules: Array<{ id: string }> };
  const [{ id } = { id: "none was made" }] = rules;
  return id;
}

type SendingResult = Omit<Result, "rows" | "badLines" | "ms" | "deviceCalls">;

async function sendAll(
  gateway: Gateway,
  plan: Plan,
  model: ScriptedModel,
  rule: string,
): Promise<SendingResult> {
  const sender = new RequestSender(gateway.url, AT_ONCE, rule);
  const asked = model.requests.length;
  const kinds: Record<string, Tally> = {};
  const faults: string[] = [];
  let faultCount = 0;
  let half: Memory | undefined;
  const memory = () => restingMemory(gateway);
  const anyRequest = corpus(plan.only);
  const sendBatch = async (requests: HostileRequest[], from: string) => {
    const queue = requests.values();
    const one = async () => {
      for (const request of queue) {
        const answer = await sender.send(request);
        const tally = kinds[request.kind] ?? { sent: 0, byClass: {} };
        kinds[request.kind] = tally;
        tally.sent += 1;
        const name = classOf(answer);
        tally.byClass[name] = (tally.byClass[name] ?? 0) + 1;
        const fault = complaint(request, answer);
        if (fault === undefined) continue;
        faultCount += 1;
        if (faults.length < FAULTS_SHOWN) faults.push(`${from}: ${describeRequest(request)}\n  → ${fault}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
  };
  try {
    if (plan.only === undefined) await sendBatch(FIXED, "fixed");
    for (let sent = 0; sent < plan.requests; ) {
      const seed = plan.seed + sent / BATCH;
      const requests = fc.sample(anyRequest, { seed, numRuns: Math.min(BATCH, plan.requests - sent) });
      await sendBatch(requests, `seed ${seed}`);
      sent += requests.length;
      plan.onProgress?.(sent);
      if (sent >= plan.requests / 2) half ??= await memory();
    }
    const goesOn = await fetch(`${gateway.url}/v1/agents/pi`, { headers: bearer(TOKENS.owner) });
    if (goesOn.status !== 200) faults.push(`afterwards the home answers ${goesOn.status}`);
    return {
      kinds,
      faults,
      faultCount,
      memory: { half: half ?? (await memory()), end: await memory() },
      modelRequests: model.requests.length - asked,
    };
  } finally {
    sender.stop();
  }
}

function classOf(answer: Answer): string {
  if (answer.as === "response") return `${Math.floor(answer.status / 100)}xx`;
  return answer.as;
}

/**
 * The heap is collected first: without that it grows during the first tens of thousands of requests, and says little.
 * workerd's resident bytes are the median of several measurements.
 */
async function restingMemory({ url, inspectorUrl = "" }: Gateway): Promise<Memory> {
  const heap = await usedHeap(inspectorUrl, () => fetch(`${url}/healthz`));
  const looks: number[] = [];
  for (let i = 0; i < RSS_LOOKS; i += 1) {
    await sleep(RSS_PAUSE_MS);
    looks.push(childrenNamed("workerd").reduce((sum, pid) => sum + rss(pid), 0));
  }
  return { heap, rss: looks.sort((a, b) => a - b)[RSS_LOOKS / 2] ?? 0 };
}

function rss(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes ?? Number.NaN) * 1_024;
}
