/** A person on Slack. */

import {
  common,
  type MessageOptions,
  numbers,
  OWNER,
  type Person,
  type Post,
  type SentMessage,
  timed,
} from "./person.ts";
import { FakeSlack, SLACK_SECRET, SLACK_TOKEN, slackHeaders } from "./slack.ts";

/** As Slack writes what a person typed. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

type Commanding = {
  fake: FakeSlack;
  /** A slash command. @param channel where it is typed @returns the messages of its `response_url` too */
  command(text: string, from: string, channel: string): Promise<SentMessage & { responses(): string[] }>;
};

export async function onSlack(post: Post): Promise<Person & Commanding> {
  const next = numbers();
  const fake = await FakeSlack.start();
  const send = async (
    body: string,
    type: string,
    from: string,
    channel: string,
    at?: number,
    secret?: string,
  ) => {
    const headers = { "content-type": type, ...slackHeaders(body, at, secret) };
    const before = fake.whispers.length;
    const sent = await timed(
      post,
      "slack",
      body,
      headers,
      () => undefined,
      () => fake.channel(channel),
    );
    // Slack shows words to one person only through a later call of its API. Those for an earlier press may come now too.
    const words = () =>
      fake.whispers.slice(before).flatMap(({ user, text }) => (user === from ? [text] : []));
    return Object.defineProperty(sent, "words", { get: () => words().join("\n") || undefined });
  };
  /** A repeat has the time of the message. */
  const times = new Map<string, string>();
  const timeOf = (delivery = `own ${next()}`) => {
    const ts = times.get(delivery) ?? `1800.${String(next()).padStart(6, "0")}`;
    times.set(delivery, ts);
    return ts;
  };
  const event = (
    text: string,
    from: string,
    { delivery, picture, group, thread, fields }: MessageOptions,
  ) => ({
    type: "event_callback",
    team_id: "T1",
    event_id: `Ev${delivery ?? next()}`,
    event: {
      type: group ? "app_mention" : "message",
      channel_type: group ? "channel" : "im",
      channel: `${group ? "C" : "D"}${from}`,
      user: from,
      text: group ? `<@U0BOT> ${escaped(text)}` : escaped(text),
      ts: timeOf(delivery),
      ...(thread !== undefined && { thread_ts: `17${thread}.0001` }),
      ...(picture && {
        subtype: "file_share",
        files: [{ mimetype: "image/png", url_private: `${fake.server.url}/files/one.png` }],
      }),
      ...fields,
    },
  });
  return {
    fake,
    channel: "slack",
    server: fake.server,
    settings: {
      ...common("slack"),
      token: SLACK_TOKEN,
      secret: SLACK_SECRET,
      base_url: `${fake.server.url}/api`,
      groups: "reads",
    },
    textMax: 12_000,
    buttons: true,
    say: (text, from, how = {}) =>
      send(
        JSON.stringify(event(text, from, how)),
        "application/json",
        from,
        `${how.group ? "C" : "D"}${from}`,
      ),
    edit(text, from) {
      const message = { type: "message", user: from, text, ts: "1" };
      const changed = { type: "message", subtype: "message_changed", channel_type: "im", message };
      const more = { channel: `D${from}`, ts: `16${next()}.0002`, previous_message: message };
      const body = { ...event(text, from, {}), event: { ...changed, ...more } };
      return send(JSON.stringify(body), "application/json", from, `D${from}`);
    },
    press(data, from, chat = OWNER, { group = false } = {}) {
      const channel = `${group ? "C" : "D"}${chat}`;
      const payload = JSON.stringify({
        type: "block_actions",
        user: { id: from, username: `p${from}` },
        team: { id: "T1" },
        channel: { id: channel },
        container: { message_ts: "1" },
        actions: [{ value: data, action_ts: `17${next()}.1` }],
      });
      const body = new URLSearchParams({ payload }).toString();
      return send(body, "application/x-www-form-urlencoded", from, channel);
    },
    async command(text, from, channel) {
      const respond = `/respond/${next()}`;
      const form = new URLSearchParams({
        team_id: "T1",
        channel_id: channel,
        user_id: from,
        user_name: `p${from}`,
        trigger_id: `18${next()}.1`,
        response_url: `${fake.server.url}${respond}`,
        command: "/ask",
        text,
      });
      const sent = await send(form.toString(), "application/x-www-form-urlencoded", from, channel);
      const responses = () => (fake.responses.get(respond) ?? []).map(({ shown }) => String(shown));
      return Object.assign(sent, { responses });
    },
    forged: async () =>
      (await send("{}", "application/json", OWNER, "D1", undefined, "another secret")).status,
    old: async () =>
      (await send("{}", "application/json", OWNER, "D1", Math.floor(Date.now() / 1_000) - 301)).status,
    limit: (seconds) => fake.limit(seconds),
  };
}
