/** A home with rules that act, for tests in workerd: a bridge that drafts, an owner who allows, and the frames that come of it. */
import type {
  Automation,
  AutomationDraft,
  AutomationDrafted,
  AutomationNews,
  AutomationRun,
  AutomationStep,
} from "@edgecall/core/protocol/automation.ts";
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { automationBytes, splitSigned } from "@edgecall/core/protocol/signing.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import type { AutomationList } from "../worker/features/automations/contract.ts";
import { device, SET, UNLOCK } from "./hosted-device.ts";
import { RADIATOR } from "./permission-home.ts";
import { make, ruleHome } from "./rule-clock.ts";
import { script } from "./scripted-model.ts";
import { rowsOf } from "./stopping.ts";
import { until } from "./wait.ts";
import { type Answer, ask, say, TestBridge } from "./workerd.ts";

const DOOR = device("front-door", { line: "contact", tools: [] });
const LAMP = device("lamp");
const LOCK = device("lock", { line: "lock", tools: [UNLOCK, { ...SET, name: "lock" }] });
export const DEVICES: readonly AgentState[] = [DOOR, LAMP, RADIATOR, LOCK];

/** Arguments of the tool. */
export const INPUT = {
  name: "Door open, lamp on",
  when: [{ agent_id: "front-door", reading: "Contact", is: "equal", value: "open", for_minutes: 5 }],
  do: [{ agent_id: "lamp", action: "set", parameters: { on: true } }],
};

type Input = {
  name: string;
  when?: Array<{ agent_id: string; reading: string; is: string; value?: unknown; for_minutes?: number }>;
  do: Array<{ agent_id: string; action: string; parameters?: Record<string, unknown> }>;
  over?: string;
  at_most_minutes?: number;
  say?: string;
};

/** What a bridge makes of an input. */
export function drafted({ rule, input, zone }: AutomationDraft): Automation {
  const { name, say: words, when = [], do: steps, over, at_most_minutes } = JSON.parse(input) as Input;
  const hosted = (agent: string) => ({ of: "hosted" as const, key: `key-of-${agent}`, agent });
  return {
    ...rule,
    name,
    ...(words !== undefined && { say: words }),
    match: "all",
    when: when.map(({ agent_id, reading, is, for_minutes = 0 }, at) => ({
      ...hosted(agent_id),
      condition: {
        id: `w-${String(at).repeat(4)}`,
        version: 1,
        reading,
        type: "boolean",
        is: is as "equal",
        value: true,
        hysteresis: 0,
        hold_ms: for_minutes * 60_000,
        clear_hold_ms: 60_000,
        repeat: "each_time",
        tell_own: false,
      },
    })),
    do: steps.map(
      ({ agent_id, action, parameters = {} }): AutomationStep => ({
        ...hosted(agent_id),
        action,
        parameters,
        allow: `allow-${agent_id}`,
        ...(action === "unlock" && { danger: "way_in" }),
      }),
    ),
    over: (over ?? "leave") as "leave",
    end: [],
    ...(at_most_minutes !== undefined && { at_most_minutes }),
    go_on: false,
    pause_ms: 60_000,
    an_hour: 12,
    zone,
  };
}

export const CARD = [
  "Make this rule? “Door open, lamp on”",
  "When: Front door (contact) is open for 5 min.",
  "Then: Lamp: on.",
];

/** @param change of the honest draft */
export function drafts(
  bridge: TestBridge,
  change: (automation: Automation) => Automation = (automation) => automation,
  more: { second_tap?: string[]; card?: string[] } = {},
): AutomationDraft[] {
  const asked: AutomationDraft[] = [];
  bridge.onDraft = (draft): AutomationDrafted => {
    asked.push(draft);
    return { automation: change(drafted(draft)), card: CARD, second_tap: [], ...more };
  };
  return asked;
}

/** A bridge with devices that runs rules that act. @param hash of the rules that it has */
export async function acting(
  { features = ["devices", "kept", "automations"], hash }: { features?: string[]; hash?: string } = {},
  devices: readonly AgentState[] = DEVICES,
): Promise<TestBridge> {
  const bridge = await TestBridge.dial();
  await bridge.hello(features, undefined, hash ?? (await rulesHash([])));
  bridge.send({ t: "snapshot", agents: [...devices], last: true });
  await bridge.snapshotStored();
  drafts(bridge);
  bridge.onOrder = (order) => (order.do === "status" ? { status: [] } : { error: "nothing to undo" });
  return bridge;
}

type Question = {
  id: string;
  conversation: string;
  text: string;
  approval: { reason: string; card: { lines?: string[]; danger?: true } };
};

export async function openQuestion(): Promise<Question> {
  return await until(
    async () => ((await (await ask("/v1/questions")).json()) as { questions: Question[] }).questions[0],
    { what: "a question" },
  );
}

export const answers = (id: string, answer: string, init: Parameters<typeof ask>[1] = {}) =>
  ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify({ answer }), ...init });

/** A model asks for a rule in a conversation. */
export const asks = (conversation: string, input: object = INPUT, init: Parameters<typeof say>[2] = {}) => {
  const text = script(make("automate", input), { text: "$results" });
  return say(conversation, text, { ...init, body: JSON.stringify({ text }) });
};

/** An owner allows what is asked. @returns the answer, and the rule's id */
export async function allows(
  conversation = "c",
  input: object = INPUT,
  init: Parameters<typeof say>[2] = {},
): Promise<{ body: Answer; id: string; question: Question }> {
  const turn = asks(conversation, input, init);
  const question = await openQuestion();
  await answers(question.id, "approve");
  const { body } = await turn;
  const id = /a-[0-9a-f]{12}/.exec(body.answer)?.[0] ?? "";
  return { body, id, question };
}

/** Frames of the rules that the bridge was sent. */
export function sets(bridge: TestBridge) {
  return bridge.received.filter((frame) => frame.t === "automations");
}

/** @returns the rule in a signed text, if the home's key has signed it */
export async function verified(
  text: string,
): Promise<(Automation & { home: string; allowed: { by: string } }) | undefined> {
  const [row] = await rowsOf<{ public_key: string }>(ruleHome(), "SELECT public_key FROM gateway_key");
  const split = splitSigned(text);
  if (!row || !split) return undefined;
  const key = await crypto.subtle.importKey(
    "raw",
    Buffer.from(row.public_key, "base64url"),
    "Ed25519",
    false,
    ["verify"],
  );
  const isOurs = await crypto.subtle.verify("Ed25519", key, split.signature, automationBytes(split.body));
  return isOurs ? JSON.parse(split.body) : undefined;
}

export async function listed(init: Parameters<typeof ask>[1] = {}): Promise<AutomationList> {
  return (await (await ask("/v1/automations", init)).json()) as AutomationList;
}

export function run(rule: string, more: Partial<AutomationRun> = {}): AutomationRun {
  const at = Date.now();
  return {
    rule,
    version: 1,
    firing: 1,
    state: "done",
    at,
    because: ["Front door: open"],
    steps: [{ step: 0, outcome: "confirmed", text: "on", at }],
    ...more,
  };
}

export function tells(bridge: TestBridge, ...news: AutomationNews[]): void {
  bridge.send({ t: "news", news });
}
