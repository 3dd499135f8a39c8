/** An answer that its chat takes no more. */
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { until } from "../../../../test/wait.ts";
import { isPlain } from "../platforms/format/blocks.ts";
import { PlatformError } from "../platforms/platform-request.ts";
import { telegram } from "../platforms/telegram.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("C8: a group takes nothing any more: whoever asked there has the answer in their private chat", async () => {
  const sent: Array<{ chat: unknown; text: string }> = [];
  vi.spyOn(telegram, "typing").mockImplementation(async () => undefined);
  vi.spyOn(telegram, "text").mockImplementation(async ({ address }, content) => {
    if (Number(address.chat) < 0)
      throw new PlatformError({ kind: "never" }, "telegram sendMessage: 403 Forbidden: bot was kicked");
    if (!isPlain(content)) throw new Error("words of ours are plain");
    sent.push({ chat: address.chat, text: JSON.stringify(content.blocks) });
    return "1";
  });
  const group = env.CONVERSATION.getByName("a/telegram/family:-77");
  await group["chat.receive"]({
    id: "1",
    origin: {
      principal: "telegram:7",
      role: "guest",
      channel: "telegram",
      reply: { connection: "family", chat: -77, reply_to: 3 },
    },
    act: { do: "say", text: script({ text: "it is 12 °C" }), pictures: [], merge: true },
  });
  const told = await until(() => sent[0]);
  expect(told.chat).toBe(7);
  expect(told.text).toContain("I could not post this where you asked me");
  expect(told.text).toContain("it is 12 °C");
});
