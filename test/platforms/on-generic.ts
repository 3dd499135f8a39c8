/** A program that gets its answers at a callback. */
import { FakeCallback, standardHeaders, WEBHOOK_SECRET } from "./callback.ts";
import { common, numbers, OWNER, type Person, type Post, timed } from "./person.ts";
import { type ChatMessage, PNG } from "./server.ts";

export async function onGeneric(post: Post): Promise<Person & { fake: FakeCallback }> {
  const next = numbers();
  const fake = await FakeCallback.start();
  const messagesOf = (conversation: string): ChatMessage[] =>
    fake.answers
      .filter((one) => one.conversation === conversation)
      .map(({ id, text, plain, choices, buttons, question, type, name, data, media_type }) => ({
        id,
        literal: type === "notice" || plain === true,
        text: String(text ?? ""),
        buttons: [
          ...((choices ?? []) as string[]).map((label) => ({ label, data: `q:${question}:${label}` })),
          ...((buttons ?? []) as Array<{ label: string; press: string }>).map(({ label, press }) => ({
            label,
            data: press,
          })),
        ],
        ...(type === "file" && {
          file: {
            name: String(name),
            bytes: Buffer.from(String(data), "base64").length,
            type: String(media_type),
          },
        }),
      }));
  const send = (body: string, chat: string, id = `m${next()}`, at?: number, key?: Buffer<ArrayBuffer>) => {
    const words = ({ error }: Record<string, unknown>) =>
      (error as { message?: string } | undefined)?.message;
    return timed(post, "generic", body, standardHeaders(body, id, at, key), words, () => messagesOf(chat));
  };
  return {
    fake,
    channel: "generic",
    server: fake.server,
    settings: { ...common("generic"), secret: WEBHOOK_SECRET, callback_url: `${fake.server.url}/told` },
    textMax: 32_000,
    buttons: true,
    say(text, from, { delivery, picture, thread } = {}) {
      const conversation = thread === undefined ? from : `${from}-${thread}`;
      const images = picture ? [`data:image/png;base64,${PNG.toString("base64")}`] : undefined;
      return send(JSON.stringify({ text, sender: from, conversation, images }), conversation, delivery);
    },
    press(data, from, chat = OWNER) {
      if (data.startsWith("r:"))
        return send(JSON.stringify({ press: data, sender: from, conversation: chat }), chat);
      const [, question, choice] = data.split(":");
      const answer = { question, choice };
      return send(JSON.stringify({ answer, sender: from, conversation: chat }), chat);
    },
    forged: async () => (await send("{}", OWNER, "m", undefined, Buffer.from("another key"))).status,
    old: async () => (await send("{}", OWNER, "m", Math.floor(Date.now() / 1_000) - 301)).status,
    limit: (seconds) => fake.limit(seconds),
  };
}
