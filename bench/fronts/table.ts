/** The front doors' figures as a table for people. */
import { STREAMS, type Stream } from "./first-token.ts";
import type { Fronts } from "./measure.ts";

const LABEL = 52;
const CELL = 9;
const NAMES: Record<Stream, string> = {
  model: "the model's own",
  messages: "/v1/conversations/…/messages",
  completions: "/v1/chat/completions",
  responses: "/v1/responses",
};

export function frontTable({ acks, firstTokens }: Fronts): string {
  const line = (label: string, cells: readonly string[]) =>
    label.padEnd(LABEL) + cells.map((cell) => cell.padStart(CELL)).join("");
  return [
    line(`ms to a webhook's acknowledgement, ${acks.people} turns at a time`, [
      "p50",
      "p99",
      "most",
      "samples",
    ]),
    ...acks.rows.map(({ channel, p50, p99, most, samples }) =>
      line(channel, [p50.toFixed(2), p99.toFixed(2), most.toFixed(2), String(samples)]),
    ),
    ...firstTokens.flatMap(({ modelMs, rows }) => [
      "",
      line(`ms to the first token, of a model that takes ${modelMs} ms`, ["p50", "p99", "ratio"]),
      ...STREAMS.map((stream) => {
        const { p50, p99, ratio } = rows[stream];
        return line(NAMES[stream], [p50.toFixed(2), p99.toFixed(2), ratio.toFixed(2)]);
      }),
    ]),
  ].join("\n");
}

export const FRONT_NOTES = [
  "Front doors: a webhook is acknowledged when its message is a row; the platforms are played by the load generator's",
  "process, each person waits for the answer, and the model takes 500 ms. First tokens: one stream at a time, the four in",
  "turns; the ratio is the median of the pairs', over the model's own without the gateway.",
];
