import fc from "fast-check";
import { expect, test } from "vitest";
import { CallPieces, type LooseCall, offeredName } from "./call-pieces.ts";

const NAMES = new Set(["edge_call", "find_agents", "bump"]);
const ARGS = '{"agent_id":"pi","n":1}';
const OTHER = '{"agent_id":"pi","n":2}';

function piece(index: number | undefined, id: string | undefined, name?: string, args?: unknown): LooseCall {
  return {
    ...(index !== undefined && { index }),
    ...(id !== undefined && { id }),
    function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
  };
}

function built(pieces: readonly LooseCall[], { isCut = false, isPiece = true } = {}): string[] {
  const calls = new CallPieces(NAMES);
  for (const it of pieces) calls.add(it, isPiece);
  return calls.build(isCut).map(({ name, rawArguments }) => `${name} ${rawArguments}`);
}

const ONE: ReadonlyArray<readonly [string, LooseCall[]]> = [
  ["in one piece", [piece(0, "a", "bump", ARGS)]],
  ["its arguments in two", [piece(0, "a", "bump", ARGS.slice(0, 9)), piece(0, undefined, undefined, ARGS.slice(9))]],
  ["its arguments as an object", [piece(0, "a", "bump", JSON.parse(ARGS))]],
  ["without an index", [piece(undefined, "a", "bump", ARGS.slice(0, 9)), piece(undefined, "a", undefined, ARGS.slice(9))]],
  ["without an id", [piece(0, undefined, "bump", ARGS)]],
  ["an index of null", [{ index: null, id: "a", function: { name: "bump", arguments: ARGS } }]],
  ["the id in a later piece", [piece(0, undefined, "bump", ""), piece(0, "a", undefined, ARGS)]],
  ["a new id for each piece", [piece(0, "a", "bump", ARGS.slice(0, 9)), piece(0, "b", undefined, ARGS.slice(9))]],
  ["a new id and the name for each piece", [piece(0, "a", "bump", ARGS.slice(0, 9)), piece(0, "b", "bump", ARGS.slice(9))]],
  ["its name in pieces", [piece(0, "a", "bu", ""), piece(0, undefined, "mp", ""), piece(0, undefined, undefined, ARGS)]],
  ["its name in each piece", [piece(0, "a", "bump", ARGS.slice(0, 9)), piece(0, "a", "bump", ARGS.slice(9))]],
  ["{} before its arguments", [piece(0, "a", "bump", "{}"), piece(0, undefined, undefined, ARGS)]],
  ["{} before its arguments, with the name", [piece(0, "a", "bump", "{}"), piece(0, "a", "bump", ARGS)]],
  ["whole once more at the end", [piece(0, "a", "bump", ""), piece(0, undefined, undefined, ARGS), piece(0, "a", "bump", ARGS)]],
  ["whole once more, spaced otherwise", [piece(0, "a", "bump", ARGS), piece(0, "a", "bump", '{"agent_id": "pi", "n": 1}')]],
  ["pieces, then the whole", [piece(0, "a", "bump", ARGS.slice(0, 9)), piece(0, undefined, undefined, ARGS.slice(9)), piece(0, "a", "bump", ARGS)]],
  ["all that there is so far with each piece", [piece(0, "a", "bump", ARGS.slice(0, 5)), piece(0, "a", "bump", ARGS.slice(0, 12)), piece(0, "a", "bump", ARGS)]],
  ["its arguments twice in one piece", [piece(0, "a", "bump", ARGS + ARGS)]],
  ["the rest in the last piece, with id and name", [piece(0, "a", "bump", ARGS.slice(0, 9)), piece(0, "a", "bump", ARGS.slice(9))]],
  ["empty pieces around it", [piece(0, "a", "bump", ""), piece(0, "", "", ""), piece(0, "", "", ARGS), piece(0, "", "", "")]],
  ["null members", [{ index: 0, id: "a", function: { name: "bump", arguments: null } }, { index: 0, id: null, function: { name: null, arguments: ARGS } }]],
]; // biome-ignore format: a table

test.each(ONE)("L11: one call: %s", (_, pieces) => {
  expect(built(pieces).map((it) => it.replaceAll(" ", ""))).toEqual([`bump${ARGS}`]);
});

test.each<[string, LooseCall[]]>([
  ["an index each", [piece(0, "a", "bump", ARGS), piece(1, "b", "bump", OTHER)]],
  ["the same index, an id each", [piece(0, "a", "bump", ARGS), piece(0, "b", "bump", OTHER)]],
  ["the same index and id", [piece(0, "0", "bump", ARGS), piece(0, "0", "bump", OTHER)]],
  ["neither index nor id", [piece(undefined, undefined, "bump", ARGS), piece(undefined, undefined, "bump", OTHER)]],
  ["interleaved", [piece(0, "a", "bump", ARGS.slice(0, 9)), piece(1, "b", "bump", OTHER.slice(0, 9)), piece(0, undefined, undefined, ARGS.slice(9)), piece(1, undefined, undefined, OTHER.slice(9))]],
  ["the same index, arguments in later pieces", [piece(0, "a", "bump", ""), piece(0, undefined, undefined, ARGS), piece(0, "b", "bump", ""), piece(0, undefined, undefined, OTHER)]],
])("two calls: %s", (_, pieces) => {
  expect(built(pieces)).toEqual([`bump ${ARGS}`, `bump ${OTHER}`]);
}); // biome-ignore format: a table

test("equal calls with ids of their own stay two: what they share is for the loop to say", () => {
  expect(built([piece(0, "a", "bump", ARGS), piece(1, "b", "bump", ARGS)])).toHaveLength(2);
});

test("in a whole message each call is one of its own, whatever its index", () => {
  const twice = [piece(0, undefined, "bump", ARGS), piece(0, undefined, "bump", ARGS)];
  expect(built(twice, { isPiece: false })).toHaveLength(2);
});

test("pieces that make no JSON stay unreadable", () => {
  expect(built([piece(0, "a", "bump", '{"n":'), piece(0, undefined, undefined, "}")])).toEqual([
    'bump {"n":}',
  ]);
});

test("the last call of a cut reply has lost its arguments when it has none", () => {
  expect(built([piece(0, "a", "bump", "")], { isCut: true })).toEqual(["bump {"]);
  expect(built([piece(0, "a", "bump", "")])).toEqual(["bump "]);
  expect(built([piece(0, "a", "bump", ARGS)], { isCut: true })).toEqual([`bump ${ARGS}`]);
});

test("signatures of a call are kept, those of other pieces are not lost", () => {
  const calls = new CallPieces(NAMES);
  const extra_content = { google: { thought_signature: "sig" } };
  calls.add({ ...piece(0, "a", "bump", ""), extra_content } as LooseCall, true);
  calls.add(piece(0, undefined, undefined, ARGS), true);
  expect(calls.build(false)).toMatchObject([{ id: "a", rawArguments: ARGS, extra: { extra_content } }]);
});

test.each([
  ["functions.edge_call", "edge_call"],
  ["default_api:edge_call", "edge_call"],
  ["default_api.edge_call", "edge_call"],
  ["functions.edge_call:0", "edge_call"],
  ["edge_call.bump_it", "edge_call"],
  ["edge_call<|channel|>commentary", "edge_call"],
  ["edge_call<｜tool▁sep｜>", "edge_call"],
  ["EdgeCall", "edge_call"],
  ["edge-call", "edge_call"],
  [" edge_call\n", "edge_call"],
  ["tools/edge_call", "edge_call"],
  // Which of two is meant is not guessed, and what is not offered stays for the answer to name.
  ["edge_call.find_agents", "edge_call.find_agents"],
  ["get_disk", "get_disk"],
  ["edge_call_2", "edge_call_2"],
])("L17: the name %j is %j", (given, name) => {
  expect(offeredName(given, NAMES)).toBe(name);
});

test("property: the arguments of a call are the same in any pieces", () => {
  const args = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 1 }), {
    minKeys: 1,
    maxKeys: 4,
  });
  fc.assert(
    fc.property(args, fc.array(fc.nat(200), { maxLength: 5 }), (value, cuts) => {
      const text = JSON.stringify(value);
      const at = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].sort(
        (a, b) => a - b,
      );
      const pieces = at
        .slice(1)
        .map((end, i) =>
          piece(0, i === 0 ? "a" : undefined, i === 0 ? "bump" : undefined, text.slice(at[i], end)),
        );
      expect(built(pieces)).toEqual([`bump ${text}`]);
    }),
  );
});
