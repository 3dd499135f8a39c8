/** The Home Assistant of a home: the one that the settings name, else one by a sign-in in the console, else none. */
import type {
  AssistantAnswer,
  AssistantQuestion,
  AssistantState,
} from "@edgecall/core/protocol/assistant.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { HomeAssistantSettings } from "../settings.ts";
import { HomeAssistantLink, type HomeAssistantLinkParts } from "./home-assistant-link.ts";
import { httpUrl } from "./pictures.ts";
import { accessToken, type Grant, revoke, SignIns } from "./sign-in.ts";

export type AssistantParts = {
  /** Undefined: the settings name none. */
  settings: HomeAssistantSettings | undefined;
  /** Undefined: what a sign-in gives could not be kept. */
  folder: string | undefined;
  clock: Clock;
  /** Of the connection, beside where it goes. */
  link: Omit<HomeAssistantLinkParts, "url" | "token" | "access">;
  /** The number of its devices that are agents. */
  shown(): number;
};

/** The answer to a sign-in waits so long for its first devices. */
const CONNECTED_WITHIN_MS = 3_000;
const PROBLEM_MAX = 600;
const URL_MAX = 300;
const USED_EVERY_MS = 24 * 3_600_000;
/** Registries of no Home Assistant. */
const NOTHING = {
  entities: [],
  devices: [],
  areas: [],
  floors: [],
  labels: [],
  manifests: [],
  config: {},
  details: {},
};
const NAMED = "HA_URL names another one. Delete it from the bridge's settings first.";
const NO_FOLDER = "The bridge takes no sign-in: HA_DEVICES is off there, or it has no folder (BRIDGE_STATE).";

export class Assistant {
  readonly #parts: AssistantParts;
  readonly #signIns: SignIns | undefined;
  #link: HomeAssistantLink | undefined;
  #url = "";
  #using: NodeJS.Timeout | undefined;
  /** Ends with the question before. */
  #last: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(parts: AssistantParts) {
    this.#parts = parts;
    const { settings, folder, clock } = parts;
    if (folder !== undefined) this.#signIns = new SignIns(folder, clock);
    if (settings) this.#open(httpUrl(settings.url), { url: settings.url, token: settings.token });
    else {
      const kept = this.#signIns?.kept();
      if (kept) this.#openBy(kept);
    }
  }

  /** Undefined: there is none. */
  get link(): HomeAssistantLink | undefined {
    return this.#link;
  }

  /** Answers Home, one question after the other. */
  answer(question: AssistantQuestion): Promise<AssistantAnswer> {
    const answer = this.#last.then(() => this.#answer(question));
    this.#last = answer.catch(() => {});
    return answer;
  }

  async #answer({ begin, finish, forget }: AssistantQuestion): Promise<AssistantAnswer> {
    if (!begin && !finish && !forget) return { state: this.#state() };
    const refused = this.#parts.settings ? NAMED : undefined;
    const signIns = this.#signIns;
    if (refused !== undefined || !signIns) return { state: this.#state(), error: refused ?? NO_FOLDER };
    if (begin) return { state: this.#state(), ...signIns.begin(begin) };
    const former = signIns.kept();
    const grant = finish && (await signIns.finish(finish));
    if (grant && "error" in grant) return { state: this.#state(), ...grant };
    if (!grant) signIns.forget();
    // The connection ends first: Home Assistant tells the household of one that shows a revoked grant.
    await this.#close();
    if (former) void revoke(former);
    if (!grant || this.#isStopped) return { state: null };
    const link = this.#openBy(grant);
    link.start();
    await until(() => !link.isReading, CONNECTED_WITHIN_MS);
    return { state: this.#state() };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#using);
    await this.#link?.stop();
  }

  #openBy(grant: Grant): HomeAssistantLink {
    const link = this.#open(grant.url, {
      url: `${grant.url.replace(/^http/, "ws")}/api/websocket`,
      token: () => grant.refresh,
      access: () => accessToken(grant),
    });
    // A grant that is not used for 90 days ends, however long its connection lasts.
    this.#using = setInterval(() => {
      if (link.up) void accessToken(grant).catch(() => {});
    }, USED_EVERY_MS);
    this.#using.unref();
    return link;
  }

  #open(url: string, where: Pick<HomeAssistantLinkParts, "url" | "token" | "access">): HomeAssistantLink {
    this.#url = url;
    this.#link = new HomeAssistantLink({ ...this.#parts.link, ...where });
    return this.#link;
  }

  async #close(): Promise<void> {
    const link = this.#link;
    this.#link = undefined;
    clearInterval(this.#using);
    await link?.stop();
    const { catalog, onDevices } = this.#parts.link;
    catalog.homeAssistant.known(NOTHING, this.#parts.clock.wall());
    onDevices();
  }

  #state(): AssistantState | null {
    const link = this.#link;
    if (!link) return null;
    const { up, problem, info } = link;
    return {
      url: cutText(this.#url, URL_MAX),
      by: this.#parts.settings ? "settings" : "sign_in",
      up,
      ...(info && { version: info.version }),
      ...(info?.user !== undefined && { user: info.user }),
      ...(info?.admin !== undefined && { admin: info.admin }),
      shown: this.#parts.shown(),
      ...(problem !== undefined && { problem: cutText(problem, PROBLEM_MAX) }),
    };
  }
}

async function until(condition: () => boolean, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (!condition() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
}
