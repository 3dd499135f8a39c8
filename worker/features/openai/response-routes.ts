/** `/v1/responses`: creates, shows, streams again, cancels and deletes responses. */
import type { Context } from "hono";
import type { StartedTurn } from "../../kernel/api/start-turn.ts";
import { conversationOf } from "../../kernel/api/stubs.ts";
import type { App } from "../../kernel/http/app.ts";
import { recheckSeen } from "../../kernel/http/conversation-access.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { turnEvents } from "../../kernel/http/turn-stream.ts";
import { beginTurn } from "./begin-turn.ts";
import { linkerOf, nameTurn, placeFor, readRequest, stopper, turnEnd, wantsTrace } from "./caller.ts";
import { sortMessages } from "./client-messages.ts";
import { clientWait, forVoice } from "./client-wait.ts";
import { namedPlace, type Place, type ResponseRef, readResponseId } from "./conversation-key.ts";
import { inputItems, pageOf, readPage } from "./input-items.ts";
import { withReferenced } from "./item-references.ts";
import { chosenModel, VOICE_NAME } from "./models.ts";
import { NO_TOOLS, ownTools } from "./own-tools.ts";
import { responseEvents } from "./response-events.ts";
import { type About, responseObject } from "./response-object.ts";
import { messagesInResponse, ResponseRequest } from "./response-request.ts";
import { eventStream, paceAfter, patientJson } from "./sending.ts";
import { LOST } from "./turn-text.ts";

export async function postResponse(c: Context<App>): Promise<Response> {
  const token = c.get("token");
  const { request, hash } = await readRequest(c, ResponseRequest);
  const { previous_response_id: previous, metadata } = request;
  const background = request.background === true;
  const stored = request.store !== false;
  if (background && !stored)
    throw new HttpError(
      400,
      "invalid_body",
      "store: a response in the background is fetched later, so it has to be stored",
      "store",
    );
  const longest = clientWait(c, request);
  if (request.stream && longest !== undefined && request.model !== VOICE_NAME)
    throw new HttpError(
      400,
      "invalid_body",
      "edge.wait: not for a streamed response, which sends what happens as it happens",
      "edge.wait",
    );
  const wait = request.stream ? undefined : longest;
  const before = previous ? await previousOf(c, previous) : undefined;
  const named = () => namedPlace(c, token, request, before?.place);
  const whole = { ...request, input: await withReferenced(c, request.input, named) };
  const sorted = forVoice(sortMessages(messagesInResponse(whole), "input"), request.model);
  const tools = ownTools(c.env, request);
  const { place: wanted, isBackground } = await placeFor(c, sorted, named);
  const own = isBackground ? NO_TOOLS : tools;
  const after = before && wanted?.name === before.place.name ? before.turn : undefined;
  const model = await chosenModel(c.env, token.home, request.model);
  const follows = request.stream ? "live" : background ? undefined : "end";
  // A turn in the background continues without a connection, as one does whose client waits a bounded time.
  const left = (at: Place, id: string) => {
    if (!background && wait === undefined) stopper(c, at, id)();
  };
  const asked = {
    hash,
    place: wanted,
    sorted,
    after,
    model,
    own,
    stored,
    waits: !background,
    wait,
    follows,
    left,
  } as const;
  const { place, ...started } = await beginTurn(c, token, asked);
  const { turn } = started;
  nameTurn(c, place, turn);
  const ref: ResponseRef = { turn, place, createdAt: Math.floor(Date.now() / 1_000) };
  const about: About = { ref, model, linker: linkerOf(c), previous, metadata, background, stored };
  const stop = () => left(place, turn);
  if (request.stream) return stream(c, about, started, -1, stop);
  if (background) return c.json(await responseObject(about));
  const answer = async (signal: AbortSignal, hurry: () => void) => {
    const result = await turnEnd(c, place, started, signal, hurry, wait);
    return result ? await responseObject(about, result) : { error: LOST };
  };
  return patientJson(c, answer, stop, paceAfter(started.waitedMs));
}

/** `?stream=true&starting_after=N` attaches to the stream again. Leaving this stream does not cancel the turn. */
export async function getResponse(c: Context<App>): Promise<Response> {
  const ref = await refOf(c);
  const result = await conversationOf(c.env, ref.place.name).lookStored(ref.turn);
  if (!result) throw noSuchResponse();
  const about: About = { ref, model: undefined, linker: linkerOf(c) };
  if (c.req.query("stream") !== "true") return c.json(await responseObject(about, result));
  const after = c.req.query("starting_after") ?? "-1";
  if (!/^(-1|\d{1,15})$/.test(after))
    throw new HttpError(400, "invalid_query", "starting_after: expected the sequence_number of an event");
  return stream(c, about, { turn: ref.turn }, Number(after), () => {});
}

/** Lists what the client sent for the response: the newest first, unless `order=asc`. */
export async function getInputItems(c: Context<App>): Promise<Response> {
  const page = readPage(c);
  const ref = await refOf(c);
  const input = await conversationOf(c.env, ref.place.name).inputOf(ref.turn);
  if (!input) throw noSuchResponse();
  return c.json(pageOf(await inputItems(ref, input, linkerOf(c)), page));
}

export async function cancelResponse(c: Context<App>): Promise<Response> {
  const ref = await refOf(c);
  const stub = () => conversationOf(c.env, ref.place.name);
  const result = (await stub().lookStored(ref.turn)) && (await stub().cancel(ref.turn));
  if (!result) throw noSuchResponse();
  return c.json(await responseObject({ ref, model: undefined, linker: linkerOf(c) }, result));
}

/**
 * A response is deleted with its whole conversation. When the conversation has other responses, the caller has to agree with
 * `?conversation=true`.
 */
export async function deleteResponse(c: Context<App>): Promise<Response> {
  const ref = await refOf(c);
  const stub = () => conversationOf(c.env, ref.place.name);
  if (!(await stub().lookStored(ref.turn))) throw noSuchResponse();
  const { turns } = await stub().history({ before: Number.MAX_SAFE_INTEGER, limit: 2 });
  if (turns.length > 1 && c.req.query("conversation") !== "true")
    throw new HttpError(
      409,
      "conversation_in_use",
      "its conversation has other responses, which go together with it: add ?conversation=true to forget all of them",
    );
  await stub().forget();
  return c.json({ id: c.req.param("id"), object: "response", deleted: true });
}

function stream(c: Context<App>, about: About, turn: StartedTurn, after: number, stop: () => void): Response {
  const { place } = about.ref;
  const options = { trace: wantsTrace(c), giveUp: stop };
  const events = (signal: AbortSignal) =>
    responseEvents(
      turnEvents(c.env, place.name, turn, 0, true, signal, recheckSeen(c, place.name)),
      about,
      after,
      options,
    );
  return eventStream(c, events, stop);
}

async function previousOf(c: Context<App>, id: string): Promise<ResponseRef> {
  const ref = await readResponseId(c.get("token"), id);
  if (ref && (await conversationOf(c.env, ref.place.name).lookStored(ref.turn))) return ref;
  throw new HttpError(400, "previous_response_not_found", "previous_response_id: no such response");
}

async function refOf(c: Context<App>): Promise<ResponseRef> {
  const ref = await readResponseId(c.get("token"), c.req.param("id") ?? "");
  if (!ref) throw noSuchResponse();
  return ref;
}

function noSuchResponse(): HttpError {
  return new HttpError(
    404,
    "not_found",
    "no such response; those without a conversation are kept for two days",
  );
}
