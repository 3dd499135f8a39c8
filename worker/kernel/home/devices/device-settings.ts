/**
 * People's decisions about hosted devices: rows by the device's key, which outlives its names, its id and its absence. A device
 * about which nobody decided anything has no row.
 */

import type { HostedState } from "@edgecall/core/protocol/devices.ts";
import { SqlStore } from "../../sql-store.ts";

/** `ask`: changes are possible, and what was not allowed yet asks. Null: as the bridge's setting MQTT_DEVICES says. */
export type StoredMode = "off" | "read" | "ask";

export type DeviceSetting = {
  key: string;
  name: string | null;
  area: string | null;
  mode: StoredMode | null;
  /** The hash of what a person allowed up to 0.3, until it is written out (permissions/written-out.ts); null: nothing. */
  allow: string | null;
  allowedBy: string | null;
  /** Epoch ms. */
  allowedAt: number | null;
  /** Its settings are offered as actions; each asks. */
  offersSettings: boolean;
  changedBy: string;
  changedAt: number;
};

export type DeviceChange = Partial<Pick<DeviceSetting, "name" | "area" | "mode" | "offersSettings">>;

/** The hashes of a hosted device, by which an allowance is looked for. */
type Hashes = Pick<HostedState, "key" | "allow" | "allow_before">;

/** True if an allowance for this hash is one for the device as it is now. */
export function isAllowed(hash: string | null | undefined, { allow, allow_before }: Hashes): boolean {
  return hash != null && (hash === allow || hash === allow_before);
}

type Row = {
  key: string;
  name: string | null;
  area: string | null;
  mode: StoredMode | null;
  allow: string | null;
  allowed_by: string | null;
  allowed_at: number | null;
  changed_by: string;
  changed_at: number;
  offers_settings: number;
};

export class DeviceSettings extends SqlStore {
  /** Read once: this class alone writes the rows, and each list of agents needs them. */
  #stored: Map<string, DeviceSetting> | undefined;
  /** Devices that were allowed up to 0.3, with the time since when that holds no more. */
  #earlier: Map<string, number | null> | undefined;

  get(key: string): DeviceSetting | undefined {
    return this.#all().get(key);
  }

  /** @param by the person */
  change({ key }: Pick<Hashes, "key">, change: DeviceChange, by: string, now: number): void {
    const before = this.get(key);
    const next: DeviceSetting = {
      key,
      name: null,
      area: null,
      mode: null,
      allow: null,
      allowedBy: null,
      allowedAt: null,
      offersSettings: false,
      ...before,
      ...change,
      changedBy: by,
      changedAt: now,
    };
    // A new mode is a new decision: what was allowed before counts no more.
    if (change.mode !== undefined) {
      Object.assign(next, { allow: null, allowedBy: null, allowedAt: null });
      this.#forgetEarlier(key);
    }
    this.#put(next);
  }

  /**
   * The bridge told of a device.
   * @param isVoid what was allowed by the hash of 0.3 does not hold any more
   */
  compared({ key, allow_before }: Hashes, isVoid: boolean, now: number): void {
    // A bridge of 0.3 still tells the hashes of then.
    if (allow_before === undefined || !this.#earlierOnes().has(key)) return;
    if (!isVoid) this.#forgetEarlier(key);
    if (!isVoid || this.#earlierOnes().get(key) !== null) return;
    this.sql.exec("UPDATE earlier_allowance SET void_since = ? WHERE key = ?", now, key);
    this.#earlierOnes().set(key, now);
  }

  /** What was allowed up to 0.3 stands as permissions from now on. */
  writtenOut(key: string): void {
    const setting = this.get(key);
    if (setting) this.#put({ ...setting, allow: null, allowedBy: null, allowedAt: null });
  }

  /** Devices that were allowed up to 0.3 and ask again, by their keys, with the time since when. */
  voided(): ReadonlyMap<string, number> {
    return new Map([...this.#earlierOnes()].flatMap(([key, at]) => (at === null ? [] : [[key, at]])));
  }

  /** The owners are told of these. */
  markVoidedNotified(): void {
    for (const key of this.voided().keys()) this.#forgetEarlier(key);
  }

  #put(next: DeviceSetting): void {
    const { key } = next;
    this.sql.insert("OR REPLACE INTO device", {
      key,
      name: next.name,
      area: next.area,
      mode: next.mode,
      allow: next.allow,
      allowed_by: next.allowedBy,
      allowed_at: next.allowedAt,
      changed_by: next.changedBy,
      changed_at: next.changedAt,
      offers_settings: next.offersSettings ? 1 : 0,
    });
    this.#all().set(key, next);
  }

  forget(key: string): void {
    this.sql.exec("DELETE FROM device WHERE key = ?", key);
    this.#all().delete(key);
    this.#forgetEarlier(key);
  }

  /** A person allowed a device by the hash of a bridge of 0.3, so it is compared when that bridge is updated. */
  allowedByHash({ key, allow_before }: Hashes): void {
    if (allow_before !== undefined) return;
    this.sql.exec("INSERT OR REPLACE INTO earlier_allowance (key) VALUES (?)", key);
    this.#earlierOnes().set(key, null);
  }

  #forgetEarlier(key: string): void {
    if (!this.#earlierOnes().delete(key)) return;
    this.sql.exec("DELETE FROM earlier_allowance WHERE key = ?", key);
  }

  #earlierOnes(): Map<string, number | null> {
    this.#earlier ??= new Map(
      this.sql
        .all<{ key: string; void_since: number | null }>("SELECT key, void_since FROM earlier_allowance")
        .map((row) => [row.key, row.void_since]),
    );
    return this.#earlier;
  }

  #all(): Map<string, DeviceSetting> {
    this.#stored ??= new Map(
      this.sql.all<Row>("SELECT * FROM device").map((row) => [row.key, toSetting(row)]),
    );
    return this.#stored;
  }
}

function toSetting(row: Row): DeviceSetting {
  return {
    key: row.key,
    name: row.name,
    area: row.area,
    mode: row.mode,
    allow: row.allow,
    allowedBy: row.allowed_by,
    allowedAt: row.allowed_at,
    changedBy: row.changed_by,
    changedAt: row.changed_at,
    offersSettings: row.offers_settings === 1,
  };
}
