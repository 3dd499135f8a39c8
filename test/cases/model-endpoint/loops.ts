/** Models that repeat themselves, and floods. */
import {
  type Cases,
  callThen,
  final,
  finish,
  fn,
  newId,
  oneCall,
  piece,
  pieces,
  RUN_ONCE,
  STREAM,
  sse,
  stream,
  wanted,
  words,
} from "./replies.ts";

/** Model calls of a turn that are offered tools. */
const STEPS = 10;
const TEN_TIMES = Array.from({ length: STEPS }, () => "1");
const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n));

export const LOOPS: Cases = {
  "l-repeat": {
    play: (asked) => (asked.body.tools?.length ? oneCall(asked) : final(asked)),
    outcome: { runs: TEN_TIMES, answer: /^FINAL\(did 1( \| did 1){9}\)$/, requests: STEPS + 1 },
  },
  "l-badjson": {
    play: (asked) =>
      asked.body.tools?.length
        ? stream(
            pieces({ ...piece(wanted(asked)), function: fn(wanted(asked), "{'a': 1") }),
            finish("tool_calls"),
          )
        : final(asked),
    outcome: { runs: [], answer: /^FINAL\((Error: [^|]*\|? ?){3}\)$/, requests: 4 },
  },
  "l-badname": {
    play: (asked) =>
      asked.body.tools?.length
        ? stream(
            pieces({
              index: 0,
              id: newId(),
              type: "function",
              function: { name: "get_disk", arguments: "{}" },
            }),
            finish("tool_calls"),
          )
        : final(asked),
    outcome: { runs: [], answer: /^FINAL\((Error: Tool 'get_disk' not found[^|]*\|? ?){3}\)$/, requests: 4 },
  },
  "l-ignoresnote": {
    play: oneCall,
    outcome: { runs: TEN_TIMES, answer: "I could not sum this up.", requests: STEPS + 1 },
  },
  "l-many": {
    row: "L14",
    play: callThen((_, asked) =>
      stream(...numbers(40).map((n, index) => pieces(piece(wanted(asked, n), index))), finish("tool_calls")),
    ),
    outcome: { runs: numbers(40), answer: /^FINAL\(did 0 \| .* \| did 39\)$/, requests: 2 },
  },
  "l-100": {
    row: "L14",
    play: callThen((_, asked) =>
      stream(...numbers(100).map((n, index) => pieces(piece(wanted(asked, n), index))), finish("tool_calls")),
    ),
    outcome: { runs: numbers(64), answer: /did 63 \| .*Not run: this reply has 100 calls/s, requests: 2 },
  },
  "l-300": {
    row: "L14",
    play: callThen((call) =>
      stream(...numbers(300).map((_, index) => pieces(piece(call, index))), finish("length")),
    ),
    outcome: { runs: ["1"], answer: /^FINAL\(did 1 \| Equal to the call /, requests: 2 },
  },
  "l-300idx0": {
    row: "L14",
    play: callThen((call) => stream(pieces(...numbers(300).map(() => piece(call))), finish("tool_calls"))),
    outcome: { runs: ["1"], answer: /^FINAL\(did 1 \| Equal to the call /, requests: 2 },
  },
  "l-rep": {
    play: () => ({ headers: STREAM, body: sse(words("again and again ".repeat(64))).repeat(600) }),
    outcome: {
      runs: [],
      answer: /longer than 500,000 characters/,
      advice: "",
      status: "failed",
      requests: 1,
    },
  },
  "l-ws": {
    play: (asked) =>
      asked.at < 6 && asked.body.tools?.length
        ? stream(
            pieces({ ...piece(wanted(asked)), function: fn(wanted(asked), `{${"\n".repeat(3_000)}`) }),
            finish("length"),
          )
        : final(asked),
    outcome: { runs: [], answer: /^FINAL\((Error: [^|]*\|? ?){3}\)$/, requests: 4 },
  },
  "l-endless": {
    play: callThen((call) =>
      stream(...numbers(2_000).map(() => words("")), pieces(piece(call)), finish("tool_calls")),
    ),
    outcome: RUN_ONCE,
  },
};
