/** A person on Discord. */
import { DISCORD_PUBLIC_KEY, DISCORD_TOKEN, discordHeaders, FakeDiscord, shownOf } from "./discord.ts";
import { common, numbers, OWNER, type Person, type Post, timed } from "./person.ts";

export async function onDiscord(post: Post): Promise<Person & { fake: FakeDiscord }> {
  const next = numbers();
  const fake = await FakeDiscord.start();
  const tokens = new Map<string, string>();
  const send = (interaction: Record<string, unknown>, token: string, at?: number) => {
    const body = JSON.stringify(interaction);
    const headers = { "content-type": "application/json", ...discordHeaders(body, at) };
    const words = ({ data }: Record<string, unknown>) => {
      const { content } = (data ?? {}) as { content?: string };
      return content === undefined ? undefined : shownOf(content).text;
    };
    return timed(post, "discord", body, headers, words, () => fake.deferred(token));
  };
  const ping = { type: 1, id: "1", application_id: "42", token: "ping" };
  return {
    fake,
    channel: "discord",
    server: fake.server,
    settings: {
      ...common("discord"),
      token: DISCORD_TOKEN,
      public_key: DISCORD_PUBLIC_KEY,
      base_url: fake.server.url,
      groups: "reads",
    },
    textMax: 2_000,
    buttons: true,
    say(text, from, { delivery, picture, group, thread } = {}) {
      const id = delivery ?? String(1_000 + next());
      const token = `tok-${id}`;
      tokens.set(from, token);
      fake.deferred(token);
      const [command, ...rest] = text.startsWith("/") ? text.slice(1).split(" ") : ["ask", text];
      const words = rest.join(" ");
      const user = { id: from, username: `p${from}` };
      const attachments = { "77": { url: `${fake.server.url}/one.png`, content_type: "image/png" } };
      return send(
        {
          type: 2,
          id,
          application_id: "42",
          token,
          channel_id: thread ?? `5${from}`,
          ...(group ? { guild_id: "9", member: { user } } : { context: 1, user }),
          data: {
            name: command,
            options: words === "" ? [] : [{ name: "text", value: words }],
            ...(picture && { resolved: { attachments } }),
          },
        },
        token,
      );
    },
    press(data, from, chat = OWNER, { group = false } = {}) {
      const token = tokens.get(chat) ?? "";
      const user = { id: from, username: `p${from}` };
      return send(
        {
          type: 3,
          id: String(1_000 + next()),
          application_id: "42",
          token: `press-${next()}`,
          channel_id: `5${chat}`,
          ...(group ? { guild_id: "9", member: { user } } : { context: 1, user }),
          data: { custom_id: data },
        },
        token,
      );
    },
    async forged() {
      const body = JSON.stringify(ping);
      const headers = discordHeaders(`${body} `);
      return (await post("/webhooks/discord/family", { method: "POST", headers, body })).status;
    },
    old: async () => (await send(ping, "ping", Math.floor(Date.now() / 1_000) - 301)).status,
    limit: (seconds) => fake.limit(seconds),
  };
}
