/** People of chat apps, and connections that were made in the console. */
import type { Role } from "../settings/channels.ts";

/** Platforms name people by themselves: an id of one says nothing on another. */
export type SenderKey = { channel: string; connection: string; sender: string };

export type Stranger = SenderKey & { name: string };

export type PairingRequest = Stranger & { code: string; asked_at: number };

/** @property notice the owners are to hear of it */
export type Knock = { code: string; name: string; notice?: { isLast: boolean } };

export type AdmittedSender = Stranger & { role: Role; approved_by: string; approved_at: number };

/** One that can be told of: without its secrets. */
export type StoredConnection = { channel: string; connection: string; made_by: string; made_at: number };
