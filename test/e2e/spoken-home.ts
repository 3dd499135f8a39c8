/** The demo home for tests of plain sentences: the same sentences in three languages, at a gateway whose model refuses. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type DemoHome, startDemoHome } from "../../local/demo/demo.ts";
import { furnish } from "../../local/demo/furnish.ts";
import { TOKENS } from "../tokens.ts";
import { RULE_VARS } from "./home-rules.ts";
import { forgetRules } from "./rule-chats.ts";
import { type Stack, useStack } from "./stack.ts";

/** What a person says, and what is answered. */
type Said<Answer = string> = readonly [says: string, answer: Answer];

export type Spoken = {
  language: string;
  /** Names and areas by the devices' ids, as people who speak it have them. */
  names: Readonly<Record<string, readonly [name: string, area: string]>>;
  /** The device's own state confirms it. */
  command: Said;
  question: Said<RegExp>;
  /** A singular of which there are two, and which of them is meant. */
  which: Said;
  chosen: Said;
  /** The watch as it is made, and what it tells. */
  watch: Said;
  fires: RegExp;
  /** More than three devices: a light that answers, and the one that is dead, which may report meanwhile what it is. */
  plural: Said<readonly [done: string, dead: string]>;
  /** The one question about them, and the word of its button. */
  asks: readonly [sentence: RegExp, verb: string];
  /** It needs a model: that there is no answer, the word that was not known, and the title of what works. */
  general: Said<readonly string[]>;
};

/** In this order, since the names of one replace those of the one before. */
export const SPOKEN: readonly Spoken[] = [
  {
    language: "English",
    names: {
      "reading-lamp": ["Reading lamp", "Living room"],
      "kitchen-light": ["Kitchen light", "Kitchen"],
      "counter-light": ["Counter light", "Kitchen"],
      "leak-sensor": ["Leak sensor", "Laundry"],
      "office-thermometer": ["Office thermometer", "Office"],
    },
    command: ["turn off the reading lamp", "Reading lamp: off."],
    question: ["how warm is it in the office?", /Office thermometer: \d+(\.\d+)? °C\./],
    which: ["turn off the light in the kitchen", "Which one? Counter light or Kitchen light"],
    chosen: ["the counter light", "Counter light: off."],
    watch: ["tell me when the leak sensor is wet", "Watching Leak sensor, Laundry: tells you here"],
    fires: /tell me when the leak sensor is wet: wet at \d\d:\d\d/,
    asks: [/Switch \d+ lights on\?/, "Switch on"],
    plural: ["turn on all lights", ["Reading lamp: on.", "Bedroom light: sent, but not confirmed"]],
    general: [
      "why is the sky blue?",
      [
        "I could not get an answer from the model:",
        "I have no answer to “why” without a model. If you ask what happened here: see the console (Rules, Record).",
        "This works here:",
      ],
    ],
  },
  {
    language: "German",
    names: {
      "reading-lamp": ["Leselampe", "Wohnzimmer"],
      "kitchen-light": ["Küchenlicht", "Küche"],
      "counter-light": ["Thekenlicht", "Küche"],
      "leak-sensor": ["Wassermelder", "Waschküche"],
      "office-thermometer": ["Fensterthermometer", "Büro"],
    },
    command: ["schalte die Leselampe aus", "Leselampe: aus."],
    question: ["wie warm ist es im Büro?", /Fensterthermometer: \d+(,\d+)? °C\./],
    which: ["mach das Licht in der Küche aus", "Was meinst du? Thekenlicht oder Küchenlicht"],
    chosen: ["das Thekenlicht", "Thekenlicht: aus."],
    watch: ["sag mir, wenn der Wassermelder nass ist", "Ich beobachte Wassermelder, Waschküche:"],
    fires: /sag mir, wenn der Wassermelder nass ist: nass um \d\d:\d\d/,
    asks: [/\d+ Lichter einschalten\?/, "Einschalten"],
    plural: ["schalte alle Lichter ein", ["Leselampe: an.", "Bedroom light: gesendet, aber nicht bestätigt"]],
    general: [
      "warum ist der Himmel blau?",
      ["Das Modell hat mir keine Antwort gegeben:", "Das Wort „Himmel“ kenne ich nicht.", "Das geht hier:"],
    ],
  },
  {
    language: "Chinese",
    names: {
      "reading-lamp": ["阅读灯", "客厅"],
      "kitchen-light": ["厨房灯", "厨房"],
      "counter-light": ["台面灯", "厨房"],
      "leak-sensor": ["漏水传感器", "洗衣房"],
      "office-thermometer": ["窗边温度计", "书房"],
    },
    command: ["关掉阅读灯", "阅读灯：关。"],
    question: ["书房多少度？", /窗边温度计：\d+(\.\d+)? °C。/],
    which: ["关掉厨房的灯", "哪一个？台面灯或厨房灯"],
    chosen: ["台面灯", "台面灯：关。"],
    watch: ["漏水传感器湿了告诉我", "正在关注漏水传感器"],
    fires: /漏水传感器湿了告诉我：\d\d:\d\d：有水/,
    asks: [/打开\d+ 个灯？/, "打开"],
    plural: ["打开所有的灯", ["阅读灯：开。", "Bedroom light：已发送，但没有确认"]],
    general: ["天空为什么是蓝色的？", ["模型没有给我回答：", "我不认识", "在这里可以说："]],
  },
];

export type SpokenHome = {
  stack: Stack;
  house(): DemoHome;
  /** Questions to the model, which refused all of them. */
  refused(): number;
  /** Of turns, in the order of their ends. */
  traces(): Array<{ status: unknown; withoutModel: unknown }>;
  /** Gives the devices their names in a language, and takes all rules and the leak away. */
  settle(spoken: Spoken): Promise<void>;
};

/** A demo home for the tests of a file. @param vars more variables of the Worker */
export function useSpokenHome(vars: Record<string, string> = {}): SpokenHome {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-spoken-home-"));
  const all: Record<string, string> = Object.assign(vars, RULE_VARS);
  const peers = new Peers();
  let house: DemoHome | undefined;
  // It is there before the gateway that is told of it.
  beforeAll(async () => {
    const url = await peers.start();
    Object.assign(all, { LLM_BASE_URL: url, OTEL_EXPORTER_OTLP_ENDPOINT: url });
  });
  const stack = useStack({ vars: all, bridge: { BRIDGE_STATE: folder } }, async ({ mqttUrl, gateway }) => {
    house = await startDemoHome({ url: mqttUrl, seed: 4 });
    await furnish({ url: gateway.url, token: TOKENS.owner });
  });
  afterAll(async () => {
    await house?.stop();
    peers.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const home = () => {
    if (!house) throw new Error("the demo home is not started");
    return house;
  };
  return {
    stack,
    house: home,
    refused: () => peers.refused,
    traces: () => peers.turns,
    async settle({ names }) {
      for (const [id, [name, area]] of Object.entries(names)) {
        const body = JSON.stringify({ name, area });
        const { status } = await stack.gateway.fetch(`/v1/devices/${id}`, { method: "PATCH", body });
        if (status !== 200) throw new Error(`${id} was not named: ${status}`);
      }
      home().happen("leak dried");
      await forgetRules(stack);
    },
  };
}

type OtlpBody = {
  resourceSpans: Array<{
    scopeSpans: Array<{ spans: Array<{ name: string; attributes: OtlpAttribute[] }> }>;
  }>;
};
type OtlpAttribute = { key: string; value: { stringValue?: string; boolValue?: boolean } };

/** A model that refuses each request, and a collector of traces. */
class Peers {
  refused = 0;
  readonly turns: Array<{ status: unknown; withoutModel: unknown }> = [];
  readonly #server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const isTrace = request.url?.endsWith("/v1/traces") === true;
    if (isTrace) this.#collect(JSON.parse(body) as OtlpBody);
    // It is also asked what it has, once.
    else if (request.method === "POST") this.refused += 1;
    response.writeHead(isTrace ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(isTrace ? {} : { error: { message: "this key is not valid" } }));
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #collect({ resourceSpans }: OtlpBody): void {
    const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
    for (const { name, attributes } of spans) {
      if (!name.startsWith("invoke_agent")) continue;
      const of = (key: string) => attributes.find((one) => one.key === `edgecall.turn.${key}`)?.value;
      this.turns.push({ status: of("status")?.stringValue, withoutModel: of("without_model")?.boolValue });
    }
  }
}
