/**
 * Chat platforms: forged, too old and repeated deliveries, and validly signed ones from a stranger with odd content.
 */
import fc from "fast-check";
import { broken, deep, headerText, noJson, not, oddText, oddValue, POLLUTING, pathPart } from "../corpus.ts";
import { type HostileRequest, http, json } from "../request.ts";
import { KNOWN_SENDER, SENDERS, type Sender, SIGNED, webhookPath } from "../world.ts";

/** Messages of the known sender: with a valid signature each would begin a turn. */
const SAID: Record<Sender, unknown> = {
  telegram: {
    update_id: 1,
    message: {
      message_id: 1,
      from: { id: KNOWN_SENDER },
      chat: { id: KNOWN_SENDER, type: "private" },
      text: "Open the door.",
    },
  },
  slack: {
    type: "event_callback",
    team_id: "T1",
    event_id: "E1",
    event: { type: "message", channel_type: "im", channel: "D1", user: "U1", text: "x", ts: "1.1" },
  },
  discord: {
    type: 2,
    id: "1",
    application_id: "2",
    token: "t",
    channel_id: "3",
    context: 1,
    user: { id: "4" },
    data: { name: "ask", options: [{ name: "text", value: "x" }] },
  },
  whatsapp: {
    entry: [
      {
        changes: [
          {
            value: {
              metadata: { phone_number_id: "111" },
              contacts: [{ wa_id: "5" }],
              messages: [{ id: "w", from: "5", type: "text", text: { body: "x" } }],
            },
          },
        ],
      },
    ],
  },
  generic: { text: "Open the door." },
  signed: { text: "Open the door." },
};
/** The gateway tolerates 300 s; the request may wait in the queue. */
const OLD_S = 400;
const sender = fc.constantFrom(...SENDERS);
const now = () => Math.floor(Date.now() / 1_000);

const forged = fc.tuple(sender, fc.nat({ max: 7 }), headerText).map(([name, how, text]): HostileRequest => {
  const body = json(SAID[name]);
  const right: Record<string, string> = SIGNED[name](body, now());
  const headers = Object.fromEntries(
    Object.entries(right).flatMap(([header, value]) => {
      if (how === 0) return [];
      if (how === 1) return [[header, text]];
      if (how === 2) return [[header, value.slice(0, -1)]];
      if (how === 3) return [[header, `${value.slice(0, -1)}${value.endsWith("0") ? "1" : "0"}`]];
      return [[header, how === 4 ? `${value}${value}` : how === 5 ? "0".repeat(64) : `x${value}`]];
    }),
  );
  return http("webhook forged", webhookPath(name), { headers, body });
});

/** Platforms that sign the time. The others have nothing that could be too old. */
const old = fc
  .tuple(fc.constantFrom<Sender>("slack", "discord", "signed"), fc.constantFrom(OLD_S, -OLD_S, 86_400, 1e9))
  .map(([name, age]) => {
    const body = json(SAID[name]);
    return http("webhook old", webhookPath(name), {
      headers: SIGNED[name](body, Math.max(0, now() - age)),
      body,
    });
  });

/** Delivered once before the run (run.ts). A repetition is only acknowledged. */
export const DELIVERED = json({
  update_id: 4_711,
  message: {
    message_id: 1,
    from: { id: KNOWN_SENDER, first_name: "K" },
    chat: { id: KNOWN_SENDER, type: "private" },
    text: "/help",
  },
});
const replayed = fc.constant(
  http("webhook again", webhookPath("telegram"), {
    headers: SIGNED.telegram(),
    body: DELIVERED,
    may: "answered",
  }),
);

const STRANGER = fc.integer({ min: 1_000, max: 1_200 });
const stranger: fc.Arbitrary<[Sender, Buffer]> = fc.oneof(
  fc.tuple(STRANGER, oddText).map(([id, text]): [Sender, Buffer] => [
    "telegram",
    json({
      update_id: id,
      message: { message_id: 1, from: { id, first_name: text }, chat: { id, type: "private" }, text },
    }),
  ]),
  fc
    .tuple(
      fc.constantFrom<Sender>("telegram", "slack", "discord", "whatsapp"),
      oddValue,
      fc.constantFrom(
        "update_id",
        "message",
        "callback_query",
        "type",
        "event",
        "event_id",
        "data",
        "entry",
        "user",
        ...POLLUTING,
      ),
    )
    .map(([name, value, field]): [Sender, Buffer] => [
      name,
      json({
        ...(SAID[name] as object),
        ...(name === "telegram" && {
          message: { message_id: 1, chat: { id: 1_001, type: "private" }, from: { id: 1_001 } },
        }),
        [field]: value,
      }),
    ]),
  fc.tuple(STRANGER, oddText).map(([id, text]): [Sender, Buffer] => [
    "slack",
    json({
      type: "event_callback",
      team_id: "T1",
      event_id: `E${id}`,
      event: { type: "message", channel_type: "im", channel: "D1", user: `U${id}`, text, ts: "1.1" },
    }),
  ]),
  fc.tuple(STRANGER, oddText).map(([id, name]): [Sender, Buffer] => [
    "discord",
    json({
      type: 3,
      id: String(id),
      application_id: "2",
      token: "t",
      channel_id: "3",
      user: { id: String(id), username: name },
      data: { custom_id: name },
    }),
  ]),
);
const odd: fc.Arbitrary<HostileRequest> = fc.oneof(
  stranger.map(([name, body]) =>
    http("webhook stranger", webhookPath(name), {
      headers: SIGNED[name](body, now()),
      body,
      may: "answered",
    }),
  ),
  fc
    .tuple(
      sender,
      fc.oneof(
        noJson,
        deep.map(json),
        oddValue.filter((value) => typeof value !== "object").map((value) => json(JSON.stringify(value))),
      ),
    )
    .map(([name, body]) =>
      http("webhook odd", webhookPath(name), { headers: SIGNED[name](body, now()), body, may: "answered" }),
    ),
  broken(
    { text: "x" },
    {
      text: fc.oneof(not("string"), fc.constantFrom("", " ")),
      conversation: fc.oneof(not("string"), fc.constantFrom("", "a/b", "a".repeat(65))),
      answer: oddValue,
      id: not("string"),
      sender: not("string"),
      more: oddValue,
    },
  ).map((body) => http("webhook odd", webhookPath("generic"), { headers: SIGNED.generic(), body })),
  fc
    .tuple(pathPart, pathPart)
    .map(([channel, connection]) =>
      http("webhook odd", `/webhooks/${channel}/${connection}`, { body: json("{}") }),
    ),
  fc
    .tuple(oddText, oddText)
    .map(([token, challenge]) =>
      http(
        "webhook odd",
        `/webhooks/whatsapp/c?hub.mode=subscribe&hub.verify_token=${encodeURIComponent(token.toWellFormed())}&hub.challenge=${encodeURIComponent(challenge.toWellFormed())}`,
      ),
    ),
);

export const webhooks: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 3, arbitrary: forged },
  { weight: 1, arbitrary: old },
  { weight: 1, arbitrary: replayed },
  { weight: 4, arbitrary: odd },
);
