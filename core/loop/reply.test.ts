import fc from "fast-check";
import { expect, test } from "vitest";
import { type LooseChunk, ReplyBuilder, readArguments, toCalls } from "./reply.ts";
import { ModelError } from "./retry.ts";

test.each<[string, string, object]>([
  ["nothing", "", { args: {} }],
  ["blanks", " \n", { args: {} }],
  ["an object", '{"a":1}', { args: { a: 1 } }],
  ["null", "null", { args: {} }],
  ["a fence without a language", '```\n{"a":1}\n```', { args: { a: 1 } }],
  ["nothing, encoded twice", '""', { args: {} }],
  ["an object, encoded three times", JSON.stringify(JSON.stringify('{"a":1}')), { args: { a: 1 } }],
  ["trailing commas at every depth", '{"a":[1,2, ],"b":{"c":3,\n},}', { args: { a: [1, 2], b: { c: 3 } } }],
  [
    "a trailing comma after a text that looks like one",
    '{"a":"x,}","b":"\\",]",}',
    { args: { a: "x,}", b: '",]' } },
  ],
])("readArguments reads %s", (_, raw, expected) => {
  expect(readArguments(raw)).toEqual(expected);
});

test.each(['{"a":1', "{a:1}", "[1]", "7", "true", "not json", '"not json"', '{"a":1}{"b":2}'])(
  "readArguments never guesses: %s",
  (raw) => {
    const { args, problem } = readArguments(raw);
    expect(args).toEqual({});
    expect(problem).toMatch(/^the arguments are not a JSON object: /);
  },
);

test("readArguments: any JSON object is returned, any text gives an answer", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const raw = JSON.stringify(value);
      expect(readArguments(raw)).toEqual({ args: JSON.parse(raw) });
      expect(readArguments(JSON.stringify(raw))).toEqual({ args: JSON.parse(raw) });
    }),
  );
  fc.assert(
    fc.property(fc.string(), (raw) => {
      expect(typeof readArguments(raw).args).toBe("object");
    }),
  );
});

const call = (id: string | undefined) => ({ id, name: "read", rawArguments: "{}" });

test("toCalls keeps a model's id that is usable and new", () => {
  const [first] = toCalls([call("call_1")], new Set(["call_0"]));
  expect(first?.modelCallId).toBe("call_1");
});

test.each<[string, string | undefined]>([
  ["missing", undefined],
  ["empty", ""],
  ["too long", "x".repeat(65)],
  ["of characters that other endpoints refuse", "functions.read:0"],
  ["already in the conversation", "used"],
])("toCalls replaces an id that is %s", (_, id) => {
  const [made] = toCalls([call(id)], new Set(["used"]));
  expect(made?.modelCallId).toMatch(/^call_[0-9a-f]{32}$/);
  // OpenAI refuses ids above 40 characters.
  expect(made?.modelCallId.length).toBeLessThanOrEqual(40);
});

test("toCalls: ids that repeat within one reply become different", () => {
  const calls = toCalls([call("same"), call("same"), call("same")], new Set());
  expect(new Set(calls.map((made) => made.modelCallId)).size).toBe(3);
  expect(calls[0]?.modelCallId).toBe("same");
  expect(new Set(calls.map((made) => made.id)).size).toBe(3);
});

const build = (...chunks: unknown[]) => {
  const builder = new ReplyBuilder();
  for (const chunk of chunks) builder.add(chunk as LooseChunk);
  return builder.build("fallback");
};
const calls = (...toolCalls: unknown[]) => ({ choices: [{ delta: { tool_calls: toolCalls } }] });

test("content as a list of parts", () => {
  const content = [{ type: "text", text: "a" }, null, 7, { type: "image" }, { type: "text", text: "b" }];
  expect(build({ choices: [{ delta: { content } }] }).text).toBe("ab");
});

test("a call whose name and id come with every fragment is one call", () => {
  const fragment = (args: string) =>
    calls({ index: 0, id: "x", function: { name: "read", arguments: args } });
  expect(build(fragment('{"path"'), fragment(':"{'), fragment('}"}')).calls).toEqual([
    { id: "x", name: "read", rawArguments: '{"path":"{}"}' },
  ]);
});

test("the same tool twice, without index or id, is two calls", () => {
  const again = { function: { name: "read", arguments: '{"path":"x"}' } };
  expect(build(calls(again), calls(again)).calls).toHaveLength(2);
  const indexed = { ...again, index: 0 };
  expect(build(calls(indexed), calls(indexed)).calls).toHaveLength(2);
});

test("a tool without arguments twice, with nothing to tell the calls apart", () => {
  const again = { function: { name: "read" } };
  expect(build(calls(again, again)).calls).toHaveLength(2);
  // In a complete message each entry is a call, even under one id and one index.
  const same = { ...again, id: "x", index: 0 };
  expect(build({ choices: [{ message: { tool_calls: [same, same] } }] }).calls).toHaveLength(2);
  expect(build(calls(same), calls(same)).calls).toHaveLength(1);
});

test("an id that comes after the name joins its call", () => {
  const reply = build(
    calls({ index: 0, function: { name: "read" } }),
    calls({ index: 0, id: "late", function: { arguments: "{}" } }),
  );
  expect(reply.calls).toEqual([{ id: "late", name: "read", rawArguments: "{}" }]);
});

test("a call without a name is ignored", () => {
  expect(build(calls({ index: 0, id: "x", function: { arguments: "{}" } }, null, "call")).calls).toEqual([]);
});

test("usage that is not a count is ignored", () => {
  expect(build({ usage: { prompt_tokens: "12", completion_tokens: -1 } }).usage).toEqual({
    input_tokens: 0,
    output_tokens: 0,
  });
  expect(build({ choices: [] }).usage).toBeUndefined();
});

test("the model's name: the endpoint's, else the requested one", () => {
  expect(build({ model: "real" }, { model: "" }).model).toBe("real");
  expect(build({}).model).toBe("fallback");
});

/** @returns undefined for chunks that hold an error */
function built(chunks: unknown[]) {
  try {
    return build(...chunks);
  } catch (error) {
    expect(error).toBeInstanceOf(ModelError);
    return undefined;
  }
}

test("no chunk breaks the builder", () => {
  const loose = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.jsonValue(),
      fc.record(
        {
          choices: fc.array(tie("value"), { maxLength: 2 }),
          delta: tie("value"),
          message: tie("value"),
          tool_calls: fc.array(tie("value"), { maxLength: 2 }),
          function: tie("value"),
          name: fc.constantFrom("a", "b", 1),
          arguments: tie("value"),
          index: fc.constantFrom(0, 1, null),
          usage: tie("value"),
        },
        { requiredKeys: [] },
      ),
    ),
  })).value;
  fc.assert(
    fc.property(fc.array(loose, { maxLength: 5 }), (chunks) => {
      const reply = built(chunks);
      if (!reply) return;
      expect(typeof reply.text).toBe("string");
      for (const made of toCalls(reply.calls, new Set())) expect(made.name).not.toBe("");
    }),
  );
});
