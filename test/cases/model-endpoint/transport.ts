/** How a reply comes: framing, media types, pieces, breaks, and what passes by itself. */
import { brotliCompressSync, gzipSync } from "node:zlib";
import {
  always,
  type Cases,
  called,
  callThen,
  each,
  events,
  final,
  finish,
  fn,
  inTurn,
  json,
  newId,
  once,
  oneCall,
  piece,
  pieces,
  RUN_AFTER,
  RUN_ONCE,
  raw,
  refuse,
  STREAM,
  say,
  sse,
  stream,
  text,
  type Wanted,
  wanted,
  words,
} from "./replies.ts";

const whole = (call: Wanted) => text(called(call));
const completion = (call: Wanted) => ({
  model: "m",
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: null,
        tool_calls: [{ id: newId(), type: "function", function: fn(call) }],
      },
      finish_reason: "tool_calls",
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
});

const FRAMES: Record<string, (call: Wanted) => string> = {
  "t-nospace": (call) => whole(call).replaceAll("data: ", "data:"),
  "t-crlf": (call) => whole(call).replaceAll("\n", "\r\n"),
  "t-cr": (call) => whole(call).replaceAll("\n", "\r"),
  "t-bom": (call) => `\ufeff${whole(call)}`,
  "t-multiline": (call) => `${called(call).map((it) => `${JSON.stringify(it, null, 1).split("\n").map((line) => `data: ${line}\n`).join("")}\n`).join("")}data: [DONE]\n\n`,
  "t-idevent": (call) => `${called(call).map((it, at) => `id: ${at}\nevent: message\nretry: 500\n${sse(it)}`).join("")}event: done\ndata: [DONE]\n\n`,
  "t-eventdone": (call) => `${called(call).map(sse).join("")}event: end\ndata: {"ok":true}\n\n`,
  "t-nodone": (call) => called(call).map(sse).join(""),
  "t-noblank": (call) => called(call).map(sse).join("").trimEnd(),
  "t-comments": (call) => `: PROCESSING\n\n${called(call).map((it) => `: alive\n\n${sse(it)}`).join("")}`,
  "t-blanklines": (call) => `\n\n\n${whole(call).replaceAll("\n\n", "\n\n\n\n")}`,
  "t-emptydata": (call) => `data:\n\ndata: \n\n${whole(call)}`,
  "t-ping": (call) => `event: ping\ndata: {"type": "ping"}\n\n${whole(call)}`,
  "t-nulls": (call) => `data: null\n\n${whole(call)}`,
  "t-indented": (call) => whole(call).replaceAll("data: ", "data:   "),
  "t-garbageafter": (call) => `${whole(call)}data: not JSON\n\n`,
}; // biome-ignore format: a table

const TYPES: Record<string, string | undefined> = {
  "t-textplain": "text/plain; charset=utf-8",
  "t-octet": "application/octet-stream",
  "t-jsonct-sse": "application/json",
  "t-notype": undefined,
  "t-case": "Text/Event-Stream; Charset=UTF-8",
  "t-html": "text/html",
  "t-ndjsontype": "application/x-ndjson",
  "t-problem": "application/problem+json",
};

const BODIES: Record<string, readonly [type: string | undefined, (call: Wanted) => string]> = {
  "t-ndjson": ["application/x-ndjson", (call) => called(call).map((it) => `${JSON.stringify(it)}\n`).join("")],
  "t-ndjsonsse": ["text/event-stream", (call) => called(call).map((it) => `${JSON.stringify(it)}\n`).join("")],
  "t-jsonlines": ["application/json", (call) => called(call).map((it) => `${JSON.stringify(it)}\r\n`).join("")],
  "t-jsonlist": ["application/json", (call) => JSON.stringify(called(call))],
  "t-whole": ["application/json", (call) => JSON.stringify(completion(call))],
  "t-wholesse": ["text/event-stream", (call) => sse(completion(call))],
  "t-wholetype": ["text/event-stream", (call) => JSON.stringify(completion(call))],
  "t-wholepretty": ["text/plain", (call) => `\n\n${JSON.stringify(completion(call), null, 2)}\n`],
  "t-wholenotype": [undefined, (call) => JSON.stringify(completion(call))],
}; // biome-ignore format: a table

/** Passes by itself: the same request again is answered. */
const PASSES: Record<string, ReturnType<typeof refuse>> = {
  "t-429date": refuse(429, { error: { message: "slow down" } }, { "retry-after": new Date(Date.now() + 2_000).toUTCString() }),
  "t-429s": refuse(429, { error: { message: "slow down" } }, { "retry-after": "1" }),
  "t-429zero": refuse(429, { error: { message: "slow down" } }, { "retry-after": "0" }),
  "t-429ms": refuse(429, { error: { message: "slow down" } }, { "retry-after-ms": "250" }),
  "t-429both": refuse(429, { error: { message: "slow down" } }, { "retry-after-ms": "250", "retry-after": "9" }),
  "t-429body": refuse(429, { error: { message: "Rate limit reached for gpt-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 3000. Please try again in 400ms.", type: "tokens", code: "rate_limit_exceeded" } }),
  "t-429info": refuse(429, [{ error: { code: 429, message: "Resource has been exhausted", status: "RESOURCE_EXHAUSTED", details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0.4s" }] } }]),
  "t-429gemini": refuse(429, { error: { code: 429, message: "You exceeded your current quota, please check your plan and billing details. Please retry in 0.5s.", status: "RESOURCE_EXHAUSTED" } }),
  "t-429plain": refuse(429, "Too Many Requests", { "retry-after": "1" }),
  "t-503html": refuse(503, "<html><title>503 Service Temporarily Unavailable</title></html>"),
  "t-503wait": refuse(503, { error: { message: "loading" } }, { "retry-after": "1" }),
  "t-503loading": refuse(503, { error: { code: 503, message: "Loading model", type: "unavailable_error" } }),
  "t-500empty": refuse(500, ""),
  "t-502": refuse(502, "<html><h1>502 Bad Gateway</h1></html>"),
  "t-504": refuse(504, { error: { message: "upstream request timeout" } }),
  "t-524": refuse(524, "error code: 524"),
  "t-529": refuse(529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, { "retry-after": "1" }),
  "t-408": refuse(408, { error: { message: "Request timed out" } }),
  "t-sse503": stream({ error: { message: "overloaded", code: 503 } }),
  "t-sserate": stream({ error: { type: "rate_limit_error", message: "Please try again in 300ms." } }),
  "t-minimaxrate": refuse(200, { choices: null, base_resp: { status_code: 1002, status_msg: "rate limit, please try again in 1s" } }),
  "t-empty200": raw("application/json", ""),
  "t-emptysse": raw("text/event-stream", ""),
}; // biome-ignore format: a table

export const TRANSPORT: Cases = {
  ok: { play: inTurn(oneCall, final), outcome: RUN_ONCE },
  ...each(FRAMES, (frame) => ({
    play: callThen((call) => raw("text/event-stream", frame(call))),
    outcome: RUN_ONCE,
  })),
  ...each(TYPES, (type) => ({
    row: "L12",
    play: callThen((call) => raw(type, whole(call))),
    outcome: RUN_ONCE,
  })),
  ...each(BODIES, ([type, body]) => ({
    row: "L12",
    play: callThen((call) => raw(type, body(call))),
    outcome: RUN_ONCE,
  })),
  "t-gzip": {
    play: callThen((call) => ({
      headers: { ...STREAM, "content-encoding": "gzip" },
      body: gzipSync(whole(call)),
    })),
    outcome: RUN_ONCE,
  },
  "t-br": {
    play: callThen((call) => ({
      headers: { ...STREAM, "content-encoding": "br" },
      body: brotliCompressSync(whole(call)),
    })),
    outcome: RUN_ONCE,
  },
  "t-slow": { play: callThen((call) => ({ ...stream(...called(call)), pieces: 7 })), outcome: RUN_ONCE },
  "t-utf8split": {
    play: inTurn((asked) => ({ ...stream(...called(wanted(asked, "grün-🌡"))), pieces: "characters" }), final),
    outcome: { runs: ["grün-🌡"], answer: "FINAL(did grün-🌡)", requests: 2 },
  },
  "t-jsonct-all": {
    row: "L12",
    play: always(raw("application/json", text([words("All is well."), finish("stop")]))),
    outcome: { runs: [], answer: "All is well.", requests: 1 },
  },
  "t-wholetext": {
    row: "L12",
    play: always(
      refuse(200, {
        choices: [{ message: { role: "assistant", content: "All is well." }, finish_reason: "stop" }],
      }),
    ),
    outcome: { runs: [], answer: "All is well.", requests: 1 },
  },
  "t-finishedbreak": {
    play: callThen((call) => ({ headers: STREAM, body: called(call).map(sse).join(""), breaks: true })),
    outcome: RUN_ONCE,
  },
  "t-cutcall": {
    play: inTurn(
      (asked) => {
        const call = wanted(asked);
        return {
          headers: STREAM,
          body:
            sse(words("I look. ")) +
            sse(pieces({ ...piece(call), function: fn(call, json(call).slice(0, 20)) })),
          breaks: true,
        };
      },
      oneCall,
      final,
    ),
    outcome: RUN_AFTER,
  },
  "t-cutaftercall": {
    play: inTurn(
      (asked) => ({ headers: STREAM, body: sse(pieces(piece(wanted(asked)))), breaks: true }),
      oneCall,
      final,
    ),
    outcome: RUN_AFTER,
  },
  "t-nofinish": {
    play: inTurn((asked) => raw("text/event-stream", sse(pieces(piece(wanted(asked))))), oneCall, final),
    outcome: RUN_AFTER,
  },
  "t-nofinishdone": { play: events((call) => [pieces(piece(call))]), outcome: RUN_ONCE },
  "t-brokenchunk": { play: once(raw("text/event-stream", 'data: {"choices": [\n\n')), outcome: RUN_AFTER },
  ...each(PASSES, (reply) => ({ row: "L17", play: once(reply), outcome: RUN_AFTER })),
  "t-twice": {
    play: inTurn(always(refuse(500, "")), always(refuse(502, "")), oneCall, final),
    outcome: { ...RUN_ONCE, requests: 4 },
  },
  "t-aftercall": {
    play: inTurn(oneCall, always(refuse(503, "")), final),
    outcome: { ...RUN_ONCE, requests: 3 },
  },
  "t-502all": {
    play: always(refuse(502, "<html><h1>502 Bad Gateway</h1></html>")),
    outcome: { runs: [], answer: /answered 502/, advice: "try again later", status: "failed", requests: 5 },
  },
  "t-503plain": {
    row: "L7",
    play: always(
      refuse(
        503,
        "upstream connect error or disconnect/reset before headers. reset reason: connection timeout",
      ),
    ),
    outcome: {
      runs: [],
      answer: /503: upstream connect error or disconnect\/reset/,
      status: "failed",
      requests: [1, 5],
    },
  },
  "t-cuttext": {
    play: inTurn(
      always({ headers: STREAM, body: sse(words("The disk is ")), breaks: true }),
      always(say("The disk is full.")),
    ),
    outcome: { runs: [], answer: "The disk is full.", requests: 2 },
  },
};
