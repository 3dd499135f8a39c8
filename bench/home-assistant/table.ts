/** The figures of a large Home Assistant as a table for people. */
import type { HomeAssistantFigures } from "./measure.ts";

const LABEL = 52;
const CELL = 14;

export function homeAssistantTable(all: readonly HomeAssistantFigures[]): string {
  const line = (label: string, cell: (one: HomeAssistantFigures) => string) =>
    label.padEnd(LABEL) + all.map((one) => cell(one).padStart(CELL)).join("");
  const [first] = all;
  return [
    line("devices of a Home Assistant", ({ devices }) => String(devices)),
    line("with 400 days of 300 other devices", ({ kept }) => (kept ? "yes" : "no")),
    line("entities", ({ entities }) => String(entities)),
    line("first subscription, KB", ({ subscription }) => (subscription.bytes / 1_000).toFixed(0)),
    line("first subscription, ms", ({ subscription }) => subscription.ms.toFixed(0)),
    line("registries, KB", ({ registryBytes }) => (registryBytes / 1_000).toFixed(0)),
    line("from the bridge's start until all are known, s", ({ knownMs }) => (knownMs / 1_000).toFixed(1)),
    line("memory of the bridge, MB", ({ bridgeRss }) => (bridgeRss / 1_000_000).toFixed(0)),
    line("processor of the bridge, %", ({ bridgeCpu }) => (bridgeCpu * 100).toFixed(1)),
    ...(first?.questions ?? []).map(({ text }, at) =>
      line(`"${text}", tokens / ms`, ({ questions }) => {
        const found = questions[at];
        return found ? `${found.tokens.toFixed(0)} / ${found.ms.toFixed(0)}` : "";
      }),
    ),
  ].join("\n");
}

export const HOME_ASSISTANT_NOTES = [
  "A Home Assistant of PyPI with plugs that each have a light and sensors; the power of 50 changes each second. The bridge is started as in",
  "its image. Tokens are those of all requests to the model of one turn, as the gateway estimates them; the model has no delay.",
];
