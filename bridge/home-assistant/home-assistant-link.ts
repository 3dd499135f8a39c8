/**
 * Home Assistant's devices in the catalog: reads its registries and its states while it runs, and calls services for commands. What its
 * answers mean is here; what confirms a command is the catalog's.
 */
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import { exposedIds, type RegistryLists } from "@edgecall/discovery/home-assistant/registry.ts";
import { objectOf } from "@edgecall/discovery/home-assistant/state.ts";
import type { Snapshot } from "@edgecall/discovery/model/device.ts";
import type { Past, ServiceCall } from "@edgecall/discovery/model/entity/entity.ts";
import type { Part } from "@edgecall/discovery/model/source.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { Log } from "@edgecall/node/log.ts";
import { type Answer, HomeAssistantConnection, type HomeAssistantOptions } from "./connection.ts";
import { fetchPicture, httpUrl } from "./pictures.ts";
import { SERVICES } from "./services.ts";

export type HomeAssistantLinkParts = Pick<HomeAssistantOptions, "url" | "token" | "access"> & {
  log: Log;
  clock: Clock;
  catalog: Pick<DeviceCatalog, "homeAssistant">;
  /** It runs. What it says from now on is of now. */
  onUp(): void;
  /** It was lost: what was known of its devices is not known any more. */
  onLost(): void;
  /** Which devices there are may have changed. */
  onDevices(): void;
  /** These parts have read a state. */
  onStates(parts: readonly Part[]): void;
};

/**
 * How a call ended. `sent`: it may have acted, and the state says whether it did. `refused`: nothing was sent, or Home Assistant did
 * not accept it.
 */
export type Called = { kind: "sent" } | { kind: "refused"; why: string } | { kind: "offline"; why: string };

/** What a service answered. `tainted`: the reason quotes Home Assistant. */
export type ServiceAnswer = { response: unknown } | { why: string; tainted?: boolean };

/** Many entries of a registry change at once. */
const COLLECT_MS = 400;
const REGISTRIES = ["entity", "device", "area", "floor", "label"] as const;
/** A camera that can scale its picture sends one that a report has room for. */
const SIZE = "width=480&height=270";
/** A device that already is as asked changes nothing, so no event comes. After so long one question tells whether it answered. */
const ALREADY_MS = 1_500;
const ALREADY_MAX_MS = 5_000;
/** Home Assistant has refused these before anything was sent to a device. */
const NOT_ALLOWED = "Unauthorized";
const BEFORE_SENDING = ["service_validation_error", "invalid_format", "not_found", "unauthorized"];
const ENTITY_ID = /^[a-z0-9_]{1,100}\.[a-z0-9_]{1,200}$/;
const WORDS_MAX = 200;
const USER_MAX = 100;

/** `calledAt`: by Home Assistant's clock (epoch ms). */
type Looked = { calledAt: number; isLast(): boolean; withinMs: number };

export class HomeAssistantLink {
  readonly #parts: HomeAssistantLinkParts;
  readonly #connection: HomeAssistantConnection;
  #refresh: NodeJS.Timeout | undefined;
  /** Its registries and first states are not all read. */
  #isReading = true;
  /** They were all read once. */
  #hasRead = false;
  /** While the registries are read: the entity ids that were given up or taken since. */
  #moved: string[] | undefined;
  #info: { version: string; user?: string; admin?: boolean } | undefined;
  /** The last call to each entity, by its key. What is looked at for an earlier one would count for a later one. */
  readonly #lastCalls = new Map<string, object>();

  constructor(parts: HomeAssistantLinkParts) {
    this.#parts = parts;
    this.#connection = new HomeAssistantConnection({
      ...parts,
      onRunning: ({ version }) => void this.#begin(version),
      onLost: () => this.#lost(),
    });
  }

  get up(): boolean {
    return this.#connection.running;
  }

  /** It is not known yet which devices there are. */
  get isReading(): boolean {
    return this.#isReading && !this.#connection.hasEnded;
  }

  /** It has said once which devices there are. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  condition(): Condition | undefined {
    return this.#connection.condition();
  }

  /** Its version, and the user whose rights the bridge has there; undefined: it was not reached yet. */
  get info(): { version: string; user?: string; admin?: boolean } | undefined {
    return this.#info;
  }

  get problem(): string | undefined {
    return this.#connection.problem;
  }

  start(): void {
    this.#connection.start();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#refresh);
    await this.#connection.stop();
  }

  /**
   * Calls a service for one entity. An error of the device's own, or none in time, ends as `sent`: the catalog is told of it.
   * @param withinMs of Home Assistant's answer. A state may confirm the command before it.
   */
  async call({ domain, service, data, entity: key }: ServiceCall, withinMs: number): Promise<Called> {
    const { catalog, log } = this.#parts;
    if (!SERVICES.has(`${domain}.${service}`)) {
      log("error", "home_assistant.service_refused", { service: `${domain}.${service}` });
      return { kind: "refused", why: `${domain}.${service} is not among the services that are called` };
    }
    const entityId = this.#entityIdOf(key);
    if (entityId === undefined) return { kind: "refused", why: "Home Assistant has it no more" };
    if (!this.up) return { kind: "offline", why: this.problem ?? "Home Assistant is not connected" };
    const target = { entity_id: entityId };
    const isLast = this.#begun(key);
    const answer = await this.#connection.command(
      { type: "call_service", domain, service, service_data: data, target },
      withinMs,
    );
    if (answer.kind === "result") {
      const calledAt = timeOfCall(answer.result);
      if (calledAt !== undefined && domain !== "homeassistant")
        for (const judged of catalog.homeAssistant.judgedFor(key))
          void this.#lookWhetherAlready(judged, { calledAt, isLast, withinMs });
      return { kind: "sent" };
    }
    if (answer.kind === "lost" && !answer.sent) return { kind: "offline", why: "the connection was lost" };
    if (answer.kind === "error") {
      const words = cutText(answer.message, WORDS_MAX);
      const refused = refusalOf(answer.code, words);
      // A Python timeout has no words.
      const text = words === "" ? "the device did not answer" : `"${words}"`;
      // A refusal that takes its time comes when the command counts as sent.
      catalog.homeAssistant.failed(key, refused === undefined ? `Home Assistant: ${text}` : `${refused}.`);
      this.#parts.onStates([]);
      if (refused !== undefined) return { kind: "refused", why: refused };
    }
    return { kind: "sent" };
  }

  /** Asks a service that answers, or the recorder, for one entity. */
  async ask(question: ServiceCall | Past): Promise<ServiceAnswer> {
    const isPast = "pastOf" in question;
    const entityId = this.#entityIdOf(isPast ? question.pastOf : question.entity);
    const isListed = isPast || SERVICES.has(`${question.domain}.${question.service}`);
    if (!isListed || entityId === undefined) return { why: "Home Assistant has it no more" };
    if (!this.up) return { why: this.problem ?? "Home Assistant is not connected" };
    const command = isPast ? historyCommand(question, entityId) : responseCommand(question, entityId);
    const answer = await this.#connection.command(command);
    if (answer.kind === "error")
      return { why: `Home Assistant says: "${cutText(answer.message, WORDS_MAX)}"`, tainted: true };
    if (answer.kind !== "result") return { why: "Home Assistant did not answer" };
    const result = objectOf(answer.result);
    return { response: (isPast ? result : objectOf(result.response))[entityId] };
  }

  /** The picture of a camera, or of an image entity, as it is now. */
  async picture(key: string): Promise<Snapshot | { error: string }> {
    const { clock, url, token, access } = this.#parts;
    const entityId = this.#entityIdOf(key);
    if (entityId === undefined) return { error: "Home Assistant has it no more" };
    if (!this.up) return { error: this.problem ?? "Home Assistant is not connected" };
    const proxy = `${entityId.startsWith("image.") ? "image" : "camera"}_proxy`;
    const bearer = access ? await access().catch(() => undefined) : token();
    if (bearer === undefined) return { error: "Home Assistant gives no token" };
    const picture = await fetchPicture(`${httpUrl(url)}/api/${proxy}/${entityId}?${SIZE}`, bearer);
    return "error" in picture ? picture : { ...picture, at: clock.wall() };
  }

  /** @returns whether no later call to the entity was made */
  #begun(key: string): () => boolean {
    const call = {};
    this.#lastCalls.set(key, call);
    return () => this.#lastCalls.get(key) === call;
  }

  /** @returns undefined: there is none */
  #entityIdOf(key: string): string | undefined {
    const id = this.#parts.catalog.homeAssistant.entityIdOf(key);
    return id !== undefined && ENTITY_ID.test(id) ? id : undefined;
  }

  async #begin(version: string): Promise<void> {
    const connection = this.#connection;
    this.#isReading = true;
    this.#parts.onUp();
    const { name, is_admin } = objectOf(resultOf(await connection.command({ type: "auth/current_user" })));
    this.#info = {
      version,
      ...(typeof name === "string" && { user: cutText(name, USER_MAX) }),
      ...(typeof is_admin === "boolean" && { admin: is_admin }),
    };
    // Of what changes while they are read, an event tells.
    const isWhole =
      (await this.#hearRegistries()) && (await this.#readRegistries()) && (await this.#hearStates());
    this.#isReading = false;
    this.#hasRead ||= isWhole;
    if (isWhole) this.#parts.onDevices();
    else connection.again();
  }

  async #hearRegistries(): Promise<boolean> {
    const heard = REGISTRIES.map((registry) =>
      this.#connection.subscribe(
        { type: "subscribe_events", event_type: `${registry}_registry_updated` },
        (event) => this.#registryChanged(event),
      ),
    );
    return (await Promise.all(heard)).every(({ kind }) => kind === "result");
  }

  async #hearStates(): Promise<boolean> {
    const { catalog, clock, onStates } = this.#parts;
    const { kind } = await this.#connection.subscribe({ type: "subscribe_entities" }, (event) =>
      onStates(catalog.homeAssistant.state(event, clock.wall())),
    );
    return kind === "result";
  }

  #registryChanged(event: unknown): void {
    const { action, entity_id: now, old_entity_id: former } = objectOf(objectOf(event).data);
    const { homeAssistant } = this.#parts.catalog;
    if (typeof now === "string" && typeof former === "string") {
      homeAssistant.renamed(former, now);
      this.#moved?.push(former, now);
    } else if (typeof now === "string" && action === "remove") {
      homeAssistant.renamed(now, undefined);
      this.#moved?.push(now);
    }
    this.#readRegistriesSoon();
  }

  #readRegistriesSoon(): void {
    this.#refresh ??= setTimeout(async () => {
      this.#refresh = undefined;
      // One reading after the other, so that no older one ends last.
      if (this.#moved || this.#isReading) this.#readRegistriesSoon();
      else if (!(await this.#readRegistries()) && this.up) this.#connection.again();
    }, COLLECT_MS);
  }

  #lost(): void {
    clearTimeout(this.#refresh);
    this.#refresh = undefined;
    this.#lastCalls.clear();
    const { catalog, onDevices, onLost } = this.#parts;
    catalog.homeAssistant.lost();
    onLost();
    onDevices();
  }

  /** @returns whether all of them could be read */
  async #readRegistries(): Promise<boolean> {
    const { catalog, clock, onDevices } = this.#parts;
    const moved: string[] = [];
    this.#moved = moved;
    const lists = await this.#registryLists();
    this.#moved = undefined;
    if (!lists) return false;
    catalog.homeAssistant.known(lists, clock.wall());
    // The lists may be older than the event, so these ids belong to no entity until the next reading.
    for (const id of moved) catalog.homeAssistant.renamed(id, undefined);
    onDevices();
    return true;
  }

  /** @returns undefined: not all of them could be read */
  async #registryLists(): Promise<RegistryLists | undefined> {
    const of = (type: string) => this.#connection.command({ type });
    const answers = await Promise.all([
      of("config/entity_registry/list"),
      of("config/device_registry/list"),
      of("config/area_registry/list"),
      of("config/floor_registry/list"),
      of("config/label_registry/list"),
      of("manifest/list"),
      of("get_config"),
    ]);
    const failed = answers.find(({ kind }) => kind !== "result");
    if (failed) {
      this.#parts.log("warn", "home_assistant.registries_unread", { why: failed.kind });
      return undefined;
    }
    const [entities, devices, areas, floors, labels, manifests, config] = answers.map(resultOf);
    const entity_ids = exposedIds(entities);
    const more = await this.#connection.command({ type: "config/entity_registry/get_entries", entity_ids });
    return { entities, devices, areas, floors, labels, manifests, config, details: resultOf(more) };
  }

  /** Only a template tells when a state was reported last. A device that takes its time is looked at again. */
  async #lookWhetherAlready(entityId: string, { calledAt, isLast, withinMs }: Looked): Promise<void> {
    const { catalog, clock, onStates } = this.#parts;
    const before = clock.wall();
    for (let waited = ALREADY_MS; waited < Math.min(withinMs, ALREADY_MAX_MS); waited += ALREADY_MS) {
      await new Promise((resolve) => setTimeout(resolve, ALREADY_MS));
      const part = catalog.homeAssistant.partNamed(entityId);
      if (!ENTITY_ID.test(entityId) || !this.up || !isLast()) return;
      if (!part || (part.lastSeen ?? 0) >= before) return;
      const template = `{{ states.${entityId}.last_reported | as_timestamp }}`;
      const answer = await this.#connection.first({ type: "render_template", template });
      const reported = Number((resultOf(answer) as { result?: unknown } | undefined)?.result) * 1_000;
      if (!isLast()) return;
      if (!(reported >= calledAt)) continue;
      catalog.homeAssistant.reportedAgain(entityId, clock.wall());
      onStates([part]);
      return;
    }
  }
}

/** @returns why Home Assistant sent nothing to the device; undefined: it may have */
function refusalOf(code: string, words: string): string | undefined {
  if (words === NOT_ALLOWED) return "Home Assistant lets only administrators do that";
  return BEFORE_SENDING.includes(code) ? `Home Assistant refuses it: "${words}"` : undefined;
}

function responseCommand({ domain, service, data }: ServiceCall, entity_id: string) {
  const call = { domain, service, service_data: data, target: { entity_id } };
  return { type: "call_service", ...call, return_response: true };
}

function historyCommand({ from, to }: Past, entityId: string) {
  return {
    type: "history/history_during_period",
    start_time: from,
    end_time: to,
    entity_ids: [entityId],
    minimal_response: true,
    no_attributes: true,
  };
}

function resultOf(answer: Answer): unknown {
  return answer.kind === "result" ? answer.result : undefined;
}

const BASE_32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A context's id is a ULID: its first ten characters are Home Assistant's clock at the call (epoch ms). */
function timeOfCall(result: unknown): number | undefined {
  const id = (result as { context?: { id?: unknown } } | null)?.context?.id;
  if (typeof id !== "string" || id.length !== 26) return undefined;
  let time = 0;
  for (const letter of id.slice(0, 10)) time = time * 32 + BASE_32.indexOf(letter);
  return Number.isFinite(time) ? time : undefined;
}
