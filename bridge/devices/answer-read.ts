/** Answers a read of a hosted device: from memory with the age of each value, after asking the device where that is possible and of use. */
import { INLINE_MAX_CHARS, InlineMedia } from "@edgecall/core/protocol/media.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { DeviceCall, Ended } from "./device-call.ts";
import type { MessageWatch } from "./message-watch.ts";
import { FRESH, failed, succeeded } from "./reports.ts";
import type { Senders } from "./sender.ts";

/** A device with mains power answers within a second. */
const ASKED_WAIT_MS = 3_000;
/** An answer may come in several messages. */
const MORE_MS = 150;

export type ReadParts = {
  clock: Clock;
  senders: Senders;
  catalog: DeviceCatalog;
  watch: MessageWatch;
};

export async function answerRead(parts: ReadParts, call: DeviceCall): Promise<Ended> {
  const { catalog, clock } = parts;
  const { agent, action } = call;
  if (action !== "read") return (await asked(parts, call)) ?? (await snapshot(parts, call));
  const { [FRESH]: fresh, ...parameters } = call.parameters;
  if (fresh !== undefined && typeof fresh !== "boolean")
    return { report: failed(action, "invalid_params", `Error: ${FRESH}: it has to be true or false`) };
  const read = () => catalog.read(agent, parameters, clock.wall());
  // Wrong parameters are refused before anything is asked.
  const isEmpty = catalog.readings(agent, clock.wall()).every(({ value }) => value === null);
  if (!("error" in read()) && (fresh === true || isEmpty)) await askDevice(parts, call);
  const found = read();
  if ("error" in found)
    return { report: failed(action, "invalid_params", `Error: ${found.error}`, found.tainted) };
  return { report: succeeded(action, found.text, { tainted: found.tainted }) };
}

/** Asks the device for its values, where its publisher can, and waits until it answers. */
async function askDevice(parts: ReadParts, call: DeviceCall): Promise<void> {
  const { catalog, clock, senders, watch } = parts;
  const sender = senders[catalog.device(call.agent, clock.wall())?.source ?? "mqtt"];
  const asks = catalog.asks(call.agent, clock.wall()).filter((step) => sender.forbidden(step) === undefined);
  if (asks.length === 0 || sender.problem() !== undefined) return;
  const heard = () => catalog.device(call.agent, clock.wall())?.lastSeen ?? 0;
  const before = heard();
  for (const step of asks) void sender.send(step, ASKED_WAIT_MS);
  const wait = Math.min(ASKED_WAIT_MS, call.deadline - clock.now() - MORE_MS);
  const isHeard = await watch.until(
    wait,
    () => call.interrupted !== undefined || heard() > before || undefined,
    (look) => {
      call.wake = look;
    },
  );
  if (isHeard) await watch.until(MORE_MS, () => undefined);
}

/** What no state has: the source is asked for it. @returns undefined: the device has no such action */
async function asked(
  { catalog, clock, senders }: ReadParts,
  { agent, action, parameters }: DeviceCall,
): Promise<Ended | undefined> {
  const query = catalog.query(agent, action, parameters, clock.wall());
  if (query === undefined) return undefined;
  if ("error" in query) return { report: failed(action, "invalid_params", `Error: ${query.error}`) };
  const answer = await senders[query.source].ask(query.call);
  if ("why" in answer)
    return { report: failed(action, "execution_failed", `Error: ${answer.why}`, answer.tainted) };
  return { report: succeeded(action, query.words(answer.response), { tainted: true }) };
}

/** The last picture of a camera. */
async function snapshot(
  { catalog, clock, senders }: ReadParts,
  { agent, action }: DeviceCall,
): Promise<Ended> {
  const now = clock.wall();
  const known = catalog.picture(agent, action, now);
  const source = catalog.device(agent, now)?.source ?? "mqtt";
  const picture = "key" in known ? await senders[source].picture(known.key) : known;
  if ("error" in picture) return { report: failed(action, "execution_failed", `Error: ${picture.error}`) };
  const { mediaType, bytes, at } = picture;
  const data = Buffer.from(bytes).toString("base64");
  const media = check(InlineMedia, { media_type: mediaType, bytes: bytes.length, data });
  if (!media.ok) {
    const words = `Error: The picture (${mediaType}, ${Math.ceil(bytes.length / 1_024)} KB) cannot be passed on: at most ${((INLINE_MAX_CHARS / 4) * 3) / 1_024} KB of a usual type can.`;
    return { report: failed(action, "execution_failed", words) };
  }
  const age = at === null ? "its age is unknown" : `it came ${Math.round((now - at) / 1_000)} s ago`;
  const { type, payload } = succeeded(action, `The last picture of ${agent}: ${age}.`, { tainted: true });
  return { report: { type, payload: { ...payload, media: [media.value] } } };
}
