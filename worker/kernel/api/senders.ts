/** People of chat apps, and connections that were made in the console. */
import type { Role } from "../settings/chat.ts";

/** Each platform has its own ids of people: an id of one means nothing on another. */
export type SenderKey = { channel: string; connection: string; sender: string };

export type UnknownSender = SenderKey & { name: string };

export type PairingRequest = UnknownSender & { code: string; asked_at: number };

/** @property notice the owners have to be told */
export type AccessRequest = { code: string; name: string; notice?: { isLast: boolean } };

export type AdmittedSender = UnknownSender & { role: Role; approved_by: string; approved_at: number };

/** A connection without its secrets. */
export type StoredConnection = { channel: string; connection: string; made_by: string; made_at: number };
