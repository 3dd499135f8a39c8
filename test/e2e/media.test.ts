/** Pictures and files travel from a device to the model and to the person, through real programs. */
import { expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "eye", env });
  await stack.startAgent({ id: "thinker", model: true, env });
  await stack.gateway.online("eye");
  await stack.gateway.online("thinker");
});

type Media = Array<{ id: string; media_type: string; bytes: number; sha256: string }>;

async function served(id: string): Promise<Buffer> {
  const response = await stack.gateway.fetch(`/v1/media/${id}`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function sha256(bytes: Buffer): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes))).toString("hex");
}

const take = (bytes: number, more = {}) => ({
  calls: [{ arguments: { agent_id: "eye", action: "picture", params: { bytes, ...more } } }],
});

test.each([
  ["within the report", 20_000],
  ["brought over HTTPS", 3_000_000],
])("a picture %s reaches the model and the person unchanged", async (_, bytes) => {
  const turn = await stack.gateway.ask(script(take(bytes), { text: "$pictures" }));
  const length = "data:image/jpeg;base64,".length + Math.ceil(bytes / 3) * 4;
  expect(turn.answer).toBe(`data:image/jpeg ${length}`);
  const [media] = (turn.calls[0] as { media?: Media } | undefined)?.media ?? [];
  expect(media).toMatchObject({ media_type: "image/jpeg", bytes });
  expect(await sha256(await served(media?.id ?? ""))).toBe(media?.sha256);
});

test("what exceeds a limit is refused in words, and the rest arrives", async () => {
  const large = await stack.gateway.ask(script(take(9 * 1024 * 1024), { text: "$results" }));
  expect(large.answer).toMatch(
    /^Error: The result \(image\/jpeg, 9437184 bytes\) could not be brought to the gateway: at most 8388608 bytes are taken\.\nAsk for something smaller/,
  );
  const many = await stack.gateway.ask(script(take(30_000, { count: 17 }), { text: "$pictures / $results" }));
  expect((many.calls[0] as { media?: Media } | undefined)?.media).toHaveLength(16);
  expect(many.answer).toContain("[image/jpeg left out: 16 come along at most]");
  // The newest eight are shown; the others are named.
  expect(many.answer?.match(/data:image\/jpeg/g)).toHaveLength(8);
  const file = await stack.gateway.ask(script(take(5_000, { media_type: "text/csv" }), { text: "$results" }));
  expect(file.answer).toMatch(/^1 of 5000 bytes\n\[text\/csv, 5 KB, \/v1\/media\//);
});

test("a device's own loop sees its picture, and returns it with its words", async () => {
  const inner = script(
    { calls: [{ name: "picture", arguments: { bytes: 20_000 } }] },
    { text: "I see $pictures" },
  );
  const turn = await stack.gateway.ask(
    script(
      { calls: [{ arguments: { agent_id: "thinker", query: inner } }] },
      { text: "$results / $pictures" },
    ),
  );
  expect(turn.answer).toMatch(
    /^I see data:image\/jpeg 26\d{3}\n\[image\/jpeg, 20 KB, .*\] \/ data:image\/jpeg 26\d{3}$/s,
  );
});

test("another home's token cannot read a home's picture", async () => {
  const turn = await stack.gateway.ask(script(take(1_000), { text: "ok" }));
  const [media] = (turn.calls[0] as { media?: Media } | undefined)?.media ?? [];
  const headers = { authorization: `Bearer ${TOKENS.otherHome}` };
  const response = await fetch(`${stack.gateway.url}/v1/media/${media?.id}`, { headers });
  expect(response.status).toBe(404);
});
