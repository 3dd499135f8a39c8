/** What the rest of the Worker asks a home about push. */

import { RpcTarget } from "cloudflare:workers";
import type { HomeAccess } from "../../../kernel/home/access.ts";
import { isBlank } from "../../../kernel/migrate.ts";
import type { Pressed } from "../../rules/contract.ts";
import { pressLinked } from "../../rules/home/press.ts";
import type { NewOutlet, OutletView, PressClaims, PushView } from "../contract.ts";
import type { PushApi } from "../push-api.ts";
import { outletsOf } from "./outlet-store.ts";

export class PushRpc extends RpcTarget implements PushApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async pressLink(claims: PressClaims): Promise<Pressed | undefined> {
    return this.#at.isBlank ? undefined : await pressLinked(this.#at.home, claims);
  }

  async push(principal: string): Promise<PushView> {
    const outlets = outletsOf(this.#at.home);
    return { public_key: (await outlets.vapid()).publicKey, outlets: outlets.views(principal) };
  }

  async addOutlet(outlet: NewOutlet): Promise<OutletView | undefined> {
    return await outletsOf(this.#at.home).put(outlet, Date.now());
  }

  async removeOutlet(id: string, principal: string): Promise<boolean> {
    return outletsOf(this.#at.home).remove(id, principal);
  }
}
