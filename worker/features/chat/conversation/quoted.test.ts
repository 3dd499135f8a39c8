/** On WhatsApp a reply names its message by the id alone. */
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { modelRequests } from "../../../../test/model-requests.ts";
import { script } from "../../../../test/scripted-model.ts";
import { until } from "../../../../test/wait.ts";
import type { Quoted } from "../contract.ts";
import { whatsapp } from "../platforms/whatsapp.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("C2: a reply to our message brings the answer that it had; one to their own, the question; an unknown one says so", async () => {
  let sent = 0;
  vi.spyOn(whatsapp, "typing").mockImplementation(async () => undefined);
  vi.spyOn(whatsapp, "text").mockImplementation(async () => {
    sent += 1;
    return `wamid.${sent}`;
  });
  const chat = env.CONVERSATION.getByName("a/whatsapp/phone:491");
  const says = async (id: string, text: string, quoted?: Quoted) => {
    const before = sent;
    await chat["chat.receive"]({
      id,
      origin: {
        principal: "whatsapp:491",
        role: "member",
        channel: "whatsapp",
        reply: { connection: "phone", to: "491", message: id },
      },
      act: { do: "say", text, pictures: [], merge: true, ...(quoted && { quoted }) },
    });
    await until(() => sent > before);
  };
  const word = crypto.randomUUID();
  await says("w1", script({ text: `cellar ${word}: 12 °C` }));
  await says("w2", "why?", { by: "us", message: "wamid.1" });
  const ours = `It replies to your own message: \\"cellar ${word}: 12 °C\\"`;
  expect(await modelRequests({ words: ours })).not.toEqual([]);
  await says("w3", "I meant this", { by: "person", message: "w2" });
  const own = `It replies to the person's own message: \\"why?\\"]`;
  expect(await modelRequests({ words: own })).not.toEqual([]);
  await says("w4", "and that?", { by: "us", message: "wamid.of-long-ago" });
  expect(await modelRequests({ words: "your own message, which is not known here any more" })).not.toEqual(
    [],
  );
});
