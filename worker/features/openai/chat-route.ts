/** `POST /v1/chat/completions`, streamed or in one piece. */
import type { Context } from "hono";
import type { App } from "../../kernel/http/app.ts";
import { recheckSeen } from "../../kernel/http/conversation-access.ts";
import { turnEvents } from "../../kernel/http/turn-stream.ts";
import { beginTurn } from "./begin-turn.ts";
import {
  linkerOf,
  meanwhileOf,
  nameTurn,
  placeFor,
  readRequest,
  stopper,
  turnEnd,
  wantsTrace,
} from "./caller.ts";
import { type Chat, chatChunks, chatCompletion } from "./chat-reply.ts";
import { ChatRequest, messagesInChat } from "./chat-request.ts";
import { sortMessages } from "./client-messages.ts";
import { clientWait, forVoice } from "./client-wait.ts";
import { namedPlace, type Place } from "./conversation-key.ts";
import { chosenModel } from "./models.ts";
import { NO_TOOLS, ownTools } from "./own-tools.ts";
import { eventStream, paceAfter, patientJson } from "./sending.ts";
import { LOST } from "./turn-text.ts";

export async function postChat(c: Context<App>): Promise<Response> {
  const token = c.get("token");
  const { request, hash } = await readRequest(c, ChatRequest);
  const wait = clientWait(c, request);
  const sorted = forVoice(sortMessages(messagesInChat(request), "messages"), request.model);
  const named = () => namedPlace(c, token, request);
  const tools = ownTools(c.env, request);
  const { place: wanted, isBackground } = await placeFor(c, sorted, named);
  const own = isBackground ? NO_TOOLS : tools;
  const model = await chosenModel(c.env, token.home, request.model);
  const follows = request.stream ? "live" : "end";
  // A turn that its client does not wait for goes on without it.
  const left = (at: Place, id: string) => wait === undefined && stopper(c, at, id)();
  const asked = { hash, place: wanted, sorted, model, own, waits: true, wait, follows, left } as const;
  const { place, ...started } = await beginTurn(c, token, asked);
  const { turn } = started;
  nameTurn(c, place, turn);
  const stop = stopper(c, place, turn);
  const hungUp = () => void left(place, turn);
  const chat: Chat = {
    turn,
    place,
    createdAt: Math.floor(Date.now() / 1_000),
    model,
    trace: wantsTrace(c),
    usage: request.stream_options?.include_usage === true,
    linker: linkerOf(c),
    giveUp: stop,
    ...(wait !== undefined && {
      patience: { seconds: wait, meanwhile: () => meanwhileOf(c, place, turn) },
    }),
  };
  if (request.stream) {
    const chunks = (signal: AbortSignal) =>
      chatChunks(turnEvents(c.env, place.name, started, 0, true, signal, recheckSeen(c, place.name)), chat);
    return eventStream(c, chunks, hungUp);
  }
  const answer = async (signal: AbortSignal, hurry: () => void) => {
    const result = await turnEnd(c, place, started, signal, hurry, wait);
    return result ? await chatCompletion(result, chat) : { error: LOST };
  };
  return patientJson(c, answer, hungUp, paceAfter(started.waitedMs));
}
