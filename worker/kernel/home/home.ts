/**
 * One home: its bridge, its agents, its open calls.
 *
 * Home holds the bridge's socket and the ledger of calls. A call is stored before it is sent, and its result is stored before
 * it is acknowledged (the platform holds every outgoing message back until the writes before it are
 * durable). Until then each hop sends again, and each recognises what it has seen. Conversations are called
 * back by name, never by a callback, so that everything may sleep while a device works.
 */

import { DurableObject } from "cloudflare:workers";
import { STANDBY } from "@edgecall/core/protocol/frames.ts";
import type { HomeStatus } from "../api/answers.ts";
import type { BackupPage, BackupPlace, RestoreStep } from "../api/backup.ts";
import { errorBody } from "../api/errors.ts";
import { backupPage, dropStaleImport, hasStaleImport, restoreStep } from "../backup.ts";
import type { Env } from "../env.ts";
import {
  isBlank,
  type Migration,
  migrate,
  type NewerRowsError,
  newerRows,
  postponeAlarm,
} from "../migrate.ts";
import { closeQuietly } from "../sockets.ts";
import { newTracer } from "../trace.ts";
import { HomeAlarm } from "./alarm.ts";
import { bridgeOf } from "./bridge/bridge-socket.ts";
import { acceptWatcher } from "./calls/call-watchers.ts";
import type { HomeContext } from "./context.ts";
import { bridgeRefusal, refuseBridge } from "./enrollment/key-enrollment.ts";
import { emit, type HomeFeature, setFeatures } from "./feature.ts";
import { onBridgeClosed, onBridgeMessage } from "./frames/bridge-frames.ts";
import { Ledger, ledgerOf } from "./ledger/ledger.ts";
import { questionsOf } from "./ledger/questions.ts";
import { MODEL_MIGRATIONS } from "./models/schema.ts";
import type { HomeAccess } from "./part.ts";
import { PASSKEY_MIGRATIONS } from "./passkeys/schema.ts";
import { conversationListOf } from "./people/conversation-list.ts";
import { PERMISSION_MIGRATIONS } from "./permissions/schema.ts";
import { openQuestions } from "./questions/approvals.ts";
import { QUESTION_MIGRATIONS } from "./questions/schema.ts";
import { HOME_MIGRATIONS } from "./schema.ts";
import { statusOf } from "./status.ts";

export class HomeObject extends DurableObject<Env> {
  readonly #features: readonly HomeFeature[];
  /** Undefined: this home has no tables, since no request yet had anything to store. */
  #opened: HomeContext | undefined;
  #newer: NewerRowsError | undefined;

  /** A request for a made-up home leaves nothing behind: the tables are made when they are needed. */
  constructor(ctx: DurableObjectState, env: Env, features: readonly HomeFeature[]) {
    super(ctx, env);
    this.#features = features;
    if (hasStaleImport(ctx)) void ctx.blockConcurrencyWhile(() => dropStaleImport(ctx));
    this.#newer = newerRows(ctx.storage, migrationsOf(features));
    if (!this.#newer && !isBlank(ctx.storage)) this.#opened = openHome(ctx, env, features);
  }

  /** @throws NewerRowsError */
  get #home(): HomeContext {
    if (this.#newer) throw this.#newer;
    this.#opened ??= openHome(this.ctx, this.env, this.#features);
    return this.#opened;
  }

  /** True if the home has no row that could let anybody in. Methods that a stranger can reach look at it first. */
  get #isBlank(): boolean {
    return this.#opened === undefined && !this.#newer;
  }

  /** What its parts may do with it. */
  get access(): HomeAccess {
    const home = () => this.#home;
    const isBlank = () => this.#isBlank;
    return {
      get home() {
        return home();
      },
      get isBlank() {
        return isBlank();
      },
    };
  }

  async status(): Promise<HomeStatus> {
    return statusOf(this.#home);
  }

  async namesToBackUp(): Promise<string[]> {
    return conversationListOf(this.#home).names();
  }

  async backup(from: BackupPlace | undefined): Promise<BackupPage> {
    return backupPage(this.ctx.storage, from);
  }

  async restore(step: RestoreStep): Promise<void> {
    // A ledger of its own: this instance's memory belongs to the rows before.
    const giveUp = () => new Ledger(this.ctx.storage).giveUpAll(Date.now());
    await restoreStep({ ctx: this.ctx, migrations: migrationsOf(this.#features), giveUp }, step);
  }

  // Sockets and the alarm

  /** Only the Worker gets here. */
  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === "/bridge") return await this.#connectBridge(request.headers);
    if (url.pathname === "/questions")
      return questionsOf(this.#home).subscribe(url.searchParams.get("by") ?? "");
    const call = ledgerOf(this.#home).get(url.searchParams.get("call") ?? "");
    if (!call) return new Response("no such call", { status: 404 });
    return acceptWatcher(this.ctx, call, url.searchParams.has("live") && openQuestions(this.#home, call.id));
  }

  async #connectBridge(headers: Headers): Promise<Response> {
    const token = headers.get("x-edgecall-token");
    if (token !== null) {
      const refused = this.#isBlank ? bridgeRefusal("unsigned") : await refuseBridge(this.#home, token);
      if (refused) return refused;
    }
    const bridge = bridgeOf(this.#home);
    const { alarm } = this.#home;
    // A bridge that was replaced waits until its place is free.
    if (headers.has(STANDBY) && bridge.isConnected(Date.now())) {
      bridge.standbyAsked(Date.now());
      return Response.json(errorBody("another_bridge", "another bridge of this home is connected"), {
        status: 409,
      });
    }
    const response = bridge.accept(headers, Date.now());
    await alarm.arm();
    return response;
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (bridgeOf(this.#home).isBridge(socket)) await onBridgeMessage(this.#home, socket, message);
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    closeQuietly(socket, "bye");
    await onBridgeClosed(this.#home);
    await emit("presence", this.#home);
  }

  /** A protocol error or a broken line. The platform calls this in place of `webSocketClose`. */
  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.webSocketClose(socket);
  }

  override async alarm(): Promise<void> {
    if (this.#newer) return await postponeAlarm(this.ctx.storage);
    await dropStaleImport(this.ctx);
    // A blank home has an alarm only for an import that was staged here.
    if (!this.#isBlank) await this.#home.alarm.onAlarm(this.#home);
  }
}

/** Makes the tables. Exported for tests of single parts. */
export function openHome(ctx: DurableObjectState, env: Env, features: readonly HomeFeature[]): HomeContext {
  migrate(ctx.storage, migrationsOf(features));
  const tracer = newTracer(env, "home", ctx);
  const alarm = new HomeAlarm(() => home);
  const home: HomeContext = { ctx, env, name: ctx.id.name ?? "", tracer, alarm };
  setFeatures(home, features);
  return home;
}

function migrationsOf(features: readonly HomeFeature[]): readonly Migration[] {
  return [
    ...HOME_MIGRATIONS,
    ...QUESTION_MIGRATIONS,
    ...PASSKEY_MIGRATIONS,
    ...PERMISSION_MIGRATIONS,
    ...MODEL_MIGRATIONS,
    ...features.flatMap(({ migrations = [] }) => migrations),
  ];
}
