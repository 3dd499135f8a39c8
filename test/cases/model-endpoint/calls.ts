/** Calls in the forms in which endpoints and models send them. */
import {
  type Asked,
  type Cases,
  called,
  callThen,
  delta,
  each,
  events,
  final,
  finish,
  fn,
  inTurn,
  json,
  newId,
  oneCall,
  type Play,
  piece,
  pieces,
  RUN_AFTER,
  RUN_ONCE,
  refuse,
  stream,
  USAGE,
  type Wanted,
  wanted,
  words,
} from "./replies.ts";

type Pieces = (call: Wanted, asked: Asked) => unknown[];
const end = finish("tool_calls");
const part = (index: unknown, id: string | undefined, name: string | undefined, args: unknown) => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  type: "function",
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
});
const halves = (call: Wanted): [string, string] => [json(call).slice(0, 15), json(call).slice(15)];

/** One call, in strange pieces. */
const PIECES: Record<string, Pieces> = {
  "c-noindex": (call) => [pieces(part(undefined, newId(), call.name, json(call))), end],
  "c-indexnull": (call) => [pieces(part(null, newId(), call.name, json(call))), end],
  "c-indextext": (call) => [pieces(part("0", newId(), call.name, halves(call)[0])), pieces(part("0", undefined, undefined, halves(call)[1])), end],
  "c-index1": (call) => [pieces(part(1, newId(), call.name, json(call))), end],
  "c-argsobj": (call) => [pieces(part(0, newId(), call.name, call.args)), end],
  "c-prefixbraces": (call) => [pieces(part(0, newId(), call.name, "{}")), pieces(part(0, undefined, undefined, json(call))), end],
  "c-finalrepeat": (call) => { const id = newId(); return [pieces(part(0, id, call.name, "")), pieces(part(0, undefined, undefined, json(call))), delta({ tool_calls: [part(0, id, call.name, json(call))] }, { finish_reason: "tool_calls" })]; },
  "c-halvesrepeat": (call) => { const id = newId(); const [a, b] = halves(call); return [pieces(part(0, id, call.name, a)), pieces(part(0, undefined, undefined, b)), pieces(part(0, id, call.name, json(call))), end]; },
  "c-glmremain": (call) => { const id = newId(); const [a, b] = halves(call); return [pieces(part(0, id, call.name, a)), delta({ tool_calls: [part(0, id, call.name, b)] }, { finish_reason: "tool_calls" })]; },
  "c-newideach": (call) => { const [a, b] = halves(call); return [pieces(part(0, newId(), call.name, a)), pieces(part(0, newId(), undefined, b)), end]; },
  "c-newidname": (call) => { const [a, b] = halves(call); return [pieces(part(0, newId(), call.name, a)), pieces(part(0, newId(), call.name, b)), end]; },
  "c-idempty": (call) => { const [a, b] = halves(call); return [pieces(part(0, newId(), call.name, a)), pieces(part(0, "", "", b)), end]; },
  "c-idnull": (call) => { const [a, b] = halves(call); return [pieces(part(0, newId(), call.name, a)), pieces({ index: 0, id: null, type: null, function: { name: null, arguments: b } }), end]; },
  "c-noid": (call) => [pieces(part(0, undefined, call.name, json(call))), end],
  "c-idnumber": (call) => [pieces({ ...part(0, undefined, call.name, json(call)), id: 7 }), end],
  "c-notype": (call) => [pieces({ index: 0, id: newId(), function: fn(call) }), end],
  "c-finishstop": (call) => [pieces(piece(call)), finish("stop")],
  "c-finishodd": (call) => [pieces(piece(call)), finish("tool_use")],
  "c-finishempty": (call) => [delta({ tool_calls: [piece(call)] }, { finish_reason: "" }), end],
  "c-legacyfc": (call) => [delta({ function_call: fn(call) }), finish("function_call")],
  "c-legacypieces": (call) => { const [a, b] = halves(call); return [delta({ function_call: { name: call.name, arguments: "" } }), delta({ function_call: { arguments: a } }), delta({ function_call: { arguments: b } }), finish("function_call")]; },
  "c-namesplit": (call) => [pieces(part(0, "s1", call.name.slice(0, 3), "")), pieces(part(0, undefined, call.name.slice(3), "")), pieces(part(0, undefined, undefined, json(call))), end],
  "c-nameevery": (call) => [0, 1, 2, 3].map((at) => pieces(part(0, "n1", call.name, json(call).slice(at * 20, at === 3 ? undefined : at * 20 + 20)))).concat([end]),
  "c-growing": (call) => { const id = newId(); return [9, 21, undefined].map((to) => pieces(part(0, id, call.name, json(call).slice(0, to)))).concat([end]); },
  "c-doubled": (call) => [pieces(part(0, newId(), call.name, json(call) + json(call))), end],
  "c-onebyone": (call) => [pieces(part(0, newId(), call.name, "")), ...Array.from(json(call), (char) => pieces(part(0, undefined, undefined, char))), end],
  "c-messageatend": (call) => { const id = newId(); return [pieces(part(0, id, call.name, json(call))), { choices: [{ index: 0, message: { role: "assistant", content: "", tool_calls: [part(0, id, call.name, json(call))] }, finish_reason: "tool_calls" }] }]; },
  "c-emptyfirst": (call) => [delta({ role: "assistant", content: null, tool_calls: [] }), ...called(call)],
  "c-emptylists": (call) => [...called(call).slice(0, 1), delta({ content: "", tool_calls: [] }), delta({ content: null, tool_calls: null }), end],
  "c-choices1": (call) => [{ choices: [{ index: 0, delta: { role: "assistant" } }] }, { choices: [{ index: 0, delta: {} }, { index: 1, delta: { tool_calls: [piece(call)] } }] }, end],
  "c-azurefirst": (call) => [{ choices: [], created: 0, id: "", model: "", object: "", prompt_filter_results: [{ prompt_index: 0, content_filter_results: { hate: { filtered: false } } }] }, ...called(call), { choices: [{ index: 0, finish_reason: null, content_filter_results: {}, content_filter_offsets: { check_offset: 1 } }] }],
  "c-usagefirst": (call) => [{ choices: null, usage: null }, ...called(call)],
  "c-longid": (call) => [pieces({ ...piece(call), id: `toolu_${"a".repeat(58)}` }), end],
  "c-oddid": (call) => [pieces({ ...piece(call), id: "functions.edge_call:0/ü" }), end],
}; // biome-ignore format: a table

const named = (name: (of: string) => string): Play =>
  events((call) => [pieces({ ...piece(call), function: { ...fn(call), name: name(call.name) } }), end]);
/** The name of an offered tool, with what models add to it. */
const NAMES: Record<string, (name: string) => string> = {
  "c-functionspfx": (name) => `functions.${name}`,
  "c-functionsid": (name) => `functions.${name}:0`,
  "c-defaultapi": (name) => `default_api:${name}`,
  "c-defaultapidot": (name) => `default_api.${name}`,
  "c-toolspfx": (name) => `tools/${name}`,
  "c-harmonyname": (name) => `${name}<|channel|>commentary`,
  "c-harmonyjson": (name) => `${name}<|constrain|>json`,
  "c-upper": (name) => name.replace(/(^|_)(\w)/g, (_, __, char: string) => char.toUpperCase()),
  "c-dashed": (name) => name.replaceAll("_", "-").toUpperCase(),
  "c-blankname": (name) => ` ${name}\n`,
  "c-quoted": (name) => `"${name}"`,
  "c-brackets": (name) => `${name}()`,
};

const args = (form: (args: Record<string, unknown>, asked: Asked) => unknown): Play =>
  events((call, asked) => [
    pieces({ ...piece(call), function: { name: call.name, arguments: form(call.args, asked) } }),
    end,
  ]);
/** Of the gateway's call; the device's has nothing of the kind. */
const ofParams = (
  form: (rest: Record<string, unknown>, params: Record<string, unknown>) => Record<string, unknown>,
) =>
  args(({ params, ...rest }) =>
    JSON.stringify(params ? form(rest, params as Record<string, unknown>) : rest),
  );

/** Arguments that are read. */
const READ: Record<string, Play> = {
  "c-trailingcomma": args((it) => JSON.stringify(it).replace(/\}$/, ",}")),
  "c-fence": args((it) => `\`\`\`json\n${JSON.stringify(it)}\n\`\`\``),
  "c-fencebare": args((it) => `\`\`\`\n${JSON.stringify(it)}\n\`\`\``),
  "c-blanks": args((it) => `\n  ${JSON.stringify(it, null, 2)}  \n`),
  "c-dbl": args((it) => JSON.stringify(JSON.stringify(it))),
  "c-paramsstring": ofParams((rest, params) => ({ ...rest, params: JSON.stringify(params) })),
  "c-queryempty": ofParams((rest, params) => ({ ...rest, params, query: "", id: "", after: [] })),
}; // biome-ignore format: a table

/** Arguments that say nothing certain: nothing is run, and the model is told why. */
const UNREAD: Record<string, Play> = {
  "c-nullargs": args(() => "null"),
  "c-emptyargs": args(() => ""),
  "c-listargs": args((it) => JSON.stringify([it])),
  "c-singlequotes": args((it) => JSON.stringify(it).replaceAll('"', "'")),
  "c-comments": args((it) => JSON.stringify(it, null, 1).replace("{", "{ // the call")),
  "c-textbefore": args((it) => `Here is the call: ${JSON.stringify(it)}`),
  "c-extrabrace": args((it) => `${JSON.stringify(it)}}`),
  "c-missingbrace": args((it) => JSON.stringify(it).slice(0, -1)),
  "c-pyargs": args((it) => JSON.stringify(it).replace(/\}$/, ', "dry": True, "x": None}')),
  "c-newlineinstring": args((it) => JSON.stringify(it).replace("-1", "-1\n")),
}; // biome-ignore format: a table

const several = (...ns: string[]): Play =>
  callThen((_, asked) => stream(...ns.map((n, index) => pieces(piece(wanted(asked, n), index))), end));

export const CALLS: Cases = {
  ...each(PIECES, (form) => ({ row: "L11", play: events(form), outcome: RUN_ONCE })),
  ...each(NAMES, (name) => ({ row: "L17", play: named(name), outcome: RUN_ONCE })),
  ...each(READ, (play) => ({ play, outcome: RUN_ONCE })),
  ...each(UNREAD, (play) => ({ play, outcome: { runs: [], answer: /^FINAL\(Error: /, requests: 2 } })),
  "c-message": {
    play: callThen((call) =>
      refuse(200, {
        model: "m",
        choices: [
          {
            index: 0,
            message: {
              role: "assistant",
              content: null,
              tool_calls: [{ id: "a1", type: "function", function: fn(call) }],
            },
            finish_reason: "tool_calls",
          },
        ],
      }),
    ),
    outcome: RUN_ONCE,
  },
  "c-textandcall": {
    play: events((call) => [words("Let me check that for you."), ...called(call)]),
    outcome: RUN_ONCE,
  },
  "c-callandtext": {
    play: events((call) => [pieces(piece(call)), words("I am at it."), end]),
    outcome: RUN_ONCE,
  },
  "c-sameid": {
    row: "L9",
    play: (asked) =>
      asked.at < 2
        ? stream(pieces({ ...piece(wanted(asked, String(asked.at))), id: "0" }), end)
        : final(asked),
    outcome: { runs: ["0", "1"], answer: "FINAL(did 0 | did 1)", requests: 3 },
  },
  "c-parallel": {
    play: several("1", "2", "3"),
    outcome: { runs: ["1", "2", "3"], answer: "FINAL(did 1 | did 2 | did 3)", requests: 2 },
  },
  "c-parallel-idx0": {
    row: "L11",
    play: callThen((_, asked) => stream(...["1", "2", "3"].map((n) => pieces(piece(wanted(asked, n)))), end)),
    outcome: { runs: ["1", "2", "3"], answer: "FINAL(did 1 | did 2 | did 3)", requests: 2 },
  },
  "c-parallel-bare": {
    row: "L11",
    play: callThen((_, asked) =>
      stream(pieces(...["1", "2"].map((n) => ({ function: fn(wanted(asked, n)) }))), end),
    ),
    outcome: { runs: ["1", "2"], answer: "FINAL(did 1 | did 2)", requests: 2 },
  },
  "c-parallel-sameid": {
    row: "L11",
    play: callThen((_, asked) =>
      stream(...["1", "2"].map((n, index) => pieces({ ...piece(wanted(asked, n), index), id: "x" })), end),
    ),
    outcome: { runs: ["1", "2"], answer: "FINAL(did 1 | did 2)", requests: 2 },
  },
  "c-interleaved": {
    play: callThen((_, asked) => {
      const [a, b] = [wanted(asked, "1"), wanted(asked, "2")];
      return stream(
        pieces({ ...piece(a), function: fn(a, halves(a)[0]) }),
        pieces({ ...piece(b, 1), function: fn(b, halves(b)[0]) }),
        pieces(part(0, undefined, undefined, halves(a)[1])),
        pieces(part(1, undefined, undefined, halves(b)[1])),
        end,
      );
    }),
    outcome: { runs: ["1", "2"], answer: "FINAL(did 1 | did 2)", requests: 2 },
  },
  "c-identical2": {
    row: "L14",
    play: several("1", "1"),
    outcome: { runs: ["1"], answer: /^FINAL\(did 1 \| Equal to the call /, requests: 2 },
  },
  "c-newindexrepeat": {
    row: "L14",
    play: events((call) => [pieces(piece(call)), pieces(piece(call, 1)), end]),
    outcome: { runs: ["1"], answer: /^FINAL\(did 1 \| Equal to the call /, requests: 2 },
  },
  "c-unknowntool": {
    play: events((call) => [
      pieces({ ...piece(call), function: { name: "get_disk", arguments: "{}" } }),
      end,
    ]),
    outcome: {
      runs: [],
      answer: /^FINAL\(Error: Tool 'get_disk' not found\. Available tools: /,
      requests: 2,
    },
  },
  "c-actionastool": {
    play: callThen((_, { tag }) =>
      stream(
        pieces({
          index: 0,
          id: newId(),
          type: "function",
          function: { name: "bump", arguments: JSON.stringify({ n: `${tag}-1` }) },
        }),
        end,
      ),
    ),
    outcome: {
      runs: [],
      answer: /^FINAL\(Error: Tool 'bump' not found\. Available tools: edge_call/,
      requests: 2,
    },
    device: RUN_ONCE,
  },
  "c-agentastool": {
    play: callThen((_, { agent, tag }) =>
      stream(
        pieces({
          index: 0,
          id: newId(),
          type: "function",
          function: { name: agent, arguments: JSON.stringify({ action: "bump", params: { n: `${tag}-1` } }) },
        }),
        end,
      ),
    ),
    outcome: { runs: [], answer: /^FINAL\(Error: Tool '\w+' not found/, requests: 2 },
  },
  "c-dotaction": { row: "L17", play: named((name) => `${name}.bump`), outcome: RUN_ONCE },
  "c-paramsflat": {
    play: ofParams((rest, params) => ({ ...rest, ...params })),
    outcome: { runs: [], answer: /^FINAL\(Error: /, requests: 2 },
    device: false,
  },
  "c-paramsargs": {
    play: ofParams((rest, params) => ({ ...rest, arguments: params })),
    outcome: { runs: [], answer: /^FINAL\(Error: /, requests: 2 },
    device: false,
  },
  "c-querynull": {
    play: ofParams((rest, params) => ({ ...rest, params, query: null, id: null, after: null })),
    outcome: RUN_ONCE,
    device: false,
  },
  "c-agentcase": {
    play: ofParams((rest, params) => ({ ...rest, params, agent_id: String(rest.agent_id).toUpperCase() })),
    outcome: { runs: [], answer: /^FINAL\(Error: /, requests: 2 },
    device: false,
  },
  "c-actioncase": {
    play: ofParams((rest, params) => ({ ...rest, params, action: "Bump" })),
    outcome: { runs: [], answer: /^FINAL\(Error: /, requests: 2 },
    device: false,
  },
  "c-wrapped": {
    play: events((call) => [
      pieces({
        ...piece(call),
        function: { name: call.name, arguments: JSON.stringify({ name: call.name, arguments: call.args }) },
      }),
      end,
    ]),
    outcome: { runs: [], answer: /^FINAL\(Error: /, requests: 2 },
  },
  "c-huge": {
    play: events((call) => [
      pieces({
        ...piece(call),
        function: fn(
          call,
          JSON.stringify({
            ...call.args,
            ...(call.args.params ? { params: { n: "h".repeat(200_000) } } : { n: "h".repeat(200_000) }),
          }),
        ),
      }),
      end,
    ]),
    outcome: { runs: [], answer: /^FINAL\(Error: /, requests: 2 },
  },
  "c-lengthcut": {
    row: "L4",
    play: (asked) => {
      const call = wanted(asked);
      return asked.at < 2
        ? stream(pieces({ ...piece(call), function: fn(call, json(call).slice(0, 25)) }), finish("length"))
        : final(asked);
    },
    outcome: { runs: [], answer: /^FINAL\(Error: .*\| Error: /s, requests: 3 },
  },
  "c-lengthempty": {
    row: "L4",
    play: callThen((_, { isDevice }) =>
      stream(
        pieces({
          index: 0,
          id: newId(),
          type: "function",
          function: { name: isDevice ? "ls" : "edge_call", arguments: "" },
        }),
        finish("length"),
      ),
    ),
    outcome: { runs: [], answer: /^FINAL\(Error: /, requests: 2 },
  },
  "c-lengthwhole": {
    row: "L4",
    play: events((call) => [words("I bump, then I "), pieces(piece(call)), finish("length")]),
    outcome: RUN_ONCE,
  },
  "c-finisherrorcall": {
    row: "L4",
    play: inTurn((asked) => stream(pieces(piece(wanted(asked))), finish("error")), final),
    outcome: { runs: [], answer: "FINAL()", requests: 2 },
  },
  "c-malformed": {
    row: "L10",
    play: inTurn(
      () => stream(finish("MALFORMED_FUNCTION_CALL")),
      () => stream(finish("malformed_function_call"), USAGE),
      oneCall,
      final,
    ),
    outcome: { ...RUN_ONCE, requests: 4 },
  },
  "c-filtered": {
    row: "L4",
    play: inTurn((asked) => stream(pieces(piece(wanted(asked))), finish("abort")), oneCall, final),
    outcome: RUN_AFTER,
  },
};
